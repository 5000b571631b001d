/* tests/unit/test_ops_rearrange.c - rearrange: types, views, rows, shapes, errors. */
#include "op_harness.h"

#include <errno.h>

#include "daemon/ops/table.h"
#include "param_at.h"

static unsigned char pixels[24];

static void begin(struct op_harness *h, const char *pattern)
{
	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (unsigned char)i;
	op_begin(h, &pl_op_rearrange);
	PARAM(const char *, pl_op_rearrange.params, h->params, "pattern") = pattern;
}

static void add_image(struct op_harness *h, int64_t height, int64_t width)
{
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, (const int64_t[]){height, width, 3}, pixels);
}

static void expect_type(const struct op_harness *h, int i, const char *wanted)
{
	char text[256];

	cr_expect_str_eq(pl_type_format(text, sizeof(text), op_type(h, i)), wanted);
}

Test(ops_rearrange, a_transpose_is_a_view)
{
	struct op_harness h;

	begin(&h, "h w c -> c h w");
	add_image(&h, 2, 4);
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	expect_type(&h, 0, "tensor u8 [3, 2, 4]");
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_expect_eq(op_value(&h, 0)->data, (void *)pixels, "nothing was copied");
	for (int64_t c = 0; c < 3; c++)
		for (int64_t y = 0; y < 2; y++)
			for (int64_t x = 0; x < 4; x++)
				cr_expect_eq(op_at(&h, 0, (const int64_t[]){c, y, x}),
					(y * 4 + x) * 3 + c);
	op_end(&h);
}

Test(ops_rearrange, a_delivered_value_goes_into_its_row)
{
	struct op_harness h;
	unsigned char row[24] = {0};

	begin(&h, "h w c -> c h w");
	add_image(&h, 2, 4);
	cr_assert_eq(op_load(&h), 0);
	h.writes_row[0] = true;
	cr_assert_eq(
		pl_tensor_init(&h.sample.row[0], row, PL_U8, 3, (const int64_t[]){3, 2, 4}), 0);
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_expect_eq(op_value(&h, 0)->data, (void *)row);
	for (int i = 0; i < 24; i++)
		cr_expect_eq(row[i], i % 8 * 3 + i / 8);
	op_end(&h);
}

Test(ops_rearrange, a_merge_that_needs_a_copy_gets_one)
{
	struct op_harness h;

	begin(&h, "h w c -> c (w h)");
	add_image(&h, 2, 4);
	cr_assert_eq(op_load(&h), 0);
	expect_type(&h, 0, "tensor u8 [3, 8]");
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_expect_neq(op_value(&h, 0)->data, (void *)pixels);
	cr_expect_eq(op_at(&h, 0, (const int64_t[]){1, 3}), (1 * 4 + 1) * 3 + 1);
	op_end(&h);
}

Test(ops_rearrange, unknown_lengths_stay_unknown)
{
	struct op_harness h;

	begin(&h, "h w c -> c h w");
	add_image(&h, 2, 4);
	h.type[0] = pl_type_image(-1, -1, 3);
	cr_assert_eq(op_load(&h), 0);
	expect_type(&h, 0, "tensor u8 [3, ?, ?]");
	op_end(&h);
}

Test(ops_rearrange, the_kind_stays_when_the_layout_does)
{
	static const struct {
		const char *pattern;
		const char *type;
	} cases[] = {
		{"h w c -> h w c", "image u8 [2, 4, 3]"},
		{" h  w c->h w c ", "image u8 [2, 4, 3]"},
		{"h w c -> w h c", "tensor u8 [4, 2, 3]"},
		{"h w c -> h w c 1", "tensor u8 [2, 4, 3, 1]"},
		{"h w c -> h (w c)", "tensor u8 [2, 12]"},
		{"hw w c -> hw (w c)", "tensor u8 [2, 12]"},
	};

	for (size_t i = 0; i < PL_ARRAY_LEN(cases); i++) {
		struct op_harness h;

		begin(&h, cases[i].pattern);
		add_image(&h, 2, 4);
		cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
		expect_type(&h, 0, cases[i].type);
		op_end(&h);
	}
}

