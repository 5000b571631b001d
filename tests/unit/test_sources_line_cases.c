/* tests/unit/test_sources_line_cases.c - every file of tests/golden/cases/{csv,jsonl,text} as its
 * MANIFEST line says. */
#include "golden.h"
#include "record_harness.h"

TestSuite(sources_line_cases, .timeout = 60);

#define FIELDS  2
#define RECORDS 8

/* A record: its fields' texts, or, with `error`, why it is refused. */
struct row {
	const char *value[FIELDS];
	const char *error;
	const char *name; /* how describe ends */
};

/* One way to read a file: what listing it says, or its records. A row of MANIFEST.tsv has one or
 * more. */
struct trial {
	const char *file;
	const char *field[FIELDS];
	const char *type[FIELDS];
	const char *delimiter;
	const char *refused;
	int n;
	struct row row[RECORDS];
};

#define I_T .field = {"i", "t"}, .type = {"i64", "text"}
#define ABC                                                                                        \
	.n = 3,                                                                                    \
	.row = {{{"0", "a"}, NULL, NULL}, {{"1", "b"}, NULL, NULL}, {{"2", "c"}, NULL, NULL}}

static const struct trial trials[] = {
	{"csv/header_only.csv", .field = {"a", "c"}, .type = {"i64", "text"}, .n = 0},
	{"csv/no_final_newline.csv", .field = {"a", "b"}, .type = {"i64", "text"}, .n = 2,
		.row = {{{"1", "2"}}, {{"3", "4"}, .name = ".csv:3"}}},
	{"csv/nul_byte.csv", .field = {"a", "b"}, .type = {"i64", "u8"}, .n = 1,
		.row = {{.error = "'x\\x00y' is no whole number"}}},
	{"csv/numbers.csv", .field = {"i"}, .type = {"i64"}, .n = 6,
		.row = {{{"7"}}, {{"0"}}, {.error = "'1 ' has spaces around it"},
			{.error = "'0x10' is no whole number"}, {.error = "'' is empty"},
			{.error = "'9223372036854775808' doesn't fit i64"}}},
	{"csv/numbers.csv", .field = {"i"}, .type = {"u64"}, .n = 6,
		.row = {{{"7"}}, {{"0"}}, {.error = "spaces"}, {.error = "'0x10'"},
			{.error = "empty"}, {{"9223372036854775808"}}}},
	{"csv/numbers.csv", .field = {"f"}, .type = {"f64"}, .n = 6,
		.row = {{{"1000"}}, {{"-0.5"}}, {{"2"}}, {{"nan"}}, {{"inf"}},
			{.error = "'1e400' doesn't fit f64"}}},
	{"csv/numbers.csv", .field = {"i"}, .type = {"f32"}, .n = 6,
		.row = {{{"7"}}, {{"-0"}}, {.error = "spaces"}, {.error = "'0x10' is no number"},
			{{"nan"}}, {{"9.22337204e+18"}}}},
	{"csv/quoted_crlf.csv", .field = {"id", "text"}, .type = {"i64", "text"}, .n = 2,
		.row = {{{"1", "a\r\nb"}, .name = ":2"}, {{"2", "c"}, .name = ":4"}}},
	{"csv/quoted_newline.csv", .field = {"text", "n"}, .type = {"text", "u8"}, .n = 2,
		.row = {{{"line one\nline two", "5"}, .name = ":2"},
			{{"plain", "6"}, .name = ":4"}}},
	{"csv/ragged.csv", .field = {"a", "b"}, .type = {"i64", "text"}, .n = 4,
		.row = {{{"1", "2"}}, {.error = "2 cells, where the header has 3", .name = ":3"},
			{.error = "4 cells, where the header has 3", .name = ":4"},
			{{"10", "11"}, .name = ":6"}}},
	{"csv/sep_line.csv", .field = {"a"}, .type = {"i64"}, .delimiter = ";",
		.refused = "sep_line.csv: line 1: field 'a': no column 'a'; the header has: sep=,  "
			   "(that is a hint for Excel, not a header: remove the line)"},
	{"csv/spaces.csv", .field = {"a"}, .type = {"text"}, .n = 1,
		.row = {{.error = "4 cells, where the header has 3 (is a cell with a delimiter in "
				  "it not quoted?)"}}},
	{"csv/tabs.tsv", .field = {"a", "b"}, .type = {"i64", "text"}, .delimiter = "tab", .n = 1,
		.row = {{{"1", "x\ty"}}}},
	{"csv/utf16.csv", .field = {"a"}, .type = {"text"}, .refused = "utf16.csv: it is UTF-16"},
	{"jsonl/blank_lines.jsonl", I_T, .n = 3,
		.row = {{{"0", "a"}, .name = ":2"}, {{"1", "b"}, .name = ":6"},
			{{"2", "c"}, .name = ":7"}}},
	{"jsonl/cr_only.jsonl", I_T, .n = 1,
		.row = {{.error = "column 17: more follows the value: a line is one value",
			.name = ":1"}}},
	{"jsonl/duplicate_keys.jsonl", .field = {"i"}, .type = {"i64"}, .n = 1, .row = {{{"2"}}}},
	{"jsonl/json_array.jsonl", .field = {"i"}, .type = {"i64"}, .n = 4,
		.row = {{.error = "is the file one JSON array?", .name = ":1"},
			{.error = "more follows the value"}, {{"1"}},
			{.error = "a value is true, false"}}},
	{"jsonl/line_separators.jsonl", .field = {"t"}, .type = {"text"}, .n = 2,
		.row = {{{"a\u2028b\u2029c\xc2\x85"
			  "d"}},
			{{"e"}, .name = ":2"}}},
	{"jsonl/nan_infinity.jsonl", .field = {"x"}, .type = {"f64"}, .n = 4,
		.row = {{.error = "column 6: JSON has no NaN and no Infinity: write null",
				.name = ":1"},
			{.error = "column 6: JSON has no NaN and no Infinity"},
			{.error = "column 7: a digit must follow '-' (JSON has no Infinity"},
			{{"1.5"}}}},
	{"jsonl/no_final_newline.jsonl", I_T, ABC},
	{"jsonl/nul_bytes_tail.jsonl", I_T, .n = 4,
		.row = {{{"0", "a"}}, {{"1", "b"}}, {{"2", "c"}},
			{.error = "column 1: a NUL byte", .name = ":4"}}},
	{"jsonl/overlong_utf8.jsonl", .field = {"t"}, .type = {"text"}, .n = 3,
		.row = {{.error = "byte 7 of the record, 0xc0: not UTF-8: an overlong form",
				.name = ":1"},
			{.error = "a surrogate", .name = ":2"},
			{.error = "above U+10FFFF", .name = ":3"}}},
	{"jsonl/plain.jsonl", I_T, ABC},
	{"jsonl/pretty_printed.jsonl", .field = {"i"}, .type = {"i64"}, .n = 6,
		.row = {{.error = "column 2: the value isn't finished at the line's end: is the "
				  "file pretty-printed?",
				.name = ":1"},
			{.error = "more follows"}, {.error = "a value is true"},
			{.error = "isn't finished"}, {.error = "more follows"},
			{.error = "a value is true"}}},
	{"jsonl/ragged_keys.jsonl", .field = {"a"}, .type = {"i64"}, .n = 3,
		.row = {{{"1"}}, {{"3"}},
			{.error = "field 'a': no key 'a' in the record (keys there: b, c)",
				.name = ":3"}}},
	{"text/form_feed_etc.txt", .n = 1,
		.row = {{{"a\vb\fc\x1c"
			  "d\xc2\x85"
			  "e\u2028f"}}}},
	{"text/no_final_newline.txt", .n = 2, .row = {{{"one"}}, {{"two"}}}},
	{"text/spaces_kept.txt", .n = 4,
		.row = {{{"  a  "}}, {{"\t"}}, {{""}, .name = ":3"}, {{"b"}}}},
};

