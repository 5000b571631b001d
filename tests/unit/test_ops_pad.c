/* tests/unit/test_ops_pad.c - sizes, multiples and fills of `pad`. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_pad;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static const unsigned char pixels[4] = {1, 2, 3, 4};

static void begin(struct op_harness *h)
{
	op_begin(h, &pl_op_pad);
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(2, 2, 1), pixels);
	op_field(h, "mask", PL_KIND_MASK, PL_U8, 2, SHAPE(2, 2), pixels);
}

Test(ops_pad, at_the_right_and_bottom)
{
	const float box[4] = {0, 1, 2, 2};
	struct op_harness h;

	begin(&h);
	op_set(&h, "size", "[3, 4]");
	op_field(&h, "boxes", PL_KIND_BOXES, PL_F32, 2, SHAPE(1, 4), box);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(memcmp(op_value(&h, 0)->data, "\1\2\0\0\3\4\0\0\0\0\0\0", 12) == 0);
	cr_expect(
		memcmp(op_value(&h, 1)->data, "\1\2\xff\xff\3\4\xff\xff\xff\xff\xff\xff", 12) == 0);
	cr_expect(memcmp(op_value(&h, 2)->data, box, sizeof(box)) == 0);
	op_end(&h);
}

Test(ops_pad, to_a_multiple)
{
	struct op_harness h;

	begin(&h);
	op_set(&h, "to_multiple", "32");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 32 && op_value(&h, 0)->shape[1] == 32);
	cr_expect(op_type(&h, 0)->shape[0] == 32);
	op_set(&h, "size", "[5, 33]");
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	op_end(&h);
	begin(&h);
	op_set(&h, "to_multiple", "32");
	h.type[0].shape[0] = h.type[1].shape[0] = -1;
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->shape[0] == -1 && op_type(&h, 0)->shape[1] == 32);
	op_end(&h);
}

Test(ops_pad, errors)
{
	struct op_harness h;

	begin(&h);
	op_expect_error(&h, op_load(&h), "size or to_multiple is needed");
	op_set(&h, "size", "1");
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h),
		"the picture is 2x2 (width x height), larger than the padded size 1x1 (resize or "
		"crop before)");
	op_end(&h);
}
