/* tests/unit/test_sources_jsonl.c - JSON values become fields, exactly or not at all. */
#include "record_harness.h"

TestSuite(sources_jsonl, .init = tree_begin, .fini = tree_end, .timeout = 60);

static struct records r;

static void open_fields(const char *text, const char *const (*fields)[2])
{
	tree_add("a.jsonl", text);
	records_set(&r, &pl_source_jsonl, "a.jsonl");
	for (; (*fields)[0]; fields++)
		records_field(&r, (*fields)[0], (*fields)[1]);
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
}

#define OPEN(text, ...) open_fields(text, (const char *const[][2]){__VA_ARGS__, {NULL, NULL}})

/* `value` as the only record's x. */
static void expect_x(const char *type, const char *value, const char *wanted)
{
	char line[8192];

	snprintf(line, sizeof(line), "{\"x\": %s}\n", value);
	OPEN(line, {"x", type});
	cr_assert_eq(records_read(&r, 0), 0, "%s %s: %s", type, value, r.err.text);
	cr_expect_str_eq(
		records_value(&r, 0), wanted, "%s %s: '%s'", type, value, records_value(&r, 0));
	records_close(&r);
}

static void refuse_x(const char *type, const char *value, const char *part)
{
	char line[8192];

	snprintf(line, sizeof(line), "{\"x\": %s}\n", value);
	OPEN(line, {"x", type});
	cr_expect_lt(records_read(&r, 0), 0, "%s %s", type, value);
	expect_text(r.err.text, part);
	records_close(&r);
}

Test(sources_jsonl, whole_numbers_are_exact)
{
	expect_x("i64", "9223372036854775807", "9223372036854775807");
	expect_x("i64", "-9223372036854775808", "-9223372036854775808");
	expect_x("u64", "18446744073709551615", "18446744073709551615");
	expect_x("i64", "9007199254740993", "9007199254740993");
	expect_x("u8", "255", "255");
	expect_x("i8", "-128", "-128");
	expect_x("u16", "-0", "0");
	refuse_x("i64", "9223372036854775808",
		"column 7: field 'x': '9223372036854775808' doesn't "
		"fit i64");
	refuse_x("u64", "18446744073709551616", "doesn't fit u64");
	refuse_x("u64", "-1", "doesn't fit u64");
	refuse_x("i8", "128", "doesn't fit i8");
	refuse_x("u8", "256", "doesn't fit u8");
	refuse_x("u32", "4294967296", "doesn't fit u32");
	refuse_x("i64", "1.0", "'1.0' is no whole number");
	refuse_x("i64", "1e3", "'1e3' is no whole number");
	refuse_x("i64", "\"1\"", "is no number");
	refuse_x("i64", "true", "is no number");
	refuse_x("i64", "null", "'null' is no number");
	refuse_x("i64", "01", "column 7: a number has no zeros in front");
}

Test(sources_jsonl, floats_are_rightly_rounded)
{
	expect_x("f64", "0.1", "0.10000000000000001");
	expect_x("f64", "1e23", "9.9999999999999992e+22");
	expect_x("f64", "5e-324", "4.9406564584124654e-324");
	expect_x("f64", "2.2250738585072011e-308", "2.2250738585072009e-308");
	expect_x("f64", "1.7976931348623157e308", "1.7976931348623157e+308");
	expect_x("f64", "9007199254740993", "9007199254740992");
	expect_x("f64", "123456789012345.678", "123456789012345.67");
	expect_x("f64", "-0.0", "-0");
	expect_x("f64", "0e999999999999999999999", "0");
	expect_x("f64", "1e-999999999999999999999", "0");
	expect_x("f64", "null", "nan");
	expect_x("f32", "0.1", "0.100000001");
	refuse_x("f64", "1e309", "doesn't fit f64");
	refuse_x("f64", "1e999999999999999999999", "doesn't fit f64");
	refuse_x("f32", "1e39", "doesn't fit f32");
	refuse_x("f16", "65520", "doesn't fit f16");
	refuse_x("f64", "1.", "column 9: a digit must follow '.'");
	refuse_x("f64", "+1", "column 7: a value is true");
	refuse_x("f64", "Infinity", "no NaN and no Infinity");
	refuse_x("f64", "\"nan\"", "is no number");
}

