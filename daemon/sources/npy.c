/* daemon/sources/npy.c - NumPy arrays: a row or a file a record. */
/*
 * Rows of all files must have one dtype and shape; only the heads are read before a record is. A
 * file with several arrays behind one another gives the first. Arrays in Fortran order are
 * transposed, big-endian ones swapped, as they are read. Rows of some size are read straight to
 * where they are needed; small ones, and those that aren't one piece of the file, come out of a
 * mapping: then a file cut short while it is in use kills the worker (SIGBUS), which is told as the
 * record's fault.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include <fcntl.h>
#include "daemon/sources/file_set.h"
#include "daemon/sources/npy_header.h"
#include "daemon/sources/open_files.h"
#include "daemon/sources/regular.h"
#include "daemon/sources/table.h"

/* From here on a read costs less than the page faults of a mapping. */
#define READ_LEAST (32u << 10)

enum { PER_ROW, PER_FILE };

struct npy_params {
	const char *path;
	int per;
	const char *to;
};

static const char *const pers[] = {"row", "file", NULL};

static const struct pl_param params[] = {
	{
		.key = "path",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct npy_params, path),
		.help = "a .npy file, a glob, or numbered ones as in part-{000..146}.npy",
		.is_obvious = true,
	},
	{
		.key = "per",
		.kind = PL_PARAM_CHOICE,
		.offset = offsetof(struct npy_params, per),
		.def = "row",
		.choices = pers,
		.help = "row: the first axis counts records; file: each array is one",
	},
	{
		.key = "to",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct npy_params, to),
		.def = "data",
		.help = "name of the field with the array",
	},
	{0},
};

static int npy_check(void *data, struct pl_err *err)
{
	const struct npy_params *p = data;

	if (!p->to || !*p->to)
		return pl_err_set(err, -EINVAL, "to is empty: name a field");
	return 0;
}

/* Opens file i of a set and reads its head. */
static int read_head(const struct pl_file_set *set, size_t i, struct pl_npy_header *h,
	struct stat *st, struct pl_err *err)
{
	PL_AUTO_CLOSE int fd = -1;
	const char *path = pl_file_set_path(set, i);
	char quoted[1024];
	uint64_t bytes;
	int r = pl_regular_open(AT_FDCWD, path, &fd, &bytes, err);

	if (!r && fstat(fd, st))
		r = pl_err_set(err, -errno, "%s", strerror(errno));
	if (!r)
		r = pl_npy_header_read(h, fd, bytes, err);
	if (r)
		pl_err_prefix(err, "%s: ", pl_err_quote(quoted, sizeof(quoted), path));
	return r;
}

static int npy_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	const struct npy_params *p = data;
	PL_CLEANUP(pl_file_set_finish) struct pl_file_set set = {0};
	struct pl_npy_header h;
	struct stat st;
	int r = pl_file_set_init(&set, p->path, dir, 2, err);
	int skip = p->per == PER_ROW;

	if (!r)
		r = read_head(&set, 0, &h, &st, err);
	if (r)
		return r;
	if (h.rank < skip)
		return pl_err_set(err, -EINVAL,
			"%s: the array is a single number without rows: write per: file",
			pl_file_set_path(&set, 0));
	fields[0] = (struct pl_source_field){.name = p->to,
		.type = {.kind = PL_KIND_TENSOR, .dtype = h.dtype, .rank = h.rank - skip}};
	if (fields[0].type.rank == 0)
		fields[0].type.kind = PL_KIND_SCALAR;
	for (int d = skip; d < h.rank; d++)
		fields[0].type.shape[d - skip] = skip || set.n == 1 ? h.shape[d] : -1;
	*n = 1;
	return 0;
}

