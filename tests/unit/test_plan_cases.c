/* tests/unit/test_plan_cases.c - the verdict on each file of tests/golden/cases/yaml. */
#include "tests/unit/plan_harness.h"

/*
 * The files' keys are placeholders, the YAML construct is what counts. Where a file can't be a
 * pipeline, what is tried is a pipeline with that construct: `line` of the file put where %s
 * stands. Each row of MANIFEST.tsv has a check here.
 */

struct row_check {
	const char *file;
	const char *pipeline; /* with one %s for the text behind `line`; NULL: the file itself */
	const char *line;    /* begins the line whose rest is put in; "" with a pipeline: nothing is
				put in */
	const char *message; /* must be in the messages; NULL: accepted */
};

#define RANGE   "source: {range: 3}\nworkers: [trace: a]\n"
#define START   "source: {range: {count: 3, start: %s}}\nworkers: [trace: a]\n"
#define WEIGHT  "source: {range: 3, weight: %s}\nworkers: [trace: a]\n"
#define DECODED "source: {files: photos}\nworkers:\n  - decode_image\n"

static const struct row_check checks[] = {
	{"alias_undefined", NULL, NULL, "alias_undefined.yaml:1:4: error: '*nope' is an alias"},
	{"anchor_list_items", NULL, NULL, "anchor_list_items.yaml:2:5: error: anchors and aliases"},
	{"bomb_merge_24", NULL, NULL, "bomb_merge_24.yaml:1:1: error: merge keys"},
	{"bomb_merge_star_path", NULL, NULL,
		"bomb_merge_star_path.yaml:2:3: error: a value that starts"},
	{"brace_first", NULL, NULL, "brace_first.yaml:2:19: error: a value that starts with '{'"},
	{"brace_in_flow", NULL, NULL, "brace_in_flow.yaml:1:18: error: a value with '{'"},
	{"brace_in_flow_list", NULL, NULL, "brace_in_flow_list.yaml:1:11: error: a value with '{'"},
	{"brace_plain", "source:\n  files: %s\nworkers: [trace: a]\n", "  path: ", NULL},
	{"deep_block_600", NULL, NULL, "deep_block_600.yaml:65:65: error: more than 64 levels"},
	{"duplicate_keys", NULL, NULL, "duplicate_keys.yaml:3:3: error: duplicate key 'size'"},
	{"einops_list_flow", "source: {list: %s}\nworkers: [trace: a]\n", "p: ", NULL},
	{"empty", NULL, NULL, "empty.yaml:1:1: error: the file is empty"},
	{"floats", WEIGHT, "a: ", NULL},
	{"floats", WEIGHT, "b: ", NULL},
	{"floats", WEIGHT, "c: ", NULL},
	{"floats", WEIGHT, "d: ", NULL},
	{"floats", WEIGHT, "e: ", "weight must be a decimal number"},
	{"floats", WEIGHT, "f: ", "weight must be a decimal number"},
	{"floats", WEIGHT, "g: ", "weight must be a decimal number"},
	{"floats", "source:\n  range: 3\n  weight: %s\nworkers: [trace: a]\n",
		"h: ", "weight must be a decimal number"},
	{"floats", WEIGHT, "i: ", "weight must be a finite number"},
	{"floats", WEIGHT, "j: ", "weight must be a decimal number"},
	{"floats", DECODED "  - normalize: {mean: [%s], std: [1]}\n",
		"g: ", "mean must be a decimal number"},
	{"hang_directive_3_bytes", NULL, NULL,
		"hang_directive_3_bytes.yaml:1:3: error: invalid UTF-8"},
	{"ints", START, "a: ", NULL},
	{"ints", START, "b: ", "start must be a whole number in decimal digits, not '0o10'"},
	{"ints", START, "c: ", "start must be a whole number in decimal digits, not '0x1F'"},
	{"ints", START, "d: ", "start must be a whole number in decimal digits, not '1_000'"},
	{"ints", START, "e: ", NULL},
	{"ints", START, "f: ", "start must be a whole number in decimal digits, not '12:30'"},
	{"ints", START, "g: ", NULL},
	{"ints", START, "h: ", "start must be a whole number in decimal digits, not '1e3'"},
	{"ints", START, "i: ", "start must be a whole number in decimal digits, not '0b11'"},
	{"ints", START, "j: ", "start must be a whole number in decimal digits, not '4096.0'"},
	{"ints", START, "k: ", NULL},
	{"ints", START, "l: ", "start is too large for 64 bits"},
	{"ints", RANGE "post_main: [batch: %s]\n", "m: ", "size must be from 1 to"},
	{"invalid_utf8", NULL, NULL, "invalid_utf8.yaml:1:10: error: invalid UTF-8: byte 0xE9"},
	{"leading_zero_name", RANGE "shard: %s\n", "shard: ", NULL},
	{"leading_zero_name", RANGE "name: %s\n", "shard: ", NULL},
	{"long_scalar_150k", NULL, NULL,
		"long_scalar_150k.yaml:1:4: error: a value of 150000 bytes"},
	{"non_string_keys", NULL, NULL, "non_string_keys.yaml:2:3: error: a key must be a name"},
	{"nul_after_newline", NULL, NULL, "nul_after_newline.yaml:3:1: error: a NUL byte"},
	{"null_doc", NULL, NULL, "null_doc.yaml:2:1: error: the file is empty"},
	{"null_values", NULL, NULL, "null_values.yaml:1:1: error: 'source' has no value"},
	{"null_values", NULL, NULL, "null_values.yaml:2:1: error: 'batch' has no value"},
	{"null_values", NULL, NULL, "null_values.yaml:3:1: error: 'path' has no value"},
	{"path_alias", NULL, NULL, "path_alias.yaml:2:4: error: a value that starts with '*'"},
	{"percent_at_backtick", NULL, NULL, "percent_at_backtick.yaml:1:4: error: '@' is reserved"},
	{"sizes_silly", DECODED "  - resize: {size: %s}\n", "resize: ", "size must be from 1 to"},
	{"sizes_silly", DECODED "  - center_crop: %s\n", "crop: ", "size must be from 1 to"},
	{"sizes_silly", RANGE "post_main: [batch: %s]\n", "batch: ", "size must be from 1 to"},
	{"sizes_silly", "source: {range: 3}\nworkers: {count: %s, steps: [trace: a]}\n",
		"workers: ", "count must be from 1 to 256"},
	{"sizes_silly", "source: {range: 3}\nworkers: {prefetch: %s, steps: [trace: a]}\n",
		"prefetch: ", NULL},
	{"sizes_silly", RANGE "post_main: [shuffle_buffer: %s]\n",
		"shuffle_buffer: ", "not in this build"},
	{"std_zero", DECODED "  - normalize: %s\n", "normalize: ", "std[1] is 0"},
	{"tab_after_colon", "source: {range: 3}\nworkers: [trace: a]\npost_main:\n  - batch:\t%s\n",
		"batch:\t", NULL},
	{"tabs_indent", NULL, NULL, "tabs_indent.yaml:2:1: error: a tab is used for indentation"},
	{"time_like", "source: {range: 3}\nworkers: {sample_timeout: %s, steps: [trace: a]}\n",
		"timeout: ", "sample_timeout must be a time"},
	{"time_like", RANGE "memory: %s\n", "size: ", "memory must be bytes"},
	{"time_like", "source: {range: 3}\nworkers: {sample_timeout: %s, steps: [trace: a]}\n",
		"wait: ", NULL},
	{"top_level_list", NULL, NULL, "top_level_list.yaml:1:1: error: a pipeline file is a map"},
	{"top_level_scalar", NULL, NULL,
		"top_level_scalar.yaml:1:1: error: a pipeline file is a map"},
	{"two_documents", NULL, NULL, "two_documents.yaml:2:1: error: a second document"},
	{"unknown_key", NULL, NULL, "unknown_key.yaml:2:1: error: unknown key 'batchsize'"},
	{"unknown_key", NULL, NULL, "unknown_key.yaml:3:1: error: unknown key 'shufle'"},
};