Test(sources_jsonl, texts)
{
	expect_x("text", "\"\"", "");
	expect_x("text", "\"a\\n\\\"\\\\\\/\\b\\f\\r\\t\\u0041\"", "a\n\"\\/\b\f\r\tA");
	expect_x("text", "\"\\ud83d\\ude00\\u00e9\"", "\xf0\x9f\x98\x80\xc3\xa9");
	refuse_x("text", "\"\\ud83d\"", "half a surrogate pair");
	refuse_x("text", "\"\\ude00\\ud83d\"", "half a surrogate pair");
	refuse_x("text", "\"\\x41\"", "column 8: no such escape");
	refuse_x("text", "\"\\u00g1\"", "column 8: \\u needs four");
	refuse_x("text", "\"a\tb\"", "column 9: a control character");
	refuse_x("text", "\"abc", "the text isn't closed");
	refuse_x("text", "5", "'5' is no text");
	refuse_x("text", "null", "'null' is no text");
	expect_x("json", "{\"a\" : [1, 2.50]}", "{\"a\" : [1, 2.50]}");
	expect_x("json", "null", "null");
	expect_x("bool", "true", "1");
	expect_x("bool", "false", "0");
	refuse_x("bool", "1", "is neither true nor false");
}

Test(sources_jsonl, lists_and_tensors)
{
	expect_x("list(text)", "[\"a\", \"\", \"\\u00e9\"]", "a||\xc3\xa9");
	expect_x("list(text)", "[]", "");
	refuse_x("list(text)", "[\"a\", 1]", "column 13: field 'x': '1' is no text");
	refuse_x("list(text)", "\"a\"", "is no array of texts");
	expect_x("f32(n 4)", "[[1,2,3,4],[5,6,7,8.5]]", "[2,4] 1 2 3 4 5 6 7 8.5");
	expect_x("f32(n 4)", "[]", "[0,4]");
	expect_x("i64(n)", "[ 1 , -2 ]", "[2] 1 -2");
	expect_x("i64(a b)", "[[],[]]", "[2,0]");
	expect_x("bool(2)", "[true,false]", "[2] 1 0");
	expect_x("f32(2)", "[null,1]", "[2] nan 1");
	expect_x("image(h w 3)", "[[[1,2,255]]]", "[1,1,3] 1 2 255");
	refuse_x("f32(n 4)", "[[1,2,3,4],[1,2,3]]",
		"column 18: field 'x': '[1,2,3]' has 3 items, "
		"where the type has 4");
	refuse_x("i64(a b)", "[[1],[1,2]]", "'[1,2]' has 2 items, the arrays before it 1");
	refuse_x("i64(a b)", "[1]", "'1' is no array, and the type has another length");
	refuse_x("i64(n)", "[[1]]", "'[1]' is no number");
	refuse_x("i64(n)", "5", "is no array");
	refuse_x("u8(n)", "[1,256]", "'256' doesn't fit u8");
}

Test(sources_jsonl, paths)
{
	OPEN("{\"a\": {\"b\": [10, {\"c d\": \"deep\"}], \"n\": 1}, \"k.d\": 3, \"x\": 7}\n",
		{"x", "i64"}, {"first", "i64 .a.b[0]"}, {"deep", "text .a.b[1].c d"},
		{"dotted", "i64 .[\"k.d\"]"}, {"all", "json .a"}, {"n", "i64 .a.n"});
	expect_record(
		&r, 0, "7", "10", "deep", "3", "{\"b\": [10, {\"c d\": \"deep\"}], \"n\": 1}", "1");
	records_close(&r);
	OPEN("[5, [6]]\n\"t\"\n", {"a", "i64 [1][0]"}, {"b", "json ."});
	expect_record(&r, 0, "6", "[5, [6]]");
	expect_bad(&r, 1, "field 'a': the record is text, not an array");
	records_close(&r);
}

