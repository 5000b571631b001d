/* tests/unit/test_ops_gaussian_blur.c - kernels, borders, draws and errors of `gaussian_blur`. */
#include <math.h>

#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_gaussian_blur;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static unsigned char pixels[40 * 50 * 3];

static void begin(
	struct op_harness *h, const char *sigma, const char *kernel, int64_t height, int64_t width)
{
	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (unsigned char)(i * 2654435761u >> 24);
	op_begin(h, &pl_op_gaussian_blur);
	op_set(h, "sigma", sigma);
	op_set(h, "kernel", kernel);
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(height, width, 3), pixels);
}

Test(ops_gaussian_blur, an_even_kernel)
{
	struct op_harness h;

	begin(&h, "1", "4", 4, 4);
	op_expect_error(&h, op_load(&h), "kernel: 4 has no middle: it must be odd (3 or 5)");
	op_end(&h);
}

/* Beyond 4 sigma nothing is seen: a larger kernel gives the same pixels. */
Test(ops_gaussian_blur, auto_is_wide_enough)
{
	struct op_harness h, wide;

	begin(&h, "1.7", "auto", 40, 50);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	begin(&wide, "1.7", "33", 40, 50);
	cr_assert(op_load(&wide) == 0 && op_run(&wide) == 0, "%s", wide.err.text);
	for (int64_t y = 0; y < 40; y++)
		for (int64_t x = 0; x < 50; x++) {
			double d = op_at(&h, 0, SHAPE(y, x, 1)) - op_at(&wide, 0, SHAPE(y, x, 1));

			cr_expect(d >= -1 && d <= 1, "%d %d: %g", (int)y, (int)x, d);
		}
	op_end(&h);
	op_end(&wide);
}

/* A picture much smaller than the kernel: its mean everywhere, without a step outside. */
Test(ops_gaussian_blur, small_pictures_are_mirrored_again)
{
	static const unsigned char two[2] = {0, 200};
	struct op_harness h;

	op_begin(&h, &pl_op_gaussian_blur);
	op_set(&h, "sigma", "30");
	op_set(&h, "kernel", "201");
	op_field(&h, "row", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1, 2, 1), two);
	op_field(&h, "column", PL_KIND_IMAGE, PL_U8, 3, SHAPE(2, 1, 1), two);
	op_field(&h, "pixel", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1, 1, 1), two + 1);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	for (int64_t k = 0; k < 2; k++) {
		cr_expect(fabs(op_at(&h, 0, SHAPE(0, k, 0)) - 100) <= 1);
		cr_expect(fabs(op_at(&h, 1, SHAPE(k, 0, 0)) - 100) <= 1);
	}
	cr_expect(op_at(&h, 2, SHAPE(0, 0, 0)) == 200);
	op_end(&h);
}

/* The ring of rows is right whether the picture is higher or lower than the kernel: turned by a
 * quarter, the result is turned. */
Test(ops_gaussian_blur, rows_and_columns_are_alike)
{
	static unsigned char turned[40 * 50];
	static const char *const kernels[] = {"3", "21", "79", "81", "101", "151"};

	for (size_t k = 0; k < PL_ARRAY_LEN(kernels); k++) {
		struct op_harness h;

		begin(&h, "11", kernels[k], 40, 50);
		h.n = h.n_fields = 0;
		for (int y = 0; y < 40; y++)
			for (int x = 0; x < 50; x++)
				turned[x * 40 + y] = pixels[y * 50 + x];
		op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(40, 50, 1), pixels);
		op_field(&h, "turned", PL_KIND_IMAGE, PL_U8, 3, SHAPE(50, 40, 1), turned);
		cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
		for (int64_t y = 0; y < 40; y++)
			for (int64_t x = 0; x < 50; x++)
				cr_assert(fabs(op_at(&h, 0, SHAPE(y, x, 0)) -
						  op_at(&h, 1, SHAPE(x, y, 0))) <= 1,
					"kernel %s at %d %d", kernels[k], (int)y, (int)x);
		op_end(&h);
	}
}

Test(ops_gaussian_blur, sigma_is_drawn)
{
	struct op_harness h;
	unsigned char first[3];
	int n_equal = 0;

	begin(&h, "[0.3, 3]", "auto", 20, 20);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	memcpy(first, op_value(&h, 0)->data, 3);
	for (h.key.index = 1; h.key.index < 20; h.key.index++) {
		cr_assert(op_run(&h) == 0);
		n_equal += memcmp(first, op_value(&h, 0)->data, 3) == 0;
	}
	cr_expect(n_equal < 8, "%d", n_equal);
	op_end(&h);
}

Test(ops_gaussian_blur, frames_of_a_video)
{
	struct op_harness h;

	begin(&h, "2", "auto", 8, 9);
	op_field(&h, "video", PL_KIND_VIDEO, PL_U8, 4, SHAPE(2, 8, 9, 3), pixels);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(memcmp(op_value(&h, 0)->data, op_value(&h, 1)->data, 8 * 9 * 3) == 0);
	cr_expect(memcmp(op_value(&h, 0)->data, (char *)op_value(&h, 1)->data + 8 * 9 * 3,
			  8 * 9 * 3) != 0);
	op_end(&h);
}
