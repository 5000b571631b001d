/* tests/unit/golden.h - reads the files under tests/golden: bytes, lines, and .npy arrays. */
#pragma once

#include <stdio.h>

#include <criterion/criterion.h>

#include "proto/base.h"
#include "proto/tensor/tensor.h"

#define GOLDEN_HELPER __attribute__((unused)) static

struct golden_file {
	char *data; /* with a NUL after the last byte; free it */
	size_t n;
};

/* `name` counts from tests/golden; the test fails when it can't be read. */
GOLDEN_HELPER struct golden_file golden_read(const char *name)
{
	const char *source = getenv("PL_SOURCE");
	struct golden_file file = {0};
	char path[4096];
	FILE *stream;
	long size;

	(void)snprintf(path, sizeof(path), "%s/tests/golden/%s", source ? source : ".", name);
	stream = fopen(path, "rb");
	cr_assert(stream, "%s can't be opened (PL_SOURCE is the source folder)", path);
	cr_assert(fseek(stream, 0, SEEK_END) == 0);
	size = ftell(stream);
	rewind(stream);
	file.data = calloc(1, (size_t)size + 1);
	file.n = fread(file.data, 1, (size_t)size, stream);
	cr_assert(file.n == (size_t)size);
	fclose(stream);
	return file;
}

/* Cuts the next field, up to a tab or the line's end, out of *rest; "" when there is none. */
GOLDEN_HELPER char *golden_field(char **rest)
{
	char *field = *rest;
	size_t n = strcspn(field, "\t\n");
	char end = field[n];

	field[n] = '\0';
	*rest = field + n + (end == '\t');
	return field;
}

/* Cuts the next line out of *rest; NULL at the end. */
GOLDEN_HELPER char *golden_line(char **rest)
{
	char *line = *rest;
	size_t n = strcspn(line, "\n");

	if (!*line)
		return NULL;
	*rest = line + n + (line[n] == '\n');
	line[n] = '\0';
	return line;
}

static const struct {
	const char *descr;
	enum pl_dtype dtype;
} golden_dtypes[] = {
	{"'|u1'", PL_U8},
	{"'<u2'", PL_U16},
	{"'<f4'", PL_F32},
	{"'<f8'", PL_F64},
	{"'<i4'", PL_I32},
	{"'<i8'", PL_I64},
	{"'|b1'", PL_BOOL},
};

/* A C-ordered .npy of version 1; t->data lies inside file->data. */
GOLDEN_HELPER struct golden_file golden_npy(const char *name, struct pl_tensor *t)
{
	struct golden_file file = golden_read(name);
	size_t head = 10 + (unsigned char)file.data[8] + 256u * (unsigned char)file.data[9];
	const char *shape = strstr(file.data + 10, "'shape': (");
	enum pl_dtype dtype = 0;
	int64_t lengths[PL_RANK_MAX];
	int rank = 0;

	cr_assert(shape && strstr(file.data + 10, "'fortran_order': False"), "%s", name);
	for (size_t k = 0; k < PL_ARRAY_LEN(golden_dtypes); k++)
		if (strstr(file.data + 10, golden_dtypes[k].descr))
			dtype = golden_dtypes[k].dtype;
	for (shape += 10; *shape != ')'; shape += strspn(shape, ", ")) {
		char *end;

		lengths[rank++] = strtoll(shape, &end, 10);
		shape = end;
	}
	cr_assert(pl_tensor_init(t, file.data + head, dtype, rank, lengths) == 0, "%s", name);
	cr_assert(head + (size_t)pl_tensor_bytes(t) == file.n, "%s", name);
	return file;
}

/* Element i of a contiguous tensor as a number. */
GOLDEN_HELPER double golden_number(const struct pl_tensor *t, int64_t i)
{
	const char *p = (const char *)t->data + i * (int64_t)pl_dtype_size(t->dtype);
	double f64;
	float f32;
	uint16_t u16;

	switch (t->dtype) {
	case PL_U8:
		return *(const unsigned char *)p;
	case PL_U16:
		memcpy(&u16, p, sizeof(u16));
		return u16;
	case PL_F32:
		memcpy(&f32, p, sizeof(f32));
		return f32;
	case PL_F64:
		memcpy(&f64, p, sizeof(f64));
		return f64;
	default:
		cr_assert(false, "golden_number does not read %s", pl_dtype_name(t->dtype));
		return 0;
	}
}

/* The largest difference of two contiguous tensors with equally many elements. */
GOLDEN_HELPER double golden_difference(const struct pl_tensor *a, const struct pl_tensor *b)
{
	double largest = 0;

	cr_assert(pl_tensor_count(a) == pl_tensor_count(b), "%d and %d elements",
		(int)pl_tensor_count(a), (int)pl_tensor_count(b));
	for (int64_t i = 0; i < pl_tensor_count(a); i++) {
		double d = golden_number(a, i) - golden_number(b, i);

		largest = d > largest ? d : -d > largest ? -d : largest;
	}
	return largest;
}
