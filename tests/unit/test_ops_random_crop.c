/* tests/unit/test_ops_random_crop.c - places, padding and errors of `random_crop`. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_random_crop;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static unsigned char pixels[8 * 9];

static void begin(struct op_harness *h, const char *size)
{
	for (int i = 0; i < 8 * 9; i++)
		pixels[i] = (unsigned char)(i + 1);
	op_begin(h, &pl_op_random_crop);
	op_set(h, "size", size);
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(8, 9, 1), pixels);
	op_field(h, "mask", PL_KIND_MASK, PL_U8, 2, SHAPE(8, 9), pixels);
}

Test(ops_random_crop, every_place_occurs)
{
	struct op_harness h;
	int seen[16] = {0};

	begin(&h, "[5, 6]");
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->shape[0] == 5 && op_type(&h, 0)->shape[1] == 6);
	for (h.key.index = 0; h.key.index < 800; h.key.index++) {
		int first;

		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		first = (int)op_at(&h, 0, SHAPE(0, 0, 0)) - 1;
		cr_assert(first / 9 <= 3 && first % 9 <= 3);
		seen[first / 9 * 4 + first % 9]++;
	}
	for (int k = 0; k < 16; k++)
		cr_expect(seen[k] > 20 && seen[k] < 90, "place %d: %d of 800", k, seen[k]);
	op_end(&h);
}

Test(ops_random_crop, too_small_a_picture)
{
	struct op_harness h;

	begin(&h, "[5, 10]");
	op_expect_error(&h, op_load(&h), "field 'image' is 9x8");
	h.type[0].shape[1] = h.type[1].shape[1] = -1;
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h),
		"the picture is 9x8 (width x height), smaller than the crop of 10x5 (set "
		"pad_if_needed: true");
	op_end(&h);
}

Test(ops_random_crop, padding)
{
	struct op_harness h;
	bool is_moving = false;
	double first = -1;

	begin(&h, "[12, 6]");
	op_set(&h, "pad_if_needed", "true");
	op_set(&h, "fill", "{image: 99, mask: 7}");
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 30; h.key.index++) {
		int n_image = 0;
		int n_mask = 0;

		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		for (int64_t y = 0; y < 12; y++) {
			n_image += op_at(&h, 0, SHAPE(y, 0, 0)) == 99 &&
				   op_at(&h, 0, SHAPE(y, 5, 0)) == 99;
			n_mask += op_at(&h, 1, SHAPE(y, 0)) == 7 && op_at(&h, 1, SHAPE(y, 5)) == 7;
		}
		cr_expect(n_image == 4 && n_mask == 4, "%d %d", n_image, n_mask);
		is_moving |= first >= 0 && op_at(&h, 0, SHAPE(4, 0, 0)) != first;
		first = op_at(&h, 0, SHAPE(4, 0, 0));
	}
	cr_expect(is_moving);
	op_end(&h);
}

Test(ops_random_crop, fills_that_are_refused)
{
	struct op_harness h;

	begin(&h, "4");
	op_set(&h, "fill", "{image: 256}");
	op_expect_error(&h, op_load(&h), "fill: 256 does not fit field 'image' of u8");
	op_end(&h);
	begin(&h, "4");
	op_set(&h, "fill", "{masks: 0}");
	op_expect_error(
		&h, op_load(&h), "fill: unknown kind 'masks' (image, also for video, or mask)");
	op_end(&h);
	begin(&h, "4");
	op_set(&h, "fill", "{image: -0.5}");
	h.type[0].dtype = PL_F32;
	cr_expect(op_load(&h) == 0, "%s", h.err.text);
	op_end(&h);
}

/* The window overlaps the box by at least the threshold: its intersection over union, recomputed
 * from where the crop has moved the box to. */
static double overlap_of(const struct op_harness *h)
{
	double width = op_at(h, 1, SHAPE(0, 2)) - op_at(h, 1, SHAPE(0, 0));
	double height = op_at(h, 1, SHAPE(0, 3)) - op_at(h, 1, SHAPE(0, 1));

	return width * height / (12 * 12 + 10 * 10 - width * height);
}

static void begin_overlapping(struct op_harness *h, const char *min_iou, const float *box)
{
	static unsigned char image[60 * 60];

	op_begin(h, &pl_op_random_crop);
	op_set(h, "size", "12");
	op_set(h, "min_iou", min_iou);
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(60, 60, 1), image);
	op_field(h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(1, 4), box);
}

Test(ops_random_crop, windows_overlap_a_box)
{
	static const float box[1][4] = {{25, 30, 35, 40}};
	struct op_harness h;
	int n_wanted = 0;
	int n_any = 0;

	begin_overlapping(&h, "0.2", box[0]);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 200; h.key.index++) {
		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		n_wanted += overlap_of(&h) >= 0.2;
	}
	op_end(&h);
	begin_overlapping(&h, "0", box[0]);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 200; h.key.index++) {
		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		n_any += overlap_of(&h) >= 0.2;
	}
	op_end(&h);
	cr_expect(n_wanted > 180, "%d of 200 with min_iou", n_wanted);
	cr_expect(n_any < 40, "%d of 200 without", n_any);
}

/* All thresholds of the list are drawn: with 0 among them some windows overlap nothing. */
Test(ops_random_crop, one_of_the_thresholds_is_drawn)
{
	static const float box[1][4] = {{25, 30, 35, 40}};
	struct op_harness h;
	int n_wanted = 0;

	begin_overlapping(&h, "[0, 0.2]", box[0]);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 200; h.key.index++) {
		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		n_wanted += overlap_of(&h) >= 0.2;
	}
	op_end(&h);
	cr_expect(n_wanted > 80 && n_wanted < 145, "%d of 200", n_wanted);
}

Test(ops_random_crop, overlap_that_nothing_reaches)
{
	static const float box[1][4] = {{0, 0, 2, 2}};
	struct op_harness h;

	begin_overlapping(&h, "0.9", box[0]);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	h.given[1].shape[0] = 0;
	cr_assert(op_run(&h) == 0, "without a box any place will do: %s", h.err.text);
	h.n = h.n_own = 1;
	op_expect_error(&h, op_load(&h), "min_iou needs boxes beside the image");
	op_end(&h);
}