static const char *cases_folder(void)
{
	static char folder[PATH_MAX];
	const char *source = getenv("PL_SOURCE");

	snprintf(folder, sizeof(folder), "%s/tests/golden/cases", source ? source : ".");
	return folder;
}

static void set_source(struct records *r, const struct trial *t)
{
	const struct pl_source_op *op = t->file[0] == 'c'   ? &pl_source_csv
					: t->file[0] == 'j' ? &pl_source_jsonl
							    : &pl_source_text;

	records_set(r, op, t->file);
	r->dir = cases_folder();
	for (int i = 0; i < FIELDS && t->field[i]; i++)
		records_field(r, t->field[i], t->type[i]);
	if (t->delimiter)
		RECORD_PARAM(r, const char *, "delimiter") = t->delimiter;
}

static void try_record(struct records *r, const struct trial *t, int i)
{
	const struct row *row = &t->row[i];
	const char *name = records_name(r, (uint64_t)i);
	int rc = records_read(r, (uint64_t)i);

	if (row->name)
		cr_expect_str_eq(name + strlen(name) - strlen(row->name), row->name, "%s", name);
	if (row->error) {
		cr_expect_lt(rc, 0, "%s is read", name);
		expect_text(r->err.text, row->error);
		return;
	}
	cr_assert_eq(rc, 0, "%s: %s", name, r->err.text);
	for (int k = 0; k < FIELDS && row->value[k]; k++)
		cr_expect_str_eq(records_value(r, k), row->value[k], "%s", name);
}

