/* tests/unit/test_ops_center_crop.c - where the middle is, and crops larger than the picture. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_center_crop;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static unsigned char pixels[300];

static void begin(struct op_harness *h, int64_t height, int64_t width, const char *size)
{
	for (int i = 0; i < 300; i++)
		pixels[i] = (unsigned char)(i + 1);
	op_begin(h, &pl_op_center_crop);
	op_set(h, "size", size);
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(height, width, 1), pixels);
	op_field(h, "mask", PL_KIND_MASK, PL_U8, 2, SHAPE(height, width), pixels);
}

Test(ops_center_crop, halves_go_to_the_even_side)
{
	static const int rows[][3] = {
		{7, 4, 2}, {9, 6, 2}, {11, 8, 2}, {10, 7, 2}, {5, 5, 0}, {11, 4, 4}};

	for (size_t k = 0; k < PL_ARRAY_LEN(rows); k++) {
		struct op_harness h;
		char size[32];

		(void)snprintf(size, sizeof(size), "[1, %d]", rows[k][1]);
		begin(&h, 1, rows[k][0], size);
		cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
		cr_expect(op_at(&h, 0, SHAPE(0, 0, 0)) == rows[k][2] + 1, "%d to %d", rows[k][0],
			rows[k][1]);
		op_end(&h);
	}
}

/* 3 to 5 and 4 to 7: one more at the right and bottom; masks get 255. */
Test(ops_center_crop, larger_than_the_picture)
{
	struct op_harness h;

	begin(&h, 3, 4, "[5, 7]");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	for (int64_t y = 0; y < 5; y++) {
		for (int64_t x = 0; x < 7; x++) {
			bool is_inside = y >= 1 && y < 4 && x >= 1 && x < 5;
			double wanted = (double)((y - 1) * 4 + x - 1 + 1);

			cr_expect(op_at(&h, 0, SHAPE(y, x, 0)) == (is_inside ? wanted : 0));
			cr_expect(op_at(&h, 1, SHAPE(y, x)) == (is_inside ? wanted : 255));
		}
	}
	op_end(&h);
}

/* One side padded, the other cropped. */
Test(ops_center_crop, narrow_and_high)
{
	struct op_harness h;

	begin(&h, 9, 2, "[4, 4]");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0, 0)) == 0 && op_at(&h, 0, SHAPE(0, 1, 0)) == 2 * 2 + 1);
	op_end(&h);
}

Test(ops_center_crop, is_a_view_when_nothing_is_added)
{
	struct op_harness h;

	begin(&h, 10, 12, "4");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->data == pixels + 3 * 12 + 4);
	cr_expect(op_value(&h, 0)->stride[0] == 12);
	cr_expect(op_type(&h, 0)->shape[0] == 4 && op_type(&h, 0)->shape[1] == 4);
	op_end(&h);
}
