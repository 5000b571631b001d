/* daemon/sources/csv.c - separated values, a row a record: typed fields by their columns. */
/*
 * Rows are read by RFC 4180 (daemon/sources/csv_row.h). Rows of nothing are no records; write ""
 * for an empty text in a file of one column. Every row must have as many cells as the header, or as
 * the first row. A byte order mark is passed over; a line such as sep=; is not understood.
 */
#include <errno.h>

#include "daemon/sources/csv_head.h"
#include "daemon/sources/csv_value.h"
#include "daemon/sources/line_reader.h"
#include "daemon/sources/line_text.h"
#include "daemon/sources/table.h"

/* `specs` is made of `fields` and `text` by the check. */
struct csv_params {
	const char *path;
	struct pl_param_text_map fields;
	struct pl_param_texts text;
	bool has_header;
	const char *delimiter;
	int invalid;
	struct pl_field_specs specs;
};

static const struct pl_param params[] = {
	{
		.key = "path",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct csv_params, path),
		.help = "a file or a glob; {00..41} stands for the numbers; packed files (gzip, "
			"zstd, xz) too, but those only forwards: unpack what you shuffle",
		.is_obvious = true,
	},
	{
		.key = "fields",
		.kind = PL_PARAM_TEXT_MAP,
		.offset = offsetof(struct csv_params, fields),
		.def = "",
		.help = "name: type [column], as {age: f32, income: text Income in USD}; without "
			"a column the one of that name; types: i64, f32 ..., bool, text, json; an "
			"empty cell is NaN in a float field",
	},
	{
		.key = "text",
		.kind = PL_PARAM_TEXTS,
		.offset = offsetof(struct csv_params, text),
		.def = "",
		.help = "columns that are fields of type text, beside those of fields",
	},
	{
		.key = "header",
		.kind = PL_PARAM_BOOL,
		.offset = offsetof(struct csv_params, has_header),
		.def = "true",
		.help = "the first row names the columns; false: a column is a number from 1, "
			"without one the field's own place",
	},
	{
		.key = "delimiter",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct csv_params, delimiter),
		.def = ",",
		.help = "one character between cells, or the word tab",
	},
	PL_LINE_TEXT_INVALID_PARAM(struct csv_params),
	{0},
};

static char delimiter_of(const struct csv_params *p)
{
	return strcmp(p->delimiter, "tab") == 0 ? '\t' : p->delimiter[0];
}

static struct pl_csv_layout layout_of(const struct csv_params *p)
{
	return (struct pl_csv_layout){
		.specs = &p->specs, .delimiter = delimiter_of(p), .has_header = p->has_header};
}

static int check_delimiter(const struct csv_params *p, struct pl_err *err)
{
	char shown[64];

	if (p->delimiter && pl_csv_is_delimiter(delimiter_of(p)) &&
		(!p->delimiter[1] || !strcmp(p->delimiter, "tab")))
		return 0;
	return pl_err_set(err, -EINVAL,
		"delimiter '%s' must be one character, as ',' ';' '|' or the word tab; no letter, "
		"digit, quote, '.', '+' or '-'",
		pl_err_quote(shown, sizeof(shown), p->delimiter ? p->delimiter : ""));
}

/* The fields as one map: those of `text` too. */
static int merge(const struct csv_params *p, struct pl_param_text_map *all, struct pl_err *err)
{
	*all = p->fields;
	for (int i = 0; i < p->text.n; i++) {
		for (int k = 0; k < all->n; k++)
			if (!strcmp(all->v[k].key, p->text.v[i]))
				return pl_err_set(err, -EINVAL, "text: '%s' is a field already",
					p->text.v[i]);
		if (all->n == PL_PARAM_LIST_MAX)
			return pl_err_set(err, -EINVAL, "more than %d fields", PL_PARAM_LIST_MAX);
		all->v[all->n].key = p->text.v[i];
		all->v[all->n++].text = "text";
	}
	return 0;
}

static int csv_check(void *data, struct pl_err *err)
{
	struct csv_params *p = data;
	struct pl_param_text_map all;
	struct pl_csv_layout layout;
	int r = check_delimiter(p, err);

	if (!r)
		r = merge(p, &all, err);
	if (!r)
		r = pl_field_specs_parse(&p->specs, &all, err);
	for (int i = 0; i < p->specs.n && !r; i++)
		if (!pl_csv_has_type(&p->specs.v[i].type))
			return pl_err_set(err, -EINVAL,
				"fields: %s: a cell is one value: a number, bool, text or json",
				p->specs.v[i].name);
	layout = layout_of(p);
	return r ? r : pl_csv_head_check(&layout, err);
}