Test(sources_jsonl, the_last_of_equal_keys_counts)
{
	OPEN("{\"a\": {\"b\": 1}, \"a\": {\"b\": 2, \"\\u0062\": 3}}\n{\"a\": {\"b\": 1}, \"a\": "
	     "4}\n",
		{"x", "i64 .a.b"});
	expect_record(&r, 0, "3");
	expect_bad(&r, 1, "field 'x': .a is a number, not an object");
	records_close(&r);
}

Test(sources_jsonl, what_is_missing_is_said)
{
	OPEN("{\"a\": {\"x\": 1, \"y\": 2}}\n{\"a\": [1]}\n{}\n", {"c", "i64 .a.c"});
	expect_bad(&r, 0, "field 'c': no key 'c' in .a (keys there: x, y)");
	expect_bad(&r, 1, "field 'c': .a is an array, not an object");
	expect_bad(&r, 2, "no key 'a' in the record (keys there: none)");
	records_close(&r);
	OPEN("{\"a\": [1]}\n", {"c", "i64 .a[1]"});
	expect_bad(&r, 0, "field 'c': .a has no item [1]");
	records_close(&r);
	OPEN("[{\"a\": 1}, {\"a\": 2}]\n", {"a", "i64"});
	expect_bad(&r, 0, "is the file one JSON array?");
	records_close(&r);
}

Test(sources_jsonl, fields_that_nobody_uses_are_not_missed)
{
	static const int field[] = {-1, 1};

	OPEN("{\"b\": 2}\n", {"a", "i64"}, {"b", "i64"});
	pl_scratch_reset(&r.scratch);
	cr_assert_eq(r.op->read(r.params, r.state, &r.listing, 0, field, false, &r.sample, &r.err),
		0, "%s", r.err.text);
	cr_expect_str_eq(records_value(&r, 1), "2");
	records_close(&r);
}

static void refuse_fields(const char *name, const char *type, const char *part)
{
	records_set(&r, &pl_source_jsonl, "a.jsonl");
	records_field(&r, name, type);
	cr_expect_eq(records_list(&r, false), -EINVAL);
	expect_text(r.err.text, part);
	records_close(&r);
}

Test(sources_jsonl, fields_that_cannot_be)
{
	refuse_fields("a", "bytes", "JSON holds no bytes");
	refuse_fields("a", "i64 b", "fields: a: path 'b': a path begins with '.'");
	refuse_fields("a", "i64 ..b", "path '..b'");
	refuse_fields("a", "i64 .b[", "path '.b['");
	refuse_fields("a", "i64 .b[x]", "path '.b[x]'");
	refuse_fields("a", "i64 .b[1", "path '.b[1'");
	refuse_fields("a", "i64 .b[\"c]", "path '.b[\"c]'");
	refuse_fields("a", "i64 .b.", "path '.b.'");
	refuse_fields("a", "i64 .a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q", "more than 16 steps");
	refuse_fields("a", "int", "unknown type 'int'");
}

Test(sources_jsonl, depth_is_limited_and_costs_no_stack)
{
	static char line[3000000];
	size_t n = 0;

	for (int depth = 510; depth <= 1000000; depth = depth == 510   ? 600
							: depth == 600 ? 1000000
								       : 9999999) {
		n = (size_t)snprintf(line, sizeof(line), "{\"x\": 1, \"y\": ");
		memset(line + n, '[', (size_t)depth);
		memset(line + n + depth, ']', (size_t)depth);
		strcpy(line + n + 2 * depth, "}\n");
		OPEN(line, {"x", "i64"});
		if (depth == 510)
			expect_record(&r, 0, "1");
		else
			expect_bad(&r, 0, "nested deeper than 512");
		records_close(&r);
	}
}

