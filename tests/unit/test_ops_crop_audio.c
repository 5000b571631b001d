/* tests/unit/test_ops_crop_audio.c - places, padding and errors of `crop_audio`. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_crop_audio;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static float frames[10][2];

static void begin(struct op_harness *h, const char *length, const char *start)
{
	for (int i = 0; i < 10; i++)
		frames[i][0] = frames[i][1] = (float)(i + 1);
	op_begin(h, &pl_op_crop_audio);
	op_set(h, "length", length);
	op_set(h, "start", start);
	op_field(h, "audio", PL_KIND_AUDIO, PL_F32, 2, SHAPE(10, 2), frames);
	h->type[0].shape[0] = -1;
}

Test(ops_crop_audio, every_place_occurs)
{
	struct op_harness h;
	int seen[6] = {0};

	begin(&h, "5", "random");
	op_field(&h, "other", PL_KIND_AUDIO, PL_F32, 2, SHAPE(10, 2), frames);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->shape[0] == 5 && op_type(&h, 0)->shape[1] == 2);
	for (h.key.index = 0; h.key.index < 600; h.key.index++) {
		int first;

		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		first = (int)op_at(&h, 0, SHAPE(0, 0)) - 1;
		cr_assert(first >= 0 && first <= 5 && op_at(&h, 0, SHAPE(4, 1)) == first + 5);
		cr_assert(op_at(&h, 1, SHAPE(0, 0)) == first + 1, "one draw for all fields");
		seen[first]++;
	}
	for (int k = 0; k < 6; k++)
		cr_expect(seen[k] > 60 && seen[k] < 150, "place %d: %d of 600", k, seen[k]);
	op_end(&h);
}

Test(ops_crop_audio, silence_behind_a_short_sound)
{
	struct op_harness h;

	begin(&h, "12", "random");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 12);
	cr_expect(op_at(&h, 0, SHAPE(0, 0)) == 1 && op_at(&h, 0, SHAPE(9, 1)) == 10);
	cr_expect(op_at(&h, 0, SHAPE(10, 0)) == 0 && op_at(&h, 0, SHAPE(11, 1)) == 0);
	op_end(&h);
	begin(&h, "4", "8");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0)) == 9 && op_at(&h, 0, SHAPE(1, 0)) == 10);
	cr_expect(op_at(&h, 0, SHAPE(2, 0)) == 0 && op_at(&h, 0, SHAPE(3, 0)) == 0);
	h.given[0].shape[0] = 8;
	cr_assert(
		op_run(&h) == 0 && op_at(&h, 0, SHAPE(0, 0)) == 0, "it ends where the part begins");
	op_end(&h);
}

Test(ops_crop_audio, what_is_refused)
{
	struct op_harness h;

	begin(&h, "12", "random");
	op_set(&h, "pad", "false");
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h),
		"the sound has 10 frames, too few for 12 from frame 0 on (set "
		"pad: true)");
	h.type[0].shape[0] = 10;
	op_expect_error(&h, op_load(&h), "field 'audio' has 10 frames, fewer than length: 12");
	h.type[0] = pl_type_bytes(PL_KIND_BYTES);
	op_expect_error(&h, op_load(&h), "put decode_audio before it");
	op_end(&h);
	begin(&h, "4", "11");
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), "the sound has 10 frames, too few for 4 from frame 11 on");
	op_end(&h);
}