static const char *case_path(const char *file, char out[PATH_MAX])
{
	int n = snprintf(out, PATH_MAX, "%s/%s%s", source_path("tests/golden/cases/yaml"), file,
		strchr(file, '.') ? "" : ".yaml");

	cr_assert_lt(n, PATH_MAX);
	return out;
}

/* The rest of the line that begins with `begin`; the caller frees. */
static char *rest_of_line(const char *file, const char *begin)
{
	char path[PATH_MAX];
	char *text = read_text(case_path(file, path), NULL);
	char *at = text;
	char *rest;

	while (at && strncmp(at, begin, strlen(begin)) != 0) {
		at = strchr(at, '\n');
		at += at != NULL;
	}
	cr_assert_not_null(at, "%s has no line '%s'", file, begin);
	at += strlen(begin);
	rest = strndup(at, strcspn(at, "\n"));
	free(text);
	return rest;
}

static void write_pipeline(const struct row_check *c)
{
	const char *hole = strstr(c->pipeline, "%s");
	char *rest = rest_of_line(c->file, c->line);
	char text[4096];

	snprintf(text, sizeof(text), "%.*s%s%s", (int)(hole - c->pipeline), c->pipeline, rest,
		hole + 2);
	write_text("p.yaml", text);
	free(rest);
}