Test(sources_jsonl, bad_utf8_is_refused_or_replaced)
{
	tree_add("a.jsonl", "{\"t\": \"a\xff"
			    "b\xe2\x82\"}\n{\"t\": \"\\ud800x\"}\n");
	records_set(&r, &pl_source_jsonl, "a.jsonl");
	records_field(&r, "t", "text");
	RECORD_PARAM(&r, int, "invalid") = 1;
	cr_assert_eq(records_list(&r, false), 0);
	expect_record(&r, 0,
		"a\xef\xbf\xbd"
		"b\xef\xbf\xbd");
	expect_record(&r, 1, "\xef\xbf\xbdx");
	records_close(&r);
	OPEN("{\"t\": \"a\xff\"}\n", {"t", "text"});
	expect_bad(&r, 0, "byte 9 of the record, 0xff: not UTF-8: a byte that UTF-8 never has");
	records_close(&r);
}

Test(sources_jsonl, a_line_larger_than_a_sample_may_be_is_refused)
{
	static char line[(17 << 20) + 100];

	memset(line, 'x', sizeof(line) - 1);
	memcpy(line, "{\"t\": \"", 7);
	strcpy(line + (17 << 20), "\"}\n{\"t\": \"b\"}");
	OPEN(line, {"t", "text"});
	expect_bad(&r, 0, "are more than the 16777216 bytes a sample may take");
	expect_record(&r, 1, "b");
	records_close(&r);
}

Test(sources_jsonl, several_files_and_marks)
{
	tree_add("b/1.jsonl", "\xef\xbb\xbf{\"i\": 1}\r\n\r\n{\"i\": 2}");
	tree_add("b/2.jsonl", "");
	tree_add("b/3.jsonl", "\n\n{\"i\": 3}\n");
	records_set(&r, &pl_source_jsonl, "b/{1..3}.jsonl");
	records_field(&r, "i", "i64");
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
	cr_assert_eq(records_count(&r), 3);
	expect_record(&r, 2, "3");
	expect_record(&r, 0, "1");
	expect_record(&r, 1, "2");
	expect_text(records_name(&r, 1), "/b/1.jsonl:3");
	expect_text(records_name(&r, 2), "/b/3.jsonl:3");
	expect_text(records_name(&r, 3), "record 3");
	cr_expect_eq(records_read(&r, 3), -EINVAL);
	records_close(&r);
}

Test(sources_jsonl, a_changed_file_is_noticed)
{
	OPEN("{\"i\": 1}\n", {"i", "i64"});
	tree_add("a.jsonl", "{\"i\": 11}\n");
	expect_bad(&r, 0, "reload the pipeline");
	records_close(&r);
}

Test(sources_jsonl, the_first_record_is_found_without_the_rest)
{
	tree_add("a.jsonl", "\n{\"i\": 1}\n{\"i\": 2}\n");
	records_set(&r, &pl_source_jsonl, "a.jsonl");
	records_field(&r, "i", "i64");
	cr_assert_eq(records_list(&r, true), 0, "%s", r.err.text);
	cr_expect_eq(records_count(&r), 1);
	records_close(&r);
}

Test(sources_jsonl, records_in_a_row_are_read_ahead_rightly)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	for (int i = 0; i < 5000; i++)
		fprintf(f, "{\"i\": %d, \"t\": \"%0*d\"}\n", i, i % 977, i);
	fclose(f);
	OPEN(text, {"i", "i64"});
	for (uint64_t step = 1; step < 4; step++)
		for (uint64_t i = 0; i < 5000; i += step) {
			cr_assert_eq(records_read(&r, i), 0, "%s", r.err.text);
			cr_assert_eq(*(int64_t *)r.sample.value[0].data, (int64_t)i);
		}
	records_close(&r);
	free(text);
}