static void try_trial(const struct trial *t, const char *verdict)
{
	bool is_error = t->refused != NULL;
	struct records r;
	int rc;

	set_source(&r, t);
	rc = records_list(&r, false);
	if (t->refused) {
		cr_expect_lt(rc, 0);
		expect_text(r.err.text, t->refused);
	} else {
		cr_assert_eq(rc, 0, "%s: %s", t->file, r.err.text);
		cr_assert_eq(records_count(&r), (uint64_t)t->n, "%s has %d records", t->file,
			(int)records_count(&r));
	}
	for (int i = 0; i < t->n; i++) {
		try_record(&r, t, i);
		is_error |= t->row[i].error != NULL;
	}
	cr_expect(is_error || strcmp(verdict, "ERR") != 0, "%s must be an error", t->file);
	printf("%-4s %-30s %d records%s%s\n", verdict, t->file, t->n, r.err.code ? ": " : "",
		r.err.text);
	records_close(&r);
}

/* 3655 records with two-byte characters across every edge of a buffer. */
static void try_chunk_edges(void)
{
	struct trial t = {"jsonl/chunk_edges.jsonl", I_T};
	struct records r;

	set_source(&r, &t);
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
	cr_assert_eq(records_count(&r), 3655);
	for (uint64_t i = 0; i < 3655; i++) {
		char wanted[100] = "";

		for (uint64_t k = 0; k < i % 37; k++)
			strcat(wanted, "\u00e9");
		cr_assert_eq(records_read(&r, i), 0, "%s", r.err.text);
		cr_assert_eq(*(int64_t *)r.sample.value[0].data, (int64_t)i);
		cr_assert_str_eq(records_value(&r, 1), wanted);
	}
	printf("OK   %-30s 3655 records\n", t.file);
	records_close(&r);
}

static int try_folder(const char *folder)
{
	char name[64];
	struct golden_file manifest;
	char *rest;
	char *line;
	int n_rows = 0;

	snprintf(name, sizeof(name), "cases/%s/MANIFEST.tsv", folder);
	manifest = golden_read(name);
	rest = manifest.data;
	while ((line = golden_line(&rest))) {
		const char *verdict;
		const char *file = golden_field(&line);
		int n = 0;

		if (!strchr(file, '/'))
			continue; /* the heads of the columns */
		for (int skipped = 0; skipped < 3; skipped++)
			(void)golden_field(&line);
		verdict = golden_field(&line);
		for (size_t k = 0; k < PL_ARRAY_LEN(trials); k++)
			if (!strcmp(trials[k].file, file) && ++n)
				try_trial(&trials[k], verdict);
		if (strstr(file, "chunk_edges") && ++n)
			try_chunk_edges();
		cr_expect_gt(n, 0, "%s is not tried", file);
		n_rows++;
	}
	free(manifest.data);
	return n_rows;
}

Test(sources_line_cases, every_row_of_the_manifests)
{
	int n = try_folder("csv") + try_folder("jsonl") + try_folder("text");

	printf("%d rows, %zu trials\n", n, PL_ARRAY_LEN(trials) + 1);
	cr_expect_eq(n, 27);
}
