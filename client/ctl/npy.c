/* client/ctl/npy.c - the fields of a batch as NumPy files, format 1.0. */
#include "client/ctl/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* bf16 has no name in NumPy: it is written as f32, which holds it exactly. */
static const char *descr(enum pl_dtype dtype)
{
	static const char *const names[PL_DTYPE_END] = {[PL_BOOL] = "|b1",
		[PL_U8] = "|u1",
		[PL_U16] = "<u2",
		[PL_U32] = "<u4",
		[PL_U64] = "<u8",
		[PL_I8] = "|i1",
		[PL_I16] = "<i2",
		[PL_I32] = "<i4",
		[PL_I64] = "<i8",
		[PL_F16] = "<f2",
		[PL_BF16] = "<f4",
		[PL_F32] = "<f4",
		[PL_F64] = "<f8"};

	return names[dtype];
}

/* Magic, version, length and a dict padded so that the data begin at a multiple of 64. */
static void write_header(FILE *out, const struct pl_tensor *t)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "{'descr': '%s', 'fortran_order': False, 'shape': (",
		descr(t->dtype));
	unsigned length;

	for (int d = 0; d < t->rank; d++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%" PRId64 ",", t->shape[d]);
	n += snprintf(text + n, sizeof(text) - (size_t)n, "), }");
	length = ((unsigned)n + 1 + 10 + 63) / 64 * 64 - 10;
	fwrite("\x93NUMPY\x01\x00", 1, 8, out);
	putc((int)(length & 0xff), out);
	putc((int)(length >> 8), out);
	fprintf(out, "%-*s\n", (int)length - 1, text);
}

struct writer {
	FILE *out;
	enum pl_dtype dtype;
};

static void write_element(void *data, const void *element)
{
	struct writer *w = data;
	float wide;

	if (w->dtype != PL_BF16) {
		fwrite(element, pl_dtype_size(w->dtype), 1, w->out);
		return;
	}
	wide = (float)ctl_number_value(PL_BF16, element);
	fwrite(&wide, sizeof(wide), 1, w->out);
}

static int write_file(const char *path, const struct pl_tensor *t)
{
	FILE *out = fopen(path, "wbe");
	struct writer w = {.out = out, .dtype = t->dtype};
	bool has_failed = false;

	if (out) {
		write_header(out, t);
		if (pl_tensor_is_contiguous(t) && t->dtype != PL_BF16)
			fwrite(t->data ? t->data : "", 1, (size_t)pl_tensor_bytes(t), out);
		else
			ctl_walk(t, -1, write_element, &w);
		has_failed = ferror(out) != 0;
	}
	if (out && fclose(out) == 0 && !has_failed)
		return CTL_OK;
	fprintf(stderr, "pipeloaderctl: %s: %s\n", path, strerror(errno));
	return CTL_FAILED;
}

/* A field's name in a file's name: '/' would be a folder. */
static int make_path(char *out, const char *folder, const struct pl_batch *batch, const char *field,
	const char *suffix)
{
	int n = snprintf(out, PATH_MAX, "%s/", folder);
	char *name = out + n;

	if (n < 0 || n >= PATH_MAX)
		return ctl_usage("--npy: the folder's name is too long");
	snprintf(name, (size_t)(PATH_MAX - n), "batch-%" PRIu64 "-%" PRIu64 "-%s%s.npy",
		pl_batch_epoch(batch), pl_batch_number(batch), field, suffix);
	while ((name = strchr(name, '/')))
		*name = '_';
	return CTL_OK;
}

static int write_field(
	const char *folder, const struct pl_client *client, const struct pl_batch *batch, size_t i)
{
	const char *name = pl_client_field(client, i)->name;
	const int64_t *offsets = pl_batch_offsets(batch, i);
	int64_t n = (int64_t)pl_batch_size(batch) + 1;
	struct pl_tensor t;
	char path[PATH_MAX];
	int r = make_path(path, folder, batch, name, "");

	if (r == CTL_OK)
		r = write_file(path, pl_batch_tensor_at(batch, i));
	if (r || !offsets)
		return r;
	if (pl_tensor_init(&t, (void *)(uintptr_t)offsets, PL_I64, 1, &n))
		return CTL_FAILED;
	r = make_path(path, folder, batch, name, "_offsets");
	return r ? r : write_file(path, &t);
}

int ctl_npy_batch(const char *folder, const struct pl_client *client, const struct pl_batch *batch)
{
	int r = CTL_OK;

	for (size_t i = 0; i < pl_client_n_fields(client) && r == CTL_OK; i++)
		r = write_field(folder, client, batch, i);
	return r;
}
