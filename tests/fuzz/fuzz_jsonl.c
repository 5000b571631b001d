/* tests/fuzz/fuzz_jsonl.c - any bytes as a line: accepted just when jansson accepts them, and
 * values become fields or errors. */
#include <jansson.h>
#include <stdlib.h>

#include "daemon/kit/text_list.h"
#include "daemon/sources/json_find.h"
#include "daemon/sources/json_value.h"
#include "daemon/sources/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

static struct pl_param_text_map fields = {
	.n = 12,
	.v = {{"a", "i64"}, {"b", "u8"}, {"c", "f64"}, {"d", "f16"}, {"e", "bool"}, {"f", "text"},
		{"g", "list(text)"}, {"h", "json"}, {"i", "f32(n 2)"}, {"j", "i64(a b)"},
		{"k", "u64"}, {"l", "image(h w 3)"}},
};

/* Each type is tried on the whole, on a member, and on an item of that. */
static const char *const paths[] = {".", ".a", ".a[1]", ".a.b[0]"};

static void check_value(const struct pl_field_spec *spec, const struct pl_tensor *v)
{
	require(v->dtype == spec->type.dtype && v->rank == spec->type.rank);
	require(pl_tensor_is_contiguous(v));
	if (spec->type.kind == PL_KIND_TEXT || spec->type.kind == PL_KIND_JSON)
		require(pl_utf8_check(v->data, (size_t)v->shape[0]) == (size_t)v->shape[0]);
	if (spec->type.kind == PL_KIND_LIST)
		require(pl_text_list_count(v->data, (size_t)v->shape[0]) >= 0);
	for (int d = 0; d < v->rank; d++)
		require(spec->type.shape[d] < 0 || spec->type.shape[d] == v->shape[d]);
}

static void store(const char *line, struct pl_json_span value)
{
	static struct pl_field_specs specs;
	struct pl_scratch scratch;
	struct pl_sample sample = {.scratch = &scratch};
	struct pl_err err = {0};

	if (!specs.n)
		require(pl_field_specs_parse(&specs, &fields, NULL) == 0);
	pl_scratch_init(&scratch, 1 << 22);
	for (int i = 0; i < specs.n; i++) {
		struct pl_json_target t = {&specs.v[i], &sample, i, line, i % 2 != 0};
		int r = pl_json_store(&t, value, &err);

		require(r == 0 || (r < 0 && err.text[0]));
		if (!r)
			check_value(&specs.v[i], &sample.value[i]);
		pl_scratch_reset(&scratch);
	}
	pl_scratch_finish(&scratch);
}

/* jansson has other limits (depth, numbers too large for a double, escaped NULs in keys) and
 * refuses half surrogate pairs while parsing. */
static void compare(const char *line, size_t n, const struct pl_json *j, bool is_good)
{
	json_error_t error;
	json_t *root = json_loadb(
		line, n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
	bool has_other_limits =
		(!is_good && strstr(j->fault, "nested")) || memmem(line, n, "\\u", 2) ||
		memchr(line, 0, n) ||
		(!root && (json_error_code(&error) == json_error_numeric_overflow ||
				  json_error_code(&error) == json_error_stack_overflow));

	require(has_other_limits || is_good == (root != NULL));
	json_decref(root);
}

static void try_line(const char *line, size_t n)
{
	struct pl_json_path path[PL_ARRAY_LEN(paths)];
	struct pl_json_span found[PL_JSON_PATHS_MAX];
	struct pl_json j = {.at = line, .end = line + n};
	bool is_good;

	for (size_t i = 0; i < PL_ARRAY_LEN(paths); i++)
		require(pl_json_path_parse(&path[i], paths[i], NULL) == 0);
	is_good = pl_json_find(&j, path, (1u << PL_ARRAY_LEN(paths)) - 1, found) == 0;
	require(is_good || (j.fault && j.fault_at >= line && j.fault_at <= line + n));
	compare(line, n, &j, is_good);
	for (size_t i = 0; i < PL_ARRAY_LEN(paths) && is_good; i++) {
		char reason[300];

		if (found[i].at)
			store(line, found[i]);
		else
			require(pl_json_explain(line, n, &path[i], reason, sizeof(reason))[0]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(3 * size + 1);
	size_t n = size;

	require(line != NULL);
	memcpy(line, data, size);
	if (pl_utf8_check(data, size) < size) {
		n = pl_utf8_replace(data, size, line);
		require(n <= 3 * size && pl_utf8_check(line, n) == n);
	}
	line[n] = '\0';
	try_line(line, n);
	free(line);
	return 0;
}