static int csv_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	const struct csv_params *p = data;

	*n = p->specs.n;
	for (int i = 0; i < *n; i++)
		fields[i] = (struct pl_source_field){
			.name = p->specs.v[i].name, .type = p->specs.v[i].type};
	return 0;
}

static int list(const struct csv_params *p, const char *dir, bool only_first,
	struct pl_listing_writer *w, struct pl_err *err)
{
	struct pl_csv_layout layout = layout_of(p);
	struct pl_line_format format = {
		.blank = PL_LINE_BLANK_IS_EMPTY,
		.delimiter = layout.delimiter,
		.has_header = p->has_header,
		.head = pl_csv_head,
		.context = &layout,
	};

	return pl_line_listing_make(p->path, dir, only_first, &format, w, err);
}

static int csv_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list(data, dir, false, w, err);
}

static int csv_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list(data, dir, true, w, err);
}

static int csv_open(
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

static void csv_close(void *state)
{
	pl_line_reader_finish(state);
	free(state);
}

/* A row on its way into a sample. */
struct conversion {
	const struct csv_params *p;
	const uint32_t *column; /* by field */
	uint32_t n_columns;
	const int *field;
	struct pl_sample *sample;
	struct pl_err *err;
};

/* Every field of this column. */
static int store_cell(const struct conversion *c, uint32_t number, const struct pl_csv_cell *cell)
{
	int r = 0;

	for (int i = 0; i < c->p->specs.n && !r; i++)
		if (c->column[i] == number && c->field[i] >= 0)
			r = pl_csv_store(&c->p->specs.v[i], cell, c->sample, c->field[i], c->err);
	return r;
}

static int convert(const struct conversion *c, const char *bytes, size_t n)
{
	struct pl_csv_row row = {.at = bytes, .end = bytes + n, .delimiter = delimiter_of(c->p)};
	struct pl_csv_cell cell;
	uint32_t number = 0;
	int r;

	for (; (r = pl_csv_next(&row, &cell)) == 1; number++) {
		r = number < c->n_columns ? store_cell(c, number, &cell) : 0;
		if (r)
			return r;
	}
	if (r)
		return pl_err_set(c->err, r, "cell %u: %s", number + 1, row.fault);
	if (number == c->n_columns)
		return 0;
	return pl_err_set(c->err, -EINVAL, "%u cells, where the %s has %u%s", number,
		c->p->has_header ? "header" : "first row", c->n_columns,
		number > c->n_columns ? " (is a cell with a delimiter in it not quoted?)" : "");
}

static bool is_any_used(const int *field, int n)
{
	for (int i = 0; i < n; i++)
		if (field[i] >= 0)
			return true;
	return false;
}

static int csv_read(const void *data, void *state, const struct pl_listing *listing, uint64_t index,
	const int *field, bool known_only, struct pl_sample *sample, struct pl_err *err)
{
	const struct csv_params *p = data;
	struct pl_line_reader *reader = state;
	struct conversion c = {.p = p, .field = field, .sample = sample, .err = err};
	char *bytes;
	size_t n;
	int r;

	if (known_only || !is_any_used(field, p->specs.n))
		return 0;
	r = pl_line_reader_get(reader, index, sample->scratch, &bytes, &n, err);
	if (!r)
		r = pl_line_text_mend(p->invalid, sample->scratch, &bytes, &n, err);
	if (r)
		return r;
	c.column = pl_csv_columns(listing, pl_record_listing_file_of(&reader->records, index),
		p->specs.n, &c.n_columns);
	return c.column ? convert(&c, bytes, n)
			: pl_err_set(err, -EINVAL, "the listing is not one of rows");
}

static void csv_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	pl_line_listing_describe(listing, index, out, n);
}

const struct pl_source_op pl_source_csv = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "csv",
	.help = "files of rows with separated cells: typed fields by their columns",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct csv_params),
	.check = csv_check,
	.fields = csv_fields,
	.list = csv_list,
	.list_first = csv_list_first,
	.open = csv_open,
	.close = csv_close,
	.read = csv_read,
	.describe = csv_describe,
};
