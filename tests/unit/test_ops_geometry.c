/* tests/unit/test_ops_geometry.c - one draw for all fields of a sample; boxes and points follow
 * their picture. */
#include <math.h>

#include "daemon/ops/geometry.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_random_crop;
extern const struct pl_op pl_op_random_resized_crop;
extern const struct pl_op pl_op_random_flip;
extern const struct pl_op pl_op_resize;
extern const struct pl_op pl_op_pad;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* An image whose pixel says where it is: row, column, 7; and a mask that says 16 * row + column. */
static unsigned char image[12 * 14 * 3];
static unsigned char mask[12 * 14];

static void paint(void)
{
	for (int y = 0; y < 12; y++) {
		for (int x = 0; x < 14; x++) {
			const unsigned char pixel[3] = {(unsigned char)y, (unsigned char)x, 7};

			memcpy(image + (y * 14 + x) * 3, pixel, 3);
			mask[y * 14 + x] = (unsigned char)(16 * y + x);
		}
	}
}

static void begin(struct op_harness *h, const struct pl_op *op)
{
	paint();
	op_begin(h, op);
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(12, 14, 3), image);
	op_field(h, "mask", PL_KIND_MASK, PL_U8, 2, SHAPE(12, 14), mask);
}

static float coordinate(const struct op_harness *h, int i, int64_t row, int64_t column)
{
	return (float)op_at(h, i, SHAPE(row, column));
}

Test(ops_geometry, image_and_mask_get_the_same_window)
{
	struct op_harness h;

	begin(&h, &pl_op_random_crop);
	op_set(&h, "size", "[5, 6]");
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 50; h.key.index++) {
		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		for (int64_t y = 0; y < 5; y++)
			for (int64_t x = 0; x < 6; x++)
				cr_assert(op_at(&h, 1, SHAPE(y, x)) ==
					  16 * op_at(&h, 0, SHAPE(y, x, 0)) +
						  op_at(&h, 0, SHAPE(y, x, 1)));
	}
	op_end(&h);
}

Test(ops_geometry, a_draw_depends_on_the_sample_alone)
{
	struct op_harness h;
	unsigned char first[5 * 6];
	int n_equal = 0;

	begin(&h, &pl_op_random_resized_crop);
	op_set(&h, "size", "[5, 6]");
	cr_assert(op_load(&h) == 0);
	cr_assert(op_run(&h) == 0);
	memcpy(first, op_value(&h, 1)->data, sizeof(first));
	cr_assert(op_run(&h) == 0);
	cr_expect(memcmp(first, op_value(&h, 1)->data, sizeof(first)) == 0);
	for (h.key.index = 1; h.key.index < 20; h.key.index++) {
		cr_assert(op_run(&h) == 0);
		n_equal += memcmp(first, op_value(&h, 1)->data, sizeof(first)) == 0;
	}
	cr_expect(n_equal < 3);
	op_end(&h);
}

Test(ops_geometry, boxes_and_points_are_moved_scaled_and_limited)
{
	const float boxes[2][4] = {{2, 3, 8, 9}, {-4, 0, 20, 12}};
	const float points[2][2] = {{7, 6}, {NAN, 100}};
	struct op_harness h;

	begin(&h, &pl_op_resize);
	op_set(&h, "size", "[24, 7]");
	op_field(&h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(2, 4), boxes);
	op_field(&h, "points", PL_KIND_POINTS, PL_F32, 2, SHAPE(2, 2), points);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(coordinate(&h, 2, 0, 0) == 1 && coordinate(&h, 2, 0, 1) == 6);
	cr_expect(coordinate(&h, 2, 0, 2) == 4 && coordinate(&h, 2, 0, 3) == 18);
	cr_expect(coordinate(&h, 2, 1, 0) == 0 && coordinate(&h, 2, 1, 2) == 7);
	cr_expect(coordinate(&h, 3, 0, 0) == 3.5f && coordinate(&h, 3, 0, 1) == 12);
	cr_expect(coordinate(&h, 3, 1, 0) != coordinate(&h, 3, 1, 0), "NaN stays");
	cr_expect(coordinate(&h, 3, 1, 1) == 24);
	op_end(&h);
}

Test(ops_geometry, a_flip_keeps_the_corners_in_order)
{
	const float boxes[1][4] = {{2, 3, 8, 9}};
	const float points[1][2] = {{1, 4}};
	struct op_harness h;

	begin(&h, &pl_op_random_flip);
	op_field(&h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(1, 4), boxes);
	op_field(&h, "points", PL_KIND_POINTS, PL_F32, 2, SHAPE(1, 2), points);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(coordinate(&h, 2, 0, 0) == 6 && coordinate(&h, 2, 0, 2) == 12);
	cr_expect(coordinate(&h, 2, 0, 1) == 3 && coordinate(&h, 2, 0, 3) == 9);
	cr_expect(coordinate(&h, 3, 0, 0) == 13 && coordinate(&h, 3, 0, 1) == 4);
	op_end(&h);
}

