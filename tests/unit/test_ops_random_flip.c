/* tests/unit/test_ops_random_flip.c - mirrored pixels for every size of a pixel. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_random_flip;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static void flip(const char *axis, enum pl_dtype dtype, int64_t n_channels)
{
	unsigned char pixels[5 * 7 * 5 * 8];
	int64_t pixel = n_channels * (int64_t)pl_dtype_size(dtype);
	bool is_horizontal = strcmp(axis, "horizontal") == 0;
	struct op_harness h;

	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (unsigned char)(i * 31);
	op_begin(&h, &pl_op_random_flip);
	op_set(&h, "axis", axis);
	op_field(&h, "image", PL_KIND_IMAGE, dtype, 3, SHAPE(5, 7, n_channels), pixels);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	for (int64_t y = 0; y < 5; y++) {
		for (int64_t x = 0; x < 7; x++) {
			int64_t from = is_horizontal ? y * 7 + 6 - x : (4 - y) * 7 + x;
			const char *got = (const char *)op_value(&h, 0)->data + (y * 7 + x) * pixel;

			cr_assert(memcmp(got, pixels + from * pixel, (size_t)pixel) == 0);
		}
	}
	op_end(&h);
}

Test(ops_random_flip, pixels)
{
	static const enum pl_dtype dtypes[] = {PL_U8, PL_U16, PL_F32, PL_F64};

	for (size_t k = 0; k < PL_ARRAY_LEN(dtypes); k++) {
		for (int64_t n = 1; n <= 5; n++) {
			flip("horizontal", dtypes[k], n);
			flip("vertical", dtypes[k], n);
		}
	}
}

Test(ops_random_flip, half_of_the_samples)
{
	cr_expect(pl_op_random_flip.default_p == 0.5);
	cr_expect(pl_op_random_flip.flags & PL_OP_RANDOM);
}
