/* daemon/sources/tokens.c - windows of token files, for language models. */
/*
 * A record is `length` + 1 tokens, so that inputs are its first and targets its last `length`; the
 * next begins `stride` tokens later. With stride = length (the default) every token but a file's
 * first is a target exactly once; what is left at the end of a file, less than a window, is not
 * read. Windows never reach from one file into the next; documents inside a file follow one another
 * as they lie. Tokens are little-endian, and not compared with any vocabulary. A file cut short
 * while it is in use kills the worker (SIGBUS), which is told as the record's fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/sources/file_set.h"
#include "daemon/sources/open_files.h"
#include "daemon/sources/regular.h"
#include "daemon/sources/table.h"
#include "daemon/sources/token_file.h"

struct tokens_params {
	const char *path;
	const char *dtype;
	int format;
	int64_t length;
	int64_t stride;
	const char *to;
};

static const char *const formats[] = {"raw", "megatron", "llmc", NULL};

static const struct pl_param params[] = {
	{
		.key = "path",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct tokens_params, path),
		.help = "a file of tokens, a glob, or numbered ones as in web_{000..099}.bin",
		.is_obvious = true,
	},
	{
		.key = "dtype",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct tokens_params, dtype),
		.def = "auto",
		.help = "u8, u16, u32, i32 ...; auto: as the file's header says, which raw files "
			"don't",
	},
	{
		.key = "format",
		.kind = PL_PARAM_CHOICE,
		.offset = offsetof(struct tokens_params, format),
		.def = "raw",
		.choices = formats,
		.help = "raw: nothing but tokens; megatron: .bin with its .idx; llmc: llm.c's "
			"header",
	},
	{
		.key = "length",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct tokens_params, length),
		.min = 1,
		.max = 1 << 30,
		.unit = "tokens",
		.help = "tokens a window predicts; it has one more",
	},
	{
		.key = "stride",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct tokens_params, stride),
		.def = "",
		.min = 1,
		.max = 1 << 30,
		.unit = "tokens",
		.help = "from one window to the next; default: length",
	},
	{
		.key = "to",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct tokens_params, to),
		.def = "tokens",
		.help = "name of the field with the window",
	},
	{0},
};

/* 0: auto. */
static enum pl_dtype dtype_of(const struct tokens_params *p)
{
	return pl_dtype_parse(p->dtype, strlen(p->dtype));
}

static int tokens_check(void *data, struct pl_err *err)
{
	struct tokens_params *p = data;
	enum pl_dtype dtype = dtype_of(p);

	if (strcmp(p->dtype, "auto") != 0 &&
		(!dtype || pl_dtype_is_float(dtype) || dtype == PL_BOOL))
		return pl_err_set(err, -EINVAL,
			"dtype must be auto or one of u8, u16, u32, u64, i8, i16, i32, i64");
	if (!p->to || !*p->to)
		return pl_err_set(err, -EINVAL, "to is empty: name a field");
	if (p->stride == 0)
		p->stride = p->length;
	return 0;
}

static int look(const struct tokens_params *p, const struct pl_file_set *set, size_t i,
	struct pl_token_file *t, struct stat *st, struct pl_err *err)
{
	PL_AUTO_CLOSE int fd = -1;
	const char *path = pl_file_set_path(set, i);
	char quoted[1024];
	uint64_t bytes;
	int r = pl_regular_open(AT_FDCWD, path, &fd, &bytes, err);

	if (!r && fstat(fd, st))
		r = pl_err_set(err, -errno, "%s", strerror(errno));
	if (!r)
		r = pl_token_file_look(
			t, (enum pl_token_format)p->format, dtype_of(p), path, fd, bytes, err);
	if (!r && t->n_tokens <= (uint64_t)p->length)
		r = pl_err_set(err, -EINVAL,
			"%llu tokens are fewer than the %lld of a window (length + 1)",
			(unsigned long long)t->n_tokens, (long long)p->length + 1);
	if (r)
		pl_err_prefix(err, "%s: ", pl_err_quote(quoted, sizeof(quoted), path));
	return r;
}

static int tokens_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	const struct tokens_params *p = data;
	PL_CLEANUP(pl_file_set_finish) struct pl_file_set set = {0};
	struct pl_token_file t = {.dtype = dtype_of(p)};
	struct stat st;
	int r = 0;

	if (!t.dtype)
		r = pl_file_set_init(&set, p->path, dir, 1, err);
	if (!r && !t.dtype)
		r = look(p, &set, 0, &t, &st, err);
	fields[0] = (struct pl_source_field){.name = p->to,
		.type = {.kind = PL_KIND_TOKENS,
			.dtype = t.dtype,
			.rank = 1,
			.shape = {p->length + 1}}};
	*n = 1;
	return r;
}

