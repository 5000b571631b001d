/* daemon/sources/jsonl.c - one JSON value a line: typed fields by their paths. */
/*
 * Lines of nothing but white space are no records. Keys that no field names are passed over; of
 * equal keys the last counts, as for most readers. A field whose value is missing is an error, null
 * is NaN in a float field and an error in others. NaN and Infinity are no JSON.
 */
#include <errno.h>

#include "daemon/sources/json_find.h"
#include "daemon/sources/json_value.h"
#include "daemon/sources/line_reader.h"
#include "daemon/sources/line_text.h"
#include "daemon/sources/table.h"

/* `specs` and `paths` are made of `fields` by the check. */
struct jsonl_params {
	const char *path;
	struct pl_param_text_map fields;
	int invalid;
	struct pl_field_specs specs;
	struct pl_json_path paths[PL_PARAM_LIST_MAX];
};

_Static_assert(PL_PARAM_LIST_MAX <= PL_JSON_PATHS_MAX, "a field has no bit in the set of paths");

static const struct pl_param params[] = {
	{
		.key = "path",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct jsonl_params, path),
		.help = "a file or a glob; {00..41} stands for the numbers; packed files (gzip, "
			"zstd, xz) too, but those only forwards: unpack what you shuffle",
		.is_obvious = true,
	},
	{
		.key = "fields",
		.kind = PL_PARAM_TEXT_MAP,
		.offset = offsetof(struct jsonl_params, fields),
		.help = "name: type [path], as {caption: text, box: f32(n 4) .boxes, id: i64 "
			".meta.ids[0]}; without a path the key of that name; types: i64, f32 ... "
			"alone or with lengths, bool, text, list(text), json (the value's own "
			"text), image(h w 3), mask(h w)",
	},
	PL_LINE_TEXT_INVALID_PARAM(struct jsonl_params),
	{0},
};

static int check_field(struct jsonl_params *p, int i, struct pl_err *err)
{
	const struct pl_field_spec *spec = &p->specs.v[i];
	int r;

	if (!pl_json_has_type(&spec->type))
		return pl_err_set(err, -EINVAL,
			"fields: %s: JSON holds no bytes: take text, or json for any value's own "
			"text",
			spec->name);
	if (!*spec->where) {
		p->paths[i] = (struct pl_json_path){
			.n = 1, .step = {{.key = spec->name, .n_key = strlen(spec->name)}}};
		return 0;
	}
	r = pl_json_path_parse(&p->paths[i], spec->where, err);
	if (r)
		pl_err_prefix(err, "fields: %s: ", spec->name);
	return r;
}

static int jsonl_check(void *data, struct pl_err *err)
{
	struct jsonl_params *p = data;
	int r = pl_field_specs_parse(&p->specs, &p->fields, err);

	for (int i = 0; i < p->specs.n && !r; i++)
		r = check_field(p, i, err);
	return r;
}

static int jsonl_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	const struct jsonl_params *p = data;

	*n = p->specs.n;
	for (int i = 0; i < *n; i++)
		fields[i] = (struct pl_source_field){
			.name = p->specs.v[i].name, .type = p->specs.v[i].type};
	return 0;
}

static const struct pl_line_format format = {.blank = PL_LINE_BLANK_IS_SPACE};

static int jsonl_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	const struct jsonl_params *p = data;

	return pl_line_listing_make(p->path, dir, false, &format, w, err);
}

static int jsonl_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	const struct jsonl_params *p = data;

	return pl_line_listing_make(p->path, dir, true, &format, w, err);
}

static int jsonl_open(
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

static void jsonl_close(void *state)
{
	pl_line_reader_finish(state);
	free(state);
}

/* A line that is no JSON, with what it probably is instead. */
static int no_json(const struct pl_json *j, const char *line, struct pl_err *err)
{
	bool is_cut = j->fault_at == j->end;
	const char *hint = "";

	if (is_cut && *line == '[')
		hint = ": is the file one JSON array? It must hold one value a line, as by 'jq -c "
		       ".[]'";
	else if (is_cut)
		hint = ": is the file pretty-printed? It must hold one value a line, as by 'jq -c "
		       ".'";
	return pl_err_set(err, -EINVAL, "column %td: %s%s", j->fault_at - line + 1, j->fault, hint);
}

static int missing(
	const struct jsonl_params *p, int i, const char *line, size_t n, struct pl_err *err)
{
	char reason[900];

	if (*line == '[' && p->paths[i].step[0].key)
		return pl_err_set(err, -EINVAL,
			"the record is an array, not an object: is the file one JSON array? It "
			"must hold one object a line, as by 'jq -c .[]'");
	return pl_err_set(err, -ENODATA, "field '%s': %s", p->specs.v[i].name,
		pl_json_explain(line, n, &p->paths[i], reason, sizeof(reason)));
}

static int convert(const struct jsonl_params *p, struct pl_sample *sample, const int *field,
	const char *line, size_t n, struct pl_err *err)
{
	struct pl_json_span found[PL_JSON_PATHS_MAX];
	struct pl_json j = {.at = line, .end = line + n};
	uint64_t wanted = 0;
	int r = 0;

	for (int i = 0; i < p->specs.n; i++)
		wanted |= (uint64_t)(field[i] >= 0) << i;
	if (pl_json_find(&j, p->paths, wanted, found))
		return no_json(&j, line, err);
	for (; wanted && !r; wanted &= wanted - 1) {
		int i = __builtin_ctzll(wanted);
		struct pl_json_target target = {
			&p->specs.v[i], sample, field[i], line, p->invalid == PL_LINE_TEXT_REPLACE};

		r = found[i].at ? pl_json_store(&target, found[i], err)
				: missing(p, i, line, n, err);
	}
	return r;
}

static bool is_any_used(const int *field, int n)
{
	for (int i = 0; i < n; i++)
		if (field[i] >= 0)
			return true;
	return false;
}

static int jsonl_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	const struct jsonl_params *p = data;
	char *line;
	size_t n;
	int r;

	if (known_only || !is_any_used(field, p->specs.n))
		return 0;
	r = pl_line_reader_get(state, index, sample->scratch, &line, &n, err);
	if (r)
		return r;
	n = pl_line_text_end(line, n);
	r = pl_line_text_mend(p->invalid, sample->scratch, &line, &n, err);
	return r ? r : convert(p, sample, field, line, n, err);
}

static void jsonl_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	pl_line_listing_describe(listing, index, out, n);
}

const struct pl_source_op pl_source_jsonl = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "jsonl",
	.help = "files with a JSON value a line: typed fields by their paths",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct jsonl_params),
	.check = jsonl_check,
	.fields = jsonl_fields,
	.list = jsonl_list,
	.list_first = jsonl_list_first,
	.open = jsonl_open,
	.close = jsonl_close,
	.read = jsonl_read,
	.describe = jsonl_describe,
};