Test(ops_rearrange, axes_give_the_lengths_of_splits)
{
	struct op_harness h;

	begin(&h, "h (a w) c -> a h w c");
	op_set(&h, "axes", "{a: 2}");
	add_image(&h, 2, 4);
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	expect_type(&h, 0, "tensor u8 [2, 2, 2, 3]");
	cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
	cr_expect_eq(op_at(&h, 0, (const int64_t[]){1, 1, 0, 2}), (1 * 4 + 2) * 3 + 2);
	op_end(&h);
}

/* More shapes than plans are kept for, in turn and back. */
Test(ops_rearrange, shapes_may_vary)
{
	struct op_harness h;

	begin(&h, "h w c -> w h c");
	add_image(&h, 2, 4);
	h.type[0] = pl_type_image(-1, -1, 3);
	cr_assert_eq(op_load(&h), 0);
	for (int round = 0; round < 40; round++) {
		int64_t width = 1 + round % 4;
		int64_t height = 1 + round / 4 % 2;

		for (int64_t n = 1; n <= 3; n += 2) {
			cr_assert_eq(pl_tensor_init(&h.given[0], pixels, PL_U8, 3,
					     (const int64_t[]){height, width, n}),
				0);
			cr_assert_eq(op_run(&h), 0, "%s", h.err.text);
			cr_assert_eq(op_value(&h, 0)->shape[0], width);
			cr_assert_eq(op_at(&h, 0, (const int64_t[]){width - 1, 0, n - 1}),
				width * n - 1);
		}
	}
	op_end(&h);
}

static void expect_load_error(const char *pattern, size_t offset, const char *part)
{
	struct op_harness h;

	begin(&h, pattern);
	add_image(&h, 2, 4);
	cr_expect_eq(op_load(&h), -EINVAL, "%s", pattern);
	expect_text(h.err.text, part);
	cr_expect_str_eq(h.err.param, "pattern");
	cr_expect_eq(h.err.offset, offset, "%s: %zu", pattern, h.err.offset);
	op_end(&h);
}

Test(ops_rearrange, load_errors_say_what_and_where)
{
	expect_load_error("h w c", 5, "->");
	expect_load_error("h w c -> c h", 2, "axis 'w' is on the left only");
	expect_load_error("h w -> w h", 0, "field 'image' (image u8 [2, 4, 3]): ");
	expect_load_error("h (a w) c -> a h w c", 2, "field 'image' (image u8 [2, 4, 3]): ");
}

Test(ops_rearrange, axis_lengths_are_integers)
{
	struct op_harness h;

	begin(&h, "h (a w) c -> a h w c");
	op_set(&h, "axes", "{a: 2.5}");
	add_image(&h, 2, 4);
	cr_expect_eq(op_load(&h), -EINVAL);
	cr_expect_str_eq(h.err.text, "axes: the length of 'a' must be an integer");
	op_end(&h);
}

Test(ops_rearrange, a_sample_of_another_shape_is_an_error_of_that_sample)
{
	struct op_harness h;

	begin(&h, "h (a w) c -> a h w c");
	op_set(&h, "axes", "{a: 2}");
	add_image(&h, 2, 4);
	h.type[0] = pl_type_image(-1, -1, 3);
	cr_assert_eq(op_load(&h), 0);
	cr_assert_eq(pl_tensor_init(&h.given[0], pixels, PL_U8, 3, (const int64_t[]){2, 3, 3}), 0);
	cr_expect_eq(op_run(&h), -EINVAL);
	expect_text(h.err.text, "shape [2, 3, 3]: ");
	op_end(&h);
	pl_op_rearrange.destroy(NULL);
}
