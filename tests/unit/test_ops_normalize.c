/* tests/unit/test_ops_normalize.c - values, dtypes and channel counts of `normalize`. */
#include <math.h>

#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_normalize;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static double mean_of(int c)
{
	static const double mean[] = {0.485, 0.456, 0.406};

	return mean[c];
}

static double std_of(int c)
{
	static const double std[] = {0.229, 0.224, 0.225};

	return std[c];
}

static unsigned char image[9 * 11 * 3];

static void begin(struct op_harness *h)
{
	for (size_t i = 0; i < sizeof(image); i++)
		image[i] = (unsigned char)(i * 37 + 5);
	op_begin(h, &pl_op_normalize);
}

static void expect_imagenet(
	const struct op_harness *h, int64_t height, int64_t width, int64_t stride)
{
	for (int64_t y = 0; y < height; y++) {
		for (int64_t x = 0; x < width; x++) {
			for (int c = 0; c < 3; c++) {
				double v = image[y * stride + x * 3 + c] / 255.0;
				double d =
					op_at(h, 0, SHAPE(y, x, c)) - (v - mean_of(c)) / std_of(c);

				cr_assert(fabs(d) < 1e-6, "%g", d);
			}
		}
	}
}

Test(ops_normalize, imagenet)
{
	struct op_harness h;

	begin(&h);
	op_set(&h, "table", "imagenet");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(9, 11, 3), image);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->dtype == PL_F32 && op_type(&h, 0)->kind == PL_KIND_IMAGE);
	cr_expect(op_value(&h, 0)->dtype == PL_F32);
	expect_imagenet(&h, 9, 11, 33);
	cr_assert(op_load(&h) == 0, "loading twice changes nothing: %s", h.err.text);
	op_end(&h);
}

/* A crop before it leaves gaps between the rows. */
Test(ops_normalize, rows_with_gaps_between_them)
{
	struct op_harness h;

	begin(&h);
	op_set(&h, "table", "imagenet");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(7, 9, 3), image);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	h.given[0].stride[0] = 33;
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(pl_tensor_is_contiguous(op_value(&h, 0)));
	expect_imagenet(&h, 7, 9, 33);
	op_end(&h);
}

/* Every processor gives the bits of "value * a + b" in f32, each rounded. */
Test(ops_normalize, bits)
{
	struct op_harness h;
	const float a = (float)(1.0 / 255 / 0.3);
	const float b = (float)(-0.7 / 0.3);

	begin(&h);
	op_set(&h, "mean", "0.7");
	op_set(&h, "std", "0.3");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(9, 11, 3), image);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	for (size_t i = 0; i < sizeof(image); i++) {
		volatile float product = image[i] * a;
		float wanted = product + b;

		cr_assert(((float *)op_value(&h, 0)->data)[i] == wanted);
	}
	op_end(&h);
}

Test(ops_normalize, other_dtypes_and_channel_counts)
{
	const double wide[7] = {1, 2, 3, 4, 5, 6, 7};
	const uint16_t deep[2] = {0, 65535};
	struct op_harness h;

	begin(&h);
	op_set(&h, "mean", "[1, 1, 1, 1, 1, 1, 1]");
	op_set(&h, "std", "2");
	op_set(&h, "scale", "1");
	op_field(&h, "x", PL_KIND_TENSOR, PL_F64, 1, SHAPE(7), wide);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	for (int64_t i = 0; i < 7; i++)
		cr_expect(op_at(&h, 0, SHAPE(i)) == (wide[i] - 1) / 2);
	op_end(&h);
	begin(&h);
	op_set(&h, "scale", "1/65535");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U16, 3, SHAPE(1, 2, 1), deep);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(
		op_at(&h, 0, SHAPE(0, 0, 0)) == 0 && fabs(op_at(&h, 0, SHAPE(0, 1, 0)) - 1) < 1e-6);
	op_end(&h);
}

Test(ops_normalize, parameters_that_are_refused)
{
	struct op_harness h;

	begin(&h);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(9, 11, 3), image);
	op_set(&h, "std", "[1, 0, 1]");
	op_expect_error(&h, op_load(&h), "std[1] is 0");
	op_set(&h, "std", "[1, 1, 1]");
	op_set(&h, "mean", "[1, 2]");
	op_expect_error(&h, op_load(&h), "mean has 2 numbers and std 3");
	op_set(&h, "table", "imagenet");
	op_expect_error(&h, op_load(&h), "table: imagenet already says mean and std");
	op_end(&h);
}

Test(ops_normalize, fields_that_do_not_fit)
{
	struct op_harness h;

	begin(&h);
	op_set(&h, "table", "imagenet");
	op_field(&h, "x", PL_KIND_TENSOR, PL_U8, 3, SHAPE(3, 9, 11), image);
	op_expect_error(&h, op_load(&h), "put normalize before the rearrange to c h w");
	h.type[0] = (struct pl_type){
		.kind = PL_KIND_IMAGE, .dtype = PL_U8, .rank = 3, .shape = {9, 11, 4}};
	op_expect_error(&h, op_load(&h), "there are 3 means or stds");
	h.type[0] =
		(struct pl_type){.kind = PL_KIND_BYTES, .dtype = PL_U8, .rank = 1, .shape = {-1}};
	op_expect_error(&h, op_load(&h), "put decode_image before it");
	h.type[0] = (struct pl_type){
		.kind = PL_KIND_IMAGE, .dtype = PL_U8, .rank = 3, .shape = {-1, -1, -1}};
	cr_assert(op_load(&h) == 0);
	op_expect_error(
		&h, op_run(&h), "the value has 11 channels (set channels: in decode_image)");
	op_end(&h);
}