static int list_files(const struct tokens_params *p, const char *dir, size_t most,
	struct pl_listing_writer *w, struct pl_err *err)
{
	PL_CLEANUP(pl_file_set_finish) struct pl_file_set set = {0};
	enum pl_dtype dtype = 0;
	int r = pl_file_set_init(&set, p->path, dir, most, err);

	for (size_t i = 0; i < set.n && !r; i++) {
		struct pl_token_file t;
		struct stat st = {0};

		r = look(p, &set, i, &t, &st, err);
		if (r)
			return r;
		if (dtype && t.dtype != dtype)
			return pl_err_set(err, -EINVAL,
				"%s: tokens are %s where the first file has %s",
				pl_file_set_path(&set, i), pl_dtype_name(t.dtype),
				pl_dtype_name(dtype));
		dtype = t.dtype;
		if (pl_record_listing_add_file(w, pl_file_set_path(&set, i), &st, t.data_offset))
			return pl_err_set(err, -ENOMEM, "out of memory for the listing");
		w->n_records += (t.n_tokens - 1 - (uint64_t)p->length) / (uint64_t)p->stride + 1;
	}
	/* What tokens are is in the listing too, so that a token of resume notices a change. */
	return r ? r
	       : pl_listing_append(w, PL_RECORD_OWN_SECTION, &dtype, sizeof(dtype))
		       ? pl_err_set(err, -ENOMEM, "out of memory for the listing")
		       : 0;
}

static int tokens_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_files(data, dir, SIZE_MAX, w, err);
}

static int tokens_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_files(data, dir, 1, w, err);
}

struct tokens_state {
	struct pl_record_listing listing;
	enum pl_dtype dtype;
	struct pl_open_files files;
};

static int tokens_open(
	const void *data, const struct pl_listing *listing, void **state, struct pl_err *err)
{
	struct tokens_state *s = calloc(1, sizeof(*s));
	const void *dtype;
	size_t bytes;
	int r;

	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	r = pl_record_listing_open(&s->listing, listing, err);
	dtype = pl_listing_section_at(listing, PL_RECORD_OWN_SECTION, &bytes);
	if (bytes == sizeof(s->dtype))
		memcpy(&s->dtype, dtype, sizeof(s->dtype));
	if (!r && pl_dtype_size(s->dtype) == 0)
		r = pl_err_set(err, -EINVAL, "the listing is not one of tokens");
	pl_open_files_init(&s->files, &s->listing);
	if (r)
		free(s);
	else
		*state = s;
	return r;
}

static void tokens_close(void *state)
{
	struct tokens_state *s = state;

	if (s)
		pl_open_files_finish(&s->files);
	free(s);
}

static int tokens_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	const struct tokens_params *p = data;
	struct tokens_state *s = state;
	const struct pl_record_file *file;
	size_t number, size = pl_dtype_size(s->dtype);
	uint64_t at;
	const void *map;
	char quoted[1024];
	int r;

	if (index >= s->listing.n_records)
		return pl_err_set(
			err, -EINVAL, "the listing has no record %llu", (unsigned long long)index);
	if (known_only || field[0] < 0)
		return 0;
	number = pl_record_listing_file_of(&s->listing, index);
	file = &s->listing.file[number];
	at = file->form + (index - file->first) * (uint64_t)p->stride * size;
	r = pl_open_files_map(&s->files, number, &map, err);
	if (!r && at + ((uint64_t)p->length + 1) * size > file->bytes)
		r = pl_err_set(err, -EINVAL, "the listing has a window past its end");
	if (r) {
		pl_err_prefix(err, "%s: ",
			pl_err_quote(quoted, sizeof(quoted),
				pl_record_listing_path(&s->listing, number)));
		return r;
	}
	sample->value[field[0]] = (struct pl_tensor){
		.data = (char *)(uintptr_t)map + at,
		.dtype = s->dtype,
		.rank = 1,
		.shape = {p->length + 1},
		.stride = {(int64_t)size},
	};
	return 0;
}

static void tokens_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	pl_record_listing_describe(listing, index, "window", out, n);
}

const struct pl_source_op pl_source_tokens = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "tokens",
	.help = "windows of length + 1 tokens out of token files",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct tokens_params),
	.check = tokens_check,
	.fields = tokens_fields,
	.list = tokens_list,
	.list_first = tokens_list_first,
	.open = tokens_open,
	.close = tokens_close,
	.read = tokens_read,
	.describe = tokens_describe,
};
