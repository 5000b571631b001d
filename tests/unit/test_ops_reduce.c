/* tests/unit/test_ops_reduce.c - reduce: every operation, dtypes, kinds, rows, errors. */
#include "op_harness.h"

#include <errno.h>

#include "daemon/ops/table.h"
#include "param_at.h"

static void begin(struct op_harness *h, const char *pattern, const char *op)
{
	op_begin(h, &pl_op_reduce);
	PARAM(const char *, pl_op_reduce.params, h->params, "pattern") = pattern;
	op_set(h, "op", op);
}

static void expect_type(const struct op_harness *h, const char *wanted)
{
	char text[256];

	cr_expect_str_eq(pl_type_format(text, sizeof(text), op_type(h, 0)), wanted);
}

Test(ops_reduce, every_operation_gives_its_value_and_dtype)
{
	static const uint8_t values[] = {3, 0, 5, 2, 7, 1};
	static const struct {
		const char *op;
		const char *type;
		int64_t row[2];
	} cases[] = {
		{"min", "tensor u8 [2]", {0, 1}},
		{"max", "tensor u8 [2]", {5, 7}},
		{"sum", "tensor u64 [2]", {8, 10}},
		{"prod", "tensor u64 [2]", {0, 14}},
		{"any", "tensor bool [2]", {1, 1}},
		{"all", "tensor bool [2]", {0, 1}},
	};

	for (size_t i = 0; i < PL_ARRAY_LEN(cases); i++) {
		struct op_harness h;
		const char *data;

		begin(&h, "a b -> a", cases[i].op);
		op_field(&h, "x", PL_KIND_TENSOR, PL_U8, 2, (const int64_t[]){2, 3}, values);
		cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
		expect_type(&h, cases[i].type);
		cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
		data = op_value(&h, 0)->data;
		for (int row = 0; row < 2; row++) {
			size_t size = pl_dtype_size(op_value(&h, 0)->dtype);
			int64_t got = 0;

			memcpy(&got, data + (size_t)row * size, size);
			cr_expect_eq(got, cases[i].row[row], "%s of row %d", cases[i].op, row);
		}
		op_end(&h);
	}
}

Test(ops_reduce, a_mean_of_everything_is_a_scalar)
{
	static const float values[] = {1, 2, 3, 6};
	struct op_harness h;

	begin(&h, "a b ->", "mean");
	op_field(&h, "x", PL_KIND_TENSOR, PL_F32, 2, (const int64_t[]){2, 2}, values);
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	expect_type(&h, "scalar f32");
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_expect_eq(op_at(&h, 0, NULL), 3);
	op_end(&h);
}

Test(ops_reduce, pooling_writes_into_the_row)
{
	static const uint8_t image[] = {1, 9, 2, 8, /**/ 3, 7, 4, 6};
	struct op_harness h;
	uint8_t row[2] = {0};

	begin(&h, "(h 2) (w 2) c -> h w c", "max");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, (const int64_t[]){2, 4, 1}, image);
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	expect_type(&h, "tensor u8 [1, 2, 1]");
	h.writes_row[0] = true;
	cr_assert_eq(
		pl_tensor_init(&h.sample.row[0], row, PL_U8, 3, (const int64_t[]){1, 2, 1}), 0);
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_expect_eq(op_value(&h, 0)->data, (void *)row);
	cr_expect_eq(row[0], 9);
	cr_expect_eq(row[1], 8);
	op_end(&h);
}

Test(ops_reduce, unknown_lengths_stay_unknown)
{
	struct op_harness h;
	static const uint8_t image[12];

	begin(&h, "(h p) w c -> h c", "max");
	op_set(&h, "axes", "{p: 2}");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, (const int64_t[]){2, 2, 3}, image);
	h.type[0] = pl_type_image(-1, -1, 3);
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	expect_type(&h, "tensor u8 [?, 3]");
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_assert_eq(pl_tensor_init(&h.given[0], (void *)(uintptr_t)image, PL_U8, 3,
			     (const int64_t[]){1, 4, 3}),
		0);
	cr_expect_eq(op_run(&h), -EINVAL);
	expect_text(h.err.text, "shape [1, 4, 3]: ");
	op_end(&h);
}

static void expect_load_error(const char *pattern, const char *op, const char *part)
{
	static const uint8_t image[24];
	struct op_harness h;

	begin(&h, pattern, op);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, (const int64_t[]){2, 4, 3}, image);
	cr_expect_eq(op_load(&h), -EINVAL, "%s", pattern);
	expect_text(h.err.text, part);
	op_end(&h);
}

Test(ops_reduce, load_errors_say_what_is_wrong)
{
	expect_load_error("h w c -> h x", "max", "'x'");
	expect_load_error("h w c -> h w", "mean", "float");
	expect_load_error("h w -> h", "max", "the pattern wants 2 dimensions");
	expect_load_error("(h 3) w c -> h w c", "max", "field 'image' (image u8 [2, 4, 3]): ");
}
