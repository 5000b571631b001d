/* tests/unit/test_ops_repeat.c - repeat: new axes, types, views, rows, errors. */
#include "op_harness.h"

#include <errno.h>

#include "daemon/ops/table.h"
#include "param_at.h"

static const uint8_t values[] = {1, 2, 3, 4, 5, 6};

static void begin(struct op_harness *h, const char *pattern, const char *axes)
{
	op_begin(h, &pl_op_repeat);
	PARAM(const char *, pl_op_repeat.params, h->params, "pattern") = pattern;
	if (axes)
		op_set(h, "axes", axes);
	op_field(h, "x", PL_KIND_TENSOR, PL_U8, 2, (const int64_t[]){2, 3}, values);
}

static void expect_type(const struct op_harness *h, const char *wanted)
{
	char text[256];

	cr_expect_str_eq(pl_type_format(text, sizeof(text), op_type(h, 0)), wanted);
}

Test(ops_repeat, along_a_new_axis)
{
	struct op_harness h;

	begin(&h, "a b -> a n b", "{n: 2}");
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	expect_type(&h, "tensor u8 [2, 2, 3]");
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	for (int64_t i = 0; i < 12; i++)
		cr_expect_eq(op_at(&h, 0, (const int64_t[]){i / 6, i / 3 % 2, i % 3}),
			values[i / 6 * 3 + i % 3]);
	op_end(&h);
}

Test(ops_repeat, within_a_row)
{
	struct op_harness h;
	uint8_t row[12] = {0};

	begin(&h, "a b -> a (b 2)", NULL);
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	h.writes_row[0] = true;
	cr_assert_eq(pl_tensor_init(&h.sample.row[0], row, PL_U8, 2, (const int64_t[]){2, 6}), 0);
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_expect_eq(op_value(&h, 0)->data, (void *)row);
	for (int i = 0; i < 12; i++)
		cr_expect_eq(row[i], values[i / 2]);
	op_end(&h);
}

Test(ops_repeat, a_new_unit_is_a_view)
{
	struct op_harness h;

	begin(&h, "a b -> a 1 b", NULL);
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	expect_type(&h, "tensor u8 [2, 1, 3]");
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_expect_eq(op_value(&h, 0)->data, (const void *)values);
	op_end(&h);
}

Test(ops_repeat, unknown_lengths_stay_unknown)
{
	struct op_harness h;

	begin(&h, "a b -> a n b", "{n: 3}");
	h.type[0].shape[0] = -1;
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	expect_type(&h, "tensor u8 [?, 3, 3]");
	op_end(&h);
}

static void expect_load_error(const char *pattern, const char *part)
{
	struct op_harness h;

	begin(&h, pattern, NULL);
	cr_expect_eq(op_load(&h), -EINVAL, "%s", pattern);
	expect_text(h.err.text, part);
	op_end(&h);
}

Test(ops_repeat, load_errors_say_what_is_wrong)
{
	expect_load_error("a b -> a n b", "'n'");
	expect_load_error("a b -> a 2", "'b'");
	expect_load_error("a -> a 2", "the pattern wants 1 dimension");
}

/* Limits come before memory: a length that multiplies beyond any memory is refused at load. */
Test(ops_repeat, too_large_a_result_is_refused)
{
	struct op_harness h;

	begin(&h, "a b -> a n m k b", "{n: 2147483648, m: 2147483648, k: 2147483648}");
	cr_expect_eq(op_load(&h), -EOVERFLOW);
	op_end(&h);
}