static bool check_row(const struct row_check *c)
{
	char path[PATH_MAX];
	struct plan_reading r;
	bool is_ok;

	if (c->pipeline)
		write_pipeline(c);
	r = plan_read(c->pipeline ? "p.yaml" : case_path(c->file, path));
	is_ok = c->message ? !r.plan && strstr(r.messages, c->message) : r.plan != NULL;
	printf("%s yaml/%s.yaml%s%s: %s\n", is_ok ? "ok" : "NOT OK", c->file, c->line ? " " : "",
		c->line ? c->line : "", r.plan ? "accepted" : "refused");
	if (!is_ok)
		cr_log_error("%s: wanted %s\n%s", c->file, c->message ? c->message : "a plan",
			r.messages);
	plan_end(&r);
	return is_ok;
}

Test(plan_cases, every_row)
{
	int n_ok = 0;

	enter_new_folder();
	for (size_t i = 0; i < PL_ARRAY_LEN(checks); i++)
		n_ok += check_row(&checks[i]);
	printf("%d of %zu checks as MANIFEST.tsv says\n", n_ok, PL_ARRAY_LEN(checks));
	cr_assert_eq(n_ok, (int)PL_ARRAY_LEN(checks));
}

Test(plan_cases, the_manifest_is_covered)
{
	char path[PATH_MAX];
	char *text = read_text(case_path("MANIFEST.tsv", path), NULL);
	int n_rows = 0;

	for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		const char *name = line + 1 + strlen("yaml/");
		size_t n = strcspn(name, ".");
		bool is_found = false;

		for (size_t i = 0; i < PL_ARRAY_LEN(checks); i++)
			is_found |=
				strlen(checks[i].file) == n && memcmp(checks[i].file, name, n) == 0;
		cr_expect(is_found, "%.*s", (int)n, name);
		n_rows++;
	}
	cr_assert_eq(n_rows, 33);
	free(text);
}

/* brace_plain, leading_zero_name, ints a e g k and einops_list_flow: the values themselves. */
Test(plan_cases, accepted_values)
{
	struct pl_plan *plan;

	enter_new_folder();
	plan = good_plan(RANGE "shard: 000123\nname: 000123\nseed: 010\nepochs: \"32\"\n");
	cr_assert_eq(plan->shard, 123);
	cr_assert_str_eq(plan->name, "000123");
	cr_assert_eq(plan->seed, 10);
	cr_assert_eq(plan->epochs, 32);
	pl_plan_destroy(plan);
	plan = good_plan(
		"source: {range: 3}\nworkers: {sample_timeout: 10s, nice: +5, steps: [trace: a]}\n"
		"post_main:\n  - batch:\t32\n");
	cr_assert_eq(plan->sample_timeout_ns, 10000000000);
	cr_assert_eq(plan->nice, 5);
	cr_assert_eq(plan->layout.batch_size, 32);
	pl_plan_destroy(plan);
	plan = good_plan("source: {list: [h w -> w h, \"a b -> (a b)\"]}\nworkers: [trace: a]\n");
	cr_assert_eq(plan->source.declared[0].type.kind, PL_KIND_TEXT);
	pl_plan_destroy(plan);
}
