/* tests/unit/test_ops_filter_boxes.c - which boxes stay, and that their rows stay together. */
#include <math.h>

#include "daemon/ops/geometry.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_filter_boxes;
extern const struct pl_op pl_op_random_crop;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static const float boxes[5][4] = {
	{0, 0, 10, 10}, {5, 5, 5.5f, 20}, {3, 3, 3, 3}, {1, 2, NAN, 9}, {20, 20, 22, 21}};
static const int64_t classes[5] = {10, 11, 12, 13, 14};
static const unsigned char masks[5][2][2] = {{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}, {{8, 9}, {9, 9}},
	{{9, 9}, {9, 9}}, {{40, 41}, {42, 43}}};

static void begin(struct op_harness *h, const char *min_size)
{
	op_begin(h, &pl_op_filter_boxes);
	op_set(h, "min_size", min_size);
	op_field(h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(5, 4), boxes);
	op_field(h, "category", PL_KIND_TENSOR, PL_I64, 1, SHAPE(5), classes);
	op_also(h);
	op_field(h, "masks", PL_KIND_MASK, PL_U8, 3, SHAPE(5, 2, 2), masks);
	op_also(h);
	for (int i = 0; i < 3; i++)
		h->type[i].link = 7;
}

Test(ops_filter_boxes, small_ones_go_with_their_rows)
{
	struct op_harness h;

	begin(&h, "1");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	for (int i = 0; i < 3; i++)
		cr_expect(op_value(&h, i)->shape[0] == 2 && op_type(&h, i)->shape[0] == -1);
	cr_expect(op_at(&h, 0, SHAPE(0, 2)) == 10 && op_at(&h, 0, SHAPE(1, 0)) == 20);
	cr_expect(op_at(&h, 1, SHAPE(0)) == 10 && op_at(&h, 1, SHAPE(1)) == 14);
	cr_expect(op_at(&h, 2, SHAPE(0, 1, 1)) == 3 && op_at(&h, 2, SHAPE(1, 1, 0)) == 42);
	op_end(&h);
	begin(&h, "0");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 1)->shape[0] == 4, "only the NaN goes");
	cr_expect(op_at(&h, 1, SHAPE(3)) == 14);
	op_end(&h);
}

Test(ops_filter_boxes, nothing_left)
{
	struct op_harness h;

	begin(&h, "100");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 0 && op_value(&h, 2)->shape[0] == 0);
	op_set(&h, "keep_empty", "false");
	cr_expect(op_run(&h) == PL_OP_DROP);
	h.given[0].shape[0] = h.given[1].shape[0] = h.given[2].shape[0] = 0;
	cr_expect(op_run(&h) == PL_OP_DROP);
	op_set(&h, "keep_empty", "true");
	cr_expect(op_run(&h) == 0, "%s", h.err.text);
	op_end(&h);
}

Test(ops_filter_boxes, other_links_stay)
{
	struct op_harness h;

	begin(&h, "1");
	h.type[1].link = 8;
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 1)->shape[0] == 5 && op_value(&h, 2)->shape[0] == 2);
	op_end(&h);
}

Test(ops_filter_boxes, what_is_refused)
{
	struct op_harness h;

	begin(&h, "1");
	cr_assert(op_load(&h) == 0);
	h.given[1].shape[0] = 4;
	op_expect_error(&h, op_run(&h), "has 4 rows, but there are 5 boxes");
	h.type[1] = pl_type_scalar(PL_I64);
	op_expect_error(
		&h, op_load(&h), "field 'category' is linked with boxes, but is scalar i64");
	h.type[0].kind = PL_KIND_TENSOR;
	op_expect_error(&h, op_load(&h), "only boxes can be filtered (declare them by boxes:)");
	op_end(&h);
	op_begin(&h, &pl_op_filter_boxes);
	op_field(&h, "a", PL_KIND_BOXES, PL_F32, 2, SHAPE(5, 4), boxes);
	op_field(&h, "b", PL_KIND_BOXES, PL_F32, 2, SHAPE(5, 4), boxes);
	h.type[0].link = h.type[1].link = 3;
	op_expect_error(&h, op_load(&h), "'a' and 'b' are linked: name the one that decides");
	op_end(&h);
}

/* A crop of the left 10 columns: a box that loses three quarters of itself, one that loses a third,
 * and one that lies inside. */
Test(ops_filter_boxes, what_a_crop_has_left_of_a_box)
{
	static const float before[3][4] = {{8, 0, 16, 8}, {6, 2, 12, 4}, {1, 1, 4, 4}};
	static const char *const shares[] = {"0", "0.25", "0.26", "0.66", "0.67", "1"};
	static const int wanted[] = {3, 3, 2, 2, 1, 1};
	unsigned char image[20 * 20] = {0};

	for (size_t k = 0; k < PL_ARRAY_LEN(shares); k++) {
		struct op_harness crop, h;

		op_begin(&crop, &pl_op_random_crop);
		op_set(&crop, "size", "[20, 10]");
		op_field(&crop, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(20, 20, 1), image);
		op_field(&crop, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(3, 4), before);
		cr_assert(op_load(&crop) == 0, "%s", crop.err.text);
		do {
			cr_assert(crop.key.index++ < 1000);
			cr_assert(op_run(&crop) == 0, "%s", crop.err.text);
		} while (op_at(&crop, 1, SHAPE(2, 0)) != 1);
		op_begin(&h, &pl_op_filter_boxes);
		op_set(&h, "min_visible", shares[k]);
		op_field(&h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(3, 4), NULL);
		cr_assert(op_load(&h) == 0, "%s", h.err.text);
		crop.sample.value[0] = *op_value(&crop, 1);
		{
			struct pl_run r = {.sample = &crop.sample,
				.op = h.op,
				.params = h.params,
				.state = h.state,
				.in = h.in,
				.out = h.out,
				.n = 1,
				.n_own = 1,
				.err = &h.err};

			for (int again = 0; again < 2; again++) {
				cr_assert(h.op->run(&r) == 0, "%s", h.err.text);
				cr_expect(crop.sample.value[0].shape[0] == wanted[k],
					"min_visible %s, pass %d: %d boxes", shares[k], again,
					(int)crop.sample.value[0].shape[0]);
			}
		}
		op_end(&h);
		op_end(&crop);
	}
}
