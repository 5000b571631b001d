/* tests/unit/test_sources_csv.c - rows, quotes, headers and types of separated values. */
#include "record_harness.h"

TestSuite(sources_csv, .init = tree_begin, .fini = tree_end, .timeout = 60);

static struct records r;

static void set_fields(const char *text, const char *const (*fields)[2])
{
	tree_add("a.csv", text);
	records_set(&r, &pl_source_csv, "a.csv");
	for (; (*fields)[0]; fields++)
		records_field(&r, (*fields)[0], (*fields)[1]);
}

#define SET(bytes, ...) set_fields(bytes, (const char *const[][2]){__VA_ARGS__, {NULL, NULL}})
#define OPEN(bytes, ...)                                                                           \
	do {                                                                                       \
		SET(bytes, __VA_ARGS__);                                                           \
		cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);                        \
	} while (0)

static void refuse_list(const char *part)
{
	cr_expect_lt(records_list(&r, false), 0);
	expect_text(r.err.text, part);
	records_close(&r);
}

Test(sources_csv, quotes)
{
	OPEN("a,b\n\"x,\"\"y\"\"\",\"\"\nx\"y,\"\n\"\n\"\"\"\"\"\",z\n\"a\"b,c\n", {"a", "text"},
		{"b", "text"});
	cr_expect_eq(records_count(&r), 4);
	expect_record(&r, 0, "x,\"y\"", "");
	expect_record(&r, 1, "x\"y", "\n");
	expect_record(&r, 2, "\"\"", "z");
	expect_bad(&r, 3, "cell 1: text follows its closing quote");
	records_close(&r);
}

Test(sources_csv, a_nul_is_a_character)
{
	FILE *f = fopen(tree_path("a.csv"), "w");

	fwrite("a\nx\0y\n", 1, 6, f);
	fclose(f);
	records_set(&r, &pl_source_csv, "a.csv");
	records_field(&r, "a", "text");
	cr_assert_eq(records_list(&r, false), 0);
	cr_assert_eq(records_read(&r, 0), 0, "%s", r.err.text);
	cr_expect_eq(r.sample.value[0].shape[0], 3);
	cr_expect(memcmp(r.sample.value[0].data, "x\0y", 3) == 0);
	records_close(&r);
}

Test(sources_csv, each_file_has_its_own_order_of_columns)
{
	tree_add("1.csv", "a,b,c\n1,2,3\n");
	tree_add("2.csv", "\xef\xbb\xbf\"c\",\"b\",x,a\r\n30,20,0,10\r\n");
	tree_add("3.csv", "");
	tree_add("4.csv", "c,a");
	tree_add("5.csv", "\n\na,c\n\n100,300");
	records_set(&r, &pl_source_csv, "{1..5}.csv");
	records_field(&r, "third", "i64 c");
	records_field(&r, "a", "i64");
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
	cr_assert_eq(records_count(&r), 3);
	expect_record(&r, 0, "3", "1");
	expect_record(&r, 1, "30", "10");
	expect_record(&r, 2, "300", "100");
	expect_text(records_name(&r, 2), "/5.csv:5");
	records_close(&r);
}

Test(sources_csv, headers_that_do_not_fit)
{
	SET("a,b\n1,2\n", {"c", "i64"});
	refuse_list("a.csv: line 1: field 'c': no column 'c'; the header has: a, b");
	SET("a,b,a\n1,2,3\n", {"a", "i64"});
	refuse_list("line 1: two columns are called 'a'");
	SET("a,\"b\n1,2\n", {"a", "i64"});
	refuse_list("its quote is never closed");
	SET("a,\"b\"c\n1,2\n", {"a", "i64"});
	refuse_list("cell 2: text follows its closing quote");
}

Test(sources_csv, columns_by_number)
{
	SET("1;x\n2;y\n", {"n", "i64"}, {"again", "text 1"}, {"t", "text 2"});
	RECORD_PARAM(&r, bool, "header") = false;
	RECORD_PARAM(&r, const char *, "delimiter") = ";";
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
	cr_assert_eq(records_count(&r), 2);
	expect_record(&r, 1, "2", "2", "y");
	records_close(&r);
	SET("1,2\n", {"a", "i64 3"});
	RECORD_PARAM(&r, bool, "header") = false;
	refuse_list("field 'a': column 3, but the first row has 2");
	SET("1,2\n", {"a", "i64 0"});
	RECORD_PARAM(&r, bool, "header") = false;
	refuse_list("columns are numbers from 1");
}