/* As the first file's: dtype, and what of the shape the records share. */
static int compare(const struct npy_params *p, const struct pl_npy_header *first,
	const struct pl_npy_header *h, const char *path, struct pl_err *err)
{
	bool is_same = h->dtype == first->dtype && h->rank == first->rank;
	char quoted[1024], a[200], b[200];

	for (int d = 1; is_same && p->per == PER_ROW && d < h->rank; d++)
		is_same = h->shape[d] == first->shape[d];
	if (is_same)
		return 0;
	return pl_err_set(err, -EINVAL,
		"%s: the array is %s %s where the first file has %s %s: one source gives one dtype "
		"and %s",
		pl_err_quote(quoted, sizeof(quoted), path), pl_dtype_name(h->dtype),
		pl_shape_format(a, sizeof(a), h->rank, h->shape), pl_dtype_name(first->dtype),
		pl_shape_format(b, sizeof(b), first->rank, first->shape),
		p->per == PER_ROW ? "row shape" : "number of axes");
}

static int list_files(const struct npy_params *p, const char *dir, size_t most,
	struct pl_listing_writer *w, struct pl_err *err)
{
	PL_CLEANUP(pl_file_set_finish) struct pl_file_set set = {0};
	struct pl_npy_header first = {0}, h;
	int r = pl_file_set_init(&set, p->path, dir, most, err);

	for (size_t i = 0; i < set.n && !r; i++) {
		struct stat st = {0};

		r = read_head(&set, i, &h, &st, err);
		first = i == 0 ? h : first;
		if (!r)
			r = compare(p, &first, &h, pl_file_set_path(&set, i), err);
		if (r)
			return r;
		if (pl_record_listing_add_file(w, pl_file_set_path(&set, i), &st, 0) ||
			pl_listing_append(w, PL_RECORD_OWN_SECTION, &h, sizeof(h)))
			return pl_err_set(err, -ENOMEM, "out of memory for the listing");
		w->n_records += p->per == PER_FILE ? 1 : (uint64_t)h.shape[0];
	}
	if (!r && w->n_records == 0)
		return pl_err_set(err, -ENOENT, "path '%s': the arrays have no rows", p->path);
	return r;
}

static int npy_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_files(data, dir, SIZE_MAX, w, err);
}

static int npy_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_files(data, dir, 1, w, err);
}

struct npy_state {
	struct pl_record_listing listing;
	const struct pl_npy_header *head; /* by file */
	struct pl_open_files files;
};

static int npy_open(
	const void *data, const struct pl_listing *listing, void **state, struct pl_err *err)
{
	struct npy_state *s = calloc(1, sizeof(*s));
	size_t bytes;
	int r;

	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	r = pl_record_listing_open(&s->listing, listing, err);
	s->head = pl_listing_section_at(listing, PL_RECORD_OWN_SECTION, &bytes);
	if (!r && bytes / sizeof(*s->head) != s->listing.n_files)
		r = pl_err_set(err, -EINVAL, "the listing is not one of arrays");
	pl_open_files_init(&s->files, &s->listing);
	if (r)
		free(s);
	else
		*state = s;
	return r;
}

static void npy_close(void *state)
{
	struct npy_state *s = state;

	if (s)
		pl_open_files_finish(&s->files);
	free(s);
}

/* The record as a view of the file, its data at `base`: of row `row`, or of all. */
static void view_record(
	const struct pl_npy_header *h, int per, char *base, uint64_t row, struct pl_tensor *out)
{
	int64_t step = (int64_t)pl_dtype_size(h->dtype);
	int64_t stride[PL_RANK_MAX];
	int skip = per == PER_ROW;

	for (int i = 0; i < h->rank; i++) {
		int d = h->is_fortran ? i : h->rank - 1 - i;

		stride[d] = step;
		step *= h->shape[d] ? h->shape[d] : 1;
	}
	*out = (struct pl_tensor){.data = base, .dtype = h->dtype, .rank = h->rank - skip};
	for (int d = skip; d < h->rank; d++) {
		out->shape[d - skip] = h->shape[d];
		out->stride[d - skip] = stride[d];
	}
	if (skip)
		out->data = base + (int64_t)row * stride[0];
}

