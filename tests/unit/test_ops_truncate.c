/* tests/unit/test_ops_truncate.c - sequences and texts, cut at either side. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_truncate;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static void begin(struct op_harness *h, const char *length, const char *side)
{
	op_begin(h, &pl_op_truncate);
	op_set(h, "length", length);
	op_set(h, "side", side);
}

Test(ops_truncate, tokens)
{
	static const int32_t ids[5][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}};
	struct op_harness h;

	begin(&h, "3", "right");
	op_field(&h, "input_ids", PL_KIND_TOKENS, PL_I32, 2, SHAPE(5, 2), ids);
	op_field(&h, "labels", PL_KIND_TOKENS, PL_I32, 2, SHAPE(2, 2), ids);
	h.type[1].shape[0] = -1;
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->shape[0] == 3 && op_type(&h, 1)->shape[0] == -1);
	cr_expect(op_value(&h, 0)->shape[0] == 3 && op_at(&h, 0, SHAPE(2, 1)) == 5);
	cr_expect(op_value(&h, 1)->shape[0] == 2 && op_at(&h, 1, SHAPE(1, 0)) == 2);
	op_end(&h);
	begin(&h, "3", "left");
	op_field(&h, "input_ids", PL_KIND_TOKENS, PL_I32, 2, SHAPE(5, 2), ids);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 3 && op_at(&h, 0, SHAPE(0, 0)) == 4);
	op_end(&h);
}

static void expect_text(const char *text, const char *length, const char *side, const char *wanted)
{
	struct op_harness h;

	begin(&h, length, side);
	op_field(&h, "text", PL_KIND_TEXT, PL_U8, 1, SHAPE((int64_t)strlen(text)), text);
	h.type[0].shape[0] = -1;
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect((size_t)op_value(&h, 0)->shape[0] == strlen(wanted) &&
			  memcmp(op_value(&h, 0)->data, wanted, strlen(wanted)) == 0,
		"%s of %s: %d bytes", length, text, (int)op_value(&h, 0)->shape[0]);
	op_end(&h);
}

Test(ops_truncate, characters_of_a_text)
{
	expect_text("h\xc3\xa4llo", "2", "right", "h\xc3\xa4");
	expect_text("h\xc3\xa4llo", "1", "right", "h");
	expect_text("h\xc3\xa4llo", "0", "right", "");
	expect_text("h\xc3\xa4llo", "5", "right", "h\xc3\xa4llo");
	expect_text("h\xc3\xa4llo", "9", "right", "h\xc3\xa4llo");
	expect_text("h\xc3\xa4llo", "4", "left", "\xc3\xa4llo");
	expect_text("h\xc3\xa4llo", "3", "left", "llo");
	expect_text("h\xc3\xa4llo", "5", "left", "h\xc3\xa4llo");
	expect_text("h\xc3\xa4llo", "9", "left", "h\xc3\xa4llo");
	expect_text("h\xc3\xa4llo", "0", "left", "");
	expect_text("", "3", "left", "");
}

Test(ops_truncate, fields_that_are_refused)
{
	struct op_harness h;

	begin(&h, "3", "right");
	op_field(&h, "x", PL_KIND_SCALAR, PL_I32, 0, SHAPE(0), NULL);
	op_expect_error(&h, op_load(&h), "field 'x' is scalar i32, and only texts, tokens");
	h.type[0] = pl_type_bytes(PL_KIND_BYTES);
	op_expect_error(&h, op_load(&h), "can be truncated");
	op_end(&h);
}