Test(sources_csv, text_names_columns_too)
{
	SET("a,b,c\n1,x,y\n", {"a", "i64"});
	RECORD_PARAM(&r, struct pl_param_texts, "text") = (struct pl_param_texts){2, {"c", "b"}};
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
	expect_record(&r, 0, "1", "y", "x");
	records_close(&r);
	SET("a\n", {"a", "i64"});
	RECORD_PARAM(&r, struct pl_param_texts, "text") = (struct pl_param_texts){1, {"a"}};
	refuse_list("text: 'a' is a field already");
}

static void expect_cell(const char *type, const char *cell, const char *wanted)
{
	char text[256];

	snprintf(text, sizeof(text), "x,y\n%s,1\n", cell);
	OPEN(text, {"x", type});
	cr_assert_eq(records_read(&r, 0), 0, "%s %s: %s", type, cell, r.err.text);
	cr_expect_str_eq(
		records_value(&r, 0), wanted, "%s %s: %s", type, cell, records_value(&r, 0));
	records_close(&r);
}

static void refuse_cell(const char *type, const char *cell, const char *part)
{
	char text[256];

	snprintf(text, sizeof(text), "x,y\n%s,1\n", cell);
	OPEN(text, {"x", type});
	expect_bad(&r, 0, part);
	records_close(&r);
}

Test(sources_csv, numbers)
{
	expect_cell("i64", "+5", "5");
	expect_cell("i64", "\"-5\"", "-5");
	expect_cell("u8", "000000000000000000000000000255", "255");
	expect_cell("f64", ".5", "0.5");
	expect_cell("f64", "5.", "5");
	expect_cell("f64", "-INF", "-inf");
	expect_cell("f32", "", "nan");
	expect_cell("f64", "\"\"", "nan");
	expect_cell("f64", "1E+05", "100000");
	expect_cell("bool", "TRUE", "1");
	expect_cell("bool", "0", "0");
	expect_cell("json", "\"{\"\"a\"\": 1}\"", "{\"a\": 1}");
	refuse_cell("i64", "1_000", "'1_000' is no whole number");
	refuse_cell("i64", " 1", "spaces around it");
	refuse_cell("i64", "-", "is no whole number");
	refuse_cell("i64", "", "field 'x': '' is empty: only text and floats (as NaN) may be");
	refuse_cell("f64", "1e", "is no number");
	refuse_cell("f64", ".", "is no number");
	refuse_cell("f64", "0x1p3", "is no number");
	refuse_cell("f64", "1 ", "spaces around it");
	refuse_cell("f64", "na", "is no number");
	refuse_cell("i64", "\"1\"\"2\"", "is no whole number");
	refuse_cell("bool", "yes", "is neither true, false, 1 nor 0");
	refuse_cell("json", "{a}", "is no JSON: at its byte 2: a text in double quotes");
}

Test(sources_csv, parameters_that_cannot_be)
{
	static const char *const bad[] = {"", ",,", "\"", "\n", "a", "0", ".", "-", "\xc3\xa9"};

	for (size_t i = 0; i < PL_ARRAY_LEN(bad); i++) {
		SET("a\n", {"a", "i64"});
		RECORD_PARAM(&r, const char *, "delimiter") = bad[i];
		refuse_list("delimiter '");
	}
	SET("a\n", {"a", "f32(3)"});
	refuse_list("fields: a: a cell is one value");
	SET("a\n", {"a", "list(text)"});
	refuse_list("a cell is one value");
}

Test(sources_csv, a_row_of_an_empty_text)
{
	OPEN("t\n\"\"\n\nx\n", {"t", "text"});
	cr_assert_eq(records_count(&r), 2);
	expect_record(&r, 0, "");
	expect_record(&r, 1, "x");
	records_close(&r);
}

Test(sources_csv, a_header_longer_than_one_reading)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	for (int i = 0; i < 60000; i++)
		fprintf(f, "%scolumn%d", i ? "," : "", i);
	for (int i = 0; i < 60000; i++)
		fprintf(f, "%c%d", i ? ',' : '\n', i);
	fclose(f);
	OPEN(text, {"x", "i64 column59999"});
	cr_assert_eq(records_count(&r), 1);
	expect_record(&r, 0, "59999");
	records_close(&r);
	free(text);
}

Test(sources_csv, a_quote_that_is_never_closed_says_where_it_began)
{
	SET("a,b\n1,2\n3,\"x\n5,6\n7,8\n", {"a", "i64"});
	refuse_list("a.csv: line 3: a quote in the row that begins here is never closed");
}