/* The box of a crop follows the pixels: it is found again at the mask's pixels. */
Test(ops_geometry, boxes_follow_a_crop)
{
	const float boxes[1][4] = {{0, 0, 14, 12}};
	const float points[1][2] = {{5.5f, 6.5f}};
	struct op_harness h;

	begin(&h, &pl_op_random_crop);
	op_set(&h, "size", "[9, 10]");
	op_field(&h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(1, 4), boxes);
	op_field(&h, "points", PL_KIND_POINTS, PL_F32, 2, SHAPE(1, 2), points);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 20; h.key.index++) {
		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		cr_expect(op_at(&h, 1,
				  SHAPE((int64_t)coordinate(&h, 3, 0, 1),
					  (int64_t)coordinate(&h, 3, 0, 0))) == 16 * 6 + 5);
		cr_expect(coordinate(&h, 2, 0, 2) == 10 && coordinate(&h, 2, 0, 3) == 9);
	}
	op_end(&h);
}

Test(ops_geometry, no_boxes_at_all)
{
	struct op_harness h;

	begin(&h, &pl_op_random_flip);
	op_field(&h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(0, 4), NULL);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 2)->shape[0] == 0 && op_value(&h, 2)->shape[1] == 4);
	op_end(&h);
}

Test(ops_geometry, boxes_of_pictures_of_two_sizes)
{
	const float boxes[1][4] = {{0, 0, 14, 12}};
	struct op_harness h;

	begin(&h, &pl_op_random_flip);
	op_field(&h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(1, 4), boxes);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	h.given[1].shape[0] = 11;
	op_expect_error(&h, op_run(&h), "pictures of two sizes, 14x12 and 14x11");
	op_end(&h);
}

/* With `draw: each` a step runs once a field, and the boxes are alone. */
Test(ops_geometry, boxes_without_their_picture)
{
	const float boxes[1][4] = {{0, 0, 14, 12}};
	struct op_harness h;

	begin(&h, &pl_op_random_flip);
	op_field(&h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(1, 4), boxes);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	h.given[0] = h.given[2];
	h.in[0] = h.in[2];
	h.out[0] = h.out[2];
	h.n = 1;
	op_expect_error(&h, op_run(&h), "name it in field: beside them");
	op_end(&h);
}

/* Values that aren't contiguous, as after another crop, and video frames. */
Test(ops_geometry, strided_values_and_video)
{
	struct op_harness h;

	paint();
	op_begin(&h, &pl_op_random_flip);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(5, 6, 3), image);
	op_field(&h, "video", PL_KIND_VIDEO, PL_U8, 4, SHAPE(2, 3, 14, 3), image);
	op_field(&h, "swapped", PL_KIND_IMAGE, PL_U8, 3, SHAPE(14, 12, 3), image);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	h.given[0].stride[0] = 14 * 3;
	h.given[1].stride[0] = 6 * 14 * 3;
	h.given[2].stride[0] = 3;
	h.given[2].stride[1] = 14 * 3;
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(4, 0, 0)) == 4 && op_at(&h, 0, SHAPE(4, 0, 1)) == 5);
	cr_expect(op_at(&h, 1, SHAPE(1, 2, 13, 0)) == 8 && op_at(&h, 1, SHAPE(1, 2, 13, 1)) == 0);
	cr_expect(op_at(&h, 2, SHAPE(13, 0, 0)) == 11 && op_at(&h, 2, SHAPE(13, 0, 1)) == 13);
	op_end(&h);
}

Test(ops_geometry, a_value_without_pixels)
{
	struct op_harness h;

	op_begin(&h, &pl_op_random_flip);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(0, 6, 3), NULL);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	op_expect_error(&h, op_run(&h), "the image is empty");
	op_end(&h);
}

/* The last step of a pipeline writes into the batch's row, also when it could have been a view. */
Test(ops_geometry, a_crop_writes_the_row)
{
	unsigned char row[12 * 14 * 3];
	struct op_harness h;

	begin(&h, &pl_op_random_crop);
	op_set(&h, "size", "[12, 14]");
	h.n = 1;
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	cr_assert(pl_tensor_init(&h.sample.row[0], row, PL_U8, 3, SHAPE(12, 14, 3)) == 0);
	h.writes_row[0] = true;
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->data == row);
	cr_expect(memcmp(row, image, sizeof(row)) == 0);
	op_end(&h);
}

Test(ops_geometry, rounding_of_halves)
{
	cr_expect(pl_round_half_even(0.5) == 0 && pl_round_half_even(1.5) == 2);
	cr_expect(pl_round_half_even(2.5) == 2 && pl_round_half_even(2.51) == 3);
	cr_expect(pl_round_half_even(3) == 3 && pl_round_half_even(2.49) == 2);
}