static void swap_bytes(const struct pl_tensor *t)
{
	size_t size = pl_dtype_size(t->dtype);
	int64_t n = pl_tensor_count(t);
	unsigned char *at = t->data;

	for (int64_t i = 0; i < n; i++, at += size)
		for (size_t k = 0; k < size / 2; k++) {
			unsigned char byte = at[k];

			at[k] = at[size - 1 - k];
			at[size - 1 - k] = byte;
		}
}

/* In one piece where the value is needed. */
static int read_piece(struct npy_state *s, size_t file, uint64_t offset, struct pl_tensor *value,
	struct pl_sample *sample, int field, struct pl_err *err)
{
	size_t n = (size_t)pl_tensor_bytes(value);

	value->data = pl_sample_place(sample, field, value);
	if (!value->data)
		return pl_err_set(err, -EMSGSIZE,
			"an array of %zu bytes is more than the %zu bytes a sample may take", n,
			sample->scratch->limit);
	return pl_open_files_read(&s->files, file, offset, value->data, n, err);
}

static int read_value(struct npy_state *s, int per, size_t file, uint64_t row,
	struct pl_sample *sample, int field, struct pl_err *err)
{
	const struct pl_npy_header *h = &s->head[file];
	struct pl_tensor *value = &sample->value[field];
	const void *map = NULL;
	struct pl_tensor there;
	char *offset;
	int r;

	view_record(h, per, (char *)(uintptr_t)h->data_offset, row, value);
	offset = value->data;
	if (pl_tensor_is_contiguous(value) &&
		(h->is_swapped || (size_t)pl_tensor_bytes(value) >= READ_LEAST)) {
		r = read_piece(s, file, (uintptr_t)offset, value, sample, field, err);
		if (!r && h->is_swapped)
			swap_bytes(value);
		return r;
	}
	r = pl_open_files_map(&s->files, file, &map, err);
	if (r)
		return r;
	value->data = (char *)(uintptr_t)map + (uintptr_t)offset;
	if (!h->is_swapped && (uintptr_t)value->data % pl_dtype_size(h->dtype) == 0)
		return 0;
	r = pl_tensor_init(&there, NULL, value->dtype, value->rank, value->shape);
	there.data = r ? NULL : pl_sample_place(sample, field, &there);
	if (!there.data)
		return pl_err_set(err, -EMSGSIZE, "an array is more than a sample may take");
	r = pl_tensor_copy(&there, value);
	*value = there;
	if (!r && h->is_swapped)
		swap_bytes(value);
	return r;
}

static int npy_read(const void *data, void *state, const struct pl_listing *listing, uint64_t index,
	const int *field, bool known_only, struct pl_sample *sample, struct pl_err *err)
{
	const struct npy_params *p = data;
	struct npy_state *s = state;
	char quoted[1024];
	size_t file;
	int r;

	if (index >= s->listing.n_records)
		return pl_err_set(
			err, -EINVAL, "the listing has no record %llu", (unsigned long long)index);
	if (known_only || field[0] < 0)
		return 0;
	file = pl_record_listing_file_of(&s->listing, index);
	r = read_value(s, p->per, file, index - s->listing.file[file].first, sample, field[0], err);
	if (r)
		pl_err_prefix(err, "%s: ",
			pl_err_quote(
				quoted, sizeof(quoted), pl_record_listing_path(&s->listing, file)));
	return r;
}

static void npy_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	const struct npy_params *p = data;

	pl_record_listing_describe(listing, index, p->per == PER_ROW ? "row" : NULL, out, n);
}

const struct pl_source_op pl_source_npy = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "npy",
	.help = "NumPy arrays: a record a row, or a record a file",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct npy_params),
	.check = npy_check,
	.fields = npy_fields,
	.list = npy_list,
	.list_first = npy_list_first,
	.open = npy_open,
	.close = npy_close,
	.read = npy_read,
	.describe = npy_describe,
};
