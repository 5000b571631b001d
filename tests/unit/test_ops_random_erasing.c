/* tests/unit/test_ops_random_erasing.c - rectangles, values and errors of `random_erasing`. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_random_erasing;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static unsigned char ones[20 * 30 * 3];

static void begin(struct op_harness *h)
{
	memset(ones, 1, sizeof(ones));
	op_begin(h, &pl_op_random_erasing);
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(20, 30, 3), ones);
}

struct rectangle {
	int64_t top, left, bottom, right;
	int64_t n; /* erased pixels */
};

/* Where channel 0 is `value`; fails when a pixel is erased in part. */
static struct rectangle erased(const struct op_harness *h, int i, double value)
{
	struct rectangle r = {99, 99, -1, -1, 0};

	for (int64_t y = 0; y < 20; y++) {
		for (int64_t x = 0; x < 30; x++) {
			double v = op_at(h, i, SHAPE(y, x, 0));

			cr_assert(v == op_at(h, i, SHAPE(y, x, 2)));
			cr_assert(v == 1 || v == value);
			if (v != value)
				continue;
			r.top = y < r.top ? y : r.top;
			r.left = x < r.left ? x : r.left;
			r.bottom = y > r.bottom ? y : r.bottom;
			r.right = x > r.right ? x : r.right;
			r.n++;
		}
	}
	return r;
}

Test(ops_random_erasing, rectangles_have_the_wanted_area_and_ratio)
{
	struct op_harness h;
	int n_corners = 0;

	begin(&h);
	op_set(&h, "scale", "[0.1, 0.2]");
	op_set(&h, "ratio", "[1/2, 2]");
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 300; h.key.index++) {
		struct rectangle r;
		double height, width;

		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		r = erased(&h, 0, 0);
		height = (double)(r.bottom - r.top + 1);
		width = (double)(r.right - r.left + 1);
		cr_assert(r.n == (int64_t)(height * width), "it is a rectangle");
		cr_assert(height * width > 50 && height * width < 130, "%g", height * width);
		cr_assert(height / width > 0.42 && height / width < 2.4);
		n_corners += r.top == 0 || r.left == 0 || r.bottom == 19 || r.right == 29;
	}
	cr_expect(n_corners > 10);
	op_end(&h);
}

Test(ops_random_erasing, fields_of_one_size_get_one_rectangle)
{
	struct op_harness h;
	float *normalized = calloc(sizeof(float), 20 * 30 * 3);

	for (int i = 0; i < 20 * 30 * 3; i++)
		normalized[i] = 1;
	begin(&h);
	op_set(&h, "value", "9");
	op_field(&h, "normalized", PL_KIND_IMAGE, PL_F32, 3, SHAPE(20, 30, 3), normalized);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 30; h.key.index++) {
		struct rectangle a, b;

		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		a = erased(&h, 0, 9);
		b = erased(&h, 1, 9);
		cr_expect(a.n > 0 && memcmp(&a, &b, sizeof(a)) == 0);
	}
	cr_expect(ones[0] == 1 && memcmp(ones, ones + 1, sizeof(ones) - 1) == 0,
		"the input is not written to");
	op_end(&h);
	free(normalized);
}

/* A rectangle as large as the picture is never taken. */
Test(ops_random_erasing, nothing_fits)
{
	struct op_harness h;

	begin(&h);
	op_set(&h, "scale", "1");
	op_set(&h, "ratio", "1");
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 20; h.key.index++) {
		cr_assert(op_run(&h) == 0);
		cr_expect(erased(&h, 0, 0).n == 0);
	}
	op_end(&h);
}

Test(ops_random_erasing, what_is_refused)
{
	struct op_harness h;

	begin(&h);
	op_set(&h, "value", "-1");
	op_expect_error(&h, op_load(&h), "value: -1 does not fit field 'image' of u8");
	op_set(&h, "value", "0");
	op_set(&h, "ratio", "[0, 1]");
	op_expect_error(&h, op_load(&h), "ratio: [0, 1]");
	op_set(&h, "ratio", "1");
	h.type[0] = (struct pl_type){
		.kind = PL_KIND_TENSOR, .dtype = PL_F32, .rank = 3, .shape = {3, 8, 8}};
	op_expect_error(&h, op_load(&h), "put it before the step that changed the layout");
	op_end(&h);
}
