/* daemon/sources/text.c - the lines of text files, one a record. */
/*
 * A line ends at LF or CR LF, which aren't part of it, and at the file's end. Spaces are kept, and
 * an empty line is a record: nothing is left out. A byte order mark is.
 */
#include <errno.h>

#include "daemon/sources/line_reader.h"
#include "daemon/sources/line_text.h"
#include "daemon/sources/table.h"

struct text_params {
	const char *path;
	const char *to;
	int invalid;
};

static const struct pl_param params[] = {
	{
		.key = "path",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct text_params, path),
		.help = "a file or a glob; {00..41} stands for the numbers; packed files (gzip, "
			"zstd, xz) too, but those only forwards: unpack what you shuffle",
		.is_obvious = true,
	},
	{
		.key = "to",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct text_params, to),
		.def = "text",
		.help = "name of the field with the line",
	},
	PL_LINE_TEXT_INVALID_PARAM(struct text_params),
	{0},
};

static int text_check(void *data, struct pl_err *err)
{
	const struct text_params *p = data;

	if (!p->to || !*p->to)
		return pl_err_set(err, -EINVAL, "to is empty: name a field");
	return 0;
}

static int text_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	const struct text_params *p = data;

	fields[0] = (struct pl_source_field){.name = p->to, .type = pl_type_bytes(PL_KIND_TEXT)};
	*n = 1;
	return 0;
}

static const struct pl_line_format format = {.blank = PL_LINE_BLANK_IS_RECORD};

static int text_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	const struct text_params *p = data;

	return pl_line_listing_make(p->path, dir, false, &format, w, err);
}

static int text_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	const struct text_params *p = data;

	return pl_line_listing_make(p->path, dir, true, &format, w, err);
}

static int text_open(
	const void *data, const struct pl_listing *listing, void **state, struct pl_err *err)
{
	struct pl_line_reader *r = malloc(sizeof(*r));
	int rc;

	if (!r)
		return pl_err_set(err, -ENOMEM, "out of memory");
	rc = pl_line_reader_init(r, listing, err);
	if (rc)
		free(r);
	else
		*state = r;
	return rc;
}

static void text_close(void *state)
{
	pl_line_reader_finish(state);
	free(state);
}

static int text_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	const struct text_params *p = data;
	char *line;
	size_t n;
	int r;

	if (known_only || field[0] < 0)
		return 0;
	r = pl_line_reader_get(state, index, sample->scratch, &line, &n, err);
	if (r)
		return r;
	n = pl_line_text_end(line, n);
	r = pl_line_text_mend(p->invalid, sample->scratch, &line, &n, err);
	return r ? r : pl_line_text_put(sample, field[0], line, n, err);
}

static void text_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	pl_line_listing_describe(listing, index, out, n);
}

const struct pl_source_op pl_source_text = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "text",
	.help = "the lines of text files, spaces and empty lines as they are",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct text_params),
	.check = text_check,
	.fields = text_fields,
	.list = text_list,
	.list_first = text_list_first,
	.open = text_open,
	.close = text_close,
	.read = text_read,
	.describe = text_describe,
};
