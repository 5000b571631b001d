/* tests/unit/test_ops_lookup.c - texts and integers to numbers, and what isn't in the table. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_lookup;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static const struct pl_table_entry entries[] = {{"", 9}, {"-1", 5}, {"18446744073709551615", 6},
	{"7", 4}, {"cat", 0}, {"cats", 1}, {"dog", 2}};

static void begin(struct op_harness *h, const char *unknown)
{
	struct pl_param_table table = {PL_ARRAY_LEN(entries), entries};

	op_begin(h, &pl_op_lookup);
	op_set(h, "unknown", unknown);
	memcpy((char *)h->params + pl_op_lookup.params[0].offset, &table, sizeof(table));
}

static double looked_up(const char *text, const char *unknown)
{
	struct op_harness h;
	double number;

	begin(&h, unknown);
	op_field(&h, "label", PL_KIND_TEXT, PL_U8, 1, SHAPE((int64_t)strlen(text)), text);
	h.type[0].shape[0] = -1;
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->kind == PL_KIND_SCALAR && op_type(&h, 0)->dtype == PL_I64);
	number = op_at(&h, 0, NULL);
	op_end(&h);
	return number;
}

Test(ops_lookup, texts)
{
	cr_expect(looked_up("cat", "error") == 0 && looked_up("cats", "error") == 1);
	cr_expect(looked_up("dog", "error") == 2 && looked_up("", "error") == 9);
	cr_expect(looked_up("ca", "-7") == -7 && looked_up("catss", "-7") == -7);
	cr_expect(looked_up("zebra", "-7") == -7 && looked_up("!", "-7") == -7);
}

Test(ops_lookup, integers)
{
	static const int8_t minus = -1;
	static const uint64_t largest = UINT64_MAX;
	static const int64_t seven = 7;
	struct op_harness h;

	begin(&h, "error");
	op_field(&h, "a", PL_KIND_SCALAR, PL_I8, 0, SHAPE(0), &minus);
	op_field(&h, "b", PL_KIND_SCALAR, PL_U64, 0, SHAPE(0), &largest);
	op_field(&h, "c", PL_KIND_SCALAR, PL_I64, 0, SHAPE(0), &seven);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, NULL) == 5 && op_at(&h, 1, NULL) == 6 && op_at(&h, 2, NULL) == 4);
	op_end(&h);
}

static void expect_unknown(const char *text, int64_t n, const char *part)
{
	struct op_harness h;

	begin(&h, "error");
	op_field(&h, "label", PL_KIND_TEXT, PL_U8, 1, SHAPE(n), text);
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), part);
	op_end(&h);
}

Test(ops_lookup, what_is_not_in_the_table)
{
	char lengthy[200];

	memset(lengthy, 'x', sizeof(lengthy));
	expect_unknown("bird\n", 5,
		"'bird\\x0A' is not in the table of 7 texts (set unknown: to a number");
	expect_unknown("cat\0s", 5, "is not in the table");
	expect_unknown(lengthy, 200, "xxx'... is not in the table");
}

Test(ops_lookup, fields_that_are_refused)
{
	struct op_harness h;

	begin(&h, "error");
	op_field(&h, "label", PL_KIND_SCALAR, PL_F32, 0, SHAPE(0), NULL);
	op_expect_error(&h, op_load(&h), "only texts and integers are looked up");
	op_end(&h);
}
