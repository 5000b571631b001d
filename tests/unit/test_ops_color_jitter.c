/* tests/unit/test_ops_color_jitter.c - ranges, draws, fields and errors of `color_jitter` and the
 * other colour steps. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_color_jitter;
extern const struct pl_op pl_op_grayscale;
extern const struct pl_op pl_op_solarize;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static void expect_load_error(const char *key, const char *value, const char *part)
{
	struct op_harness h;

	op_begin(&h, &pl_op_color_jitter);
	op_set(&h, key, value);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(4, 4, 3), NULL);
	op_expect_error(&h, op_load(&h), part);
	op_end(&h);
}

Test(ops_color_jitter, amounts_that_are_refused)
{
	expect_load_error("brightness", "[0.5, 0.6, 0.7]", "not 3 numbers");
	expect_load_error("contrast", "[0.7, 0.6]", "contrast: [0.7, 0.6]");
	expect_load_error("hue", "-0.1", "hue: -0.1 is less than 0");
}

static void expect_type_error(struct pl_type type, const struct pl_op *op, const char *part)
{
	struct op_harness h;

	op_begin(&h, op);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(4, 4, 3), NULL);
	h.type[0] = type;
	op_expect_error(&h, op_load(&h), part);
	op_end(&h);
}

Test(ops_color_jitter, fields_that_are_refused)
{
	expect_type_error(
		(struct pl_type){.kind = PL_KIND_BYTES, .dtype = PL_U8, .rank = 1, .shape = {-1}},
		&pl_op_color_jitter, "put decode_image before it");
	expect_type_error(
		(struct pl_type){
			.kind = PL_KIND_TENSOR, .dtype = PL_F32, .rank = 3, .shape = {3, 8, 8}},
		&pl_op_color_jitter, "put it before the step that changed the layout");
	expect_type_error(
		(struct pl_type){
			.kind = PL_KIND_IMAGE, .dtype = PL_U16, .rank = 3, .shape = {8, 8, 3}},
		&pl_op_solarize, "set depth: 8 in decode_image, or use cast");
	expect_type_error(
		(struct pl_type){
			.kind = PL_KIND_IMAGE, .dtype = PL_U8, .rank = 3, .shape = {8, 8, 5}},
		&pl_op_grayscale, "1 to 4 channels");
	expect_type_error(
		(struct pl_type){
			.kind = PL_KIND_IMAGE, .dtype = PL_U8, .rank = 3, .shape = {8, 8, 4}},
		&pl_op_grayscale, "field 'image' has 4 channels: grayscale makes 3");
}

Test(ops_color_jitter, channels_found_at_run_time)
{
	unsigned char pixels[4 * 4 * 5] = {0};
	struct op_harness h;

	op_begin(&h, &pl_op_color_jitter);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(4, 4, 5), pixels);
	h.type[0].shape[2] = -1;
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	op_expect_error(&h, op_run(&h), "the picture has 5 channels");
	op_end(&h);
	op_begin(&h, &pl_op_grayscale);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(4, 4, 2), pixels);
	h.type[0].shape[2] = -1;
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->shape[2] == 3);
	op_expect_error(&h, op_run(&h), "the picture has 2 channels: grayscale makes 3");
	op_end(&h);
}

/* A white picture shows the factor: it reaches all of [0.6, 1], and 1.0 to 1.4 stay white. */
Test(ops_color_jitter, a_number_is_a_range_around_one)
{
	unsigned char white[3] = {250, 250, 250};
	struct op_harness h;
	double lowest = 255;
	int n_white = 0;

	op_begin(&h, &pl_op_color_jitter);
	op_set(&h, "brightness", "0.4");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1, 1, 3), white);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 400; h.key.index++) {
		double v;

		cr_assert(op_run(&h) == 0);
		v = op_at(&h, 0, SHAPE(0, 0, 0));
		cr_assert(v >= 150);
		lowest = v < lowest ? v : lowest;
		n_white += v >= 250;
	}
	cr_expect(lowest < 154, "%g", lowest);
	cr_expect(n_white > 160 && n_white < 240, "%d", n_white);
	op_end(&h);
}

/* More than 1 is 0 to 1 + a: a factor is never negative. */
Test(ops_color_jitter, no_factor_is_negative)
{
	unsigned char pixel[3] = {10, 20, 30};
	struct op_harness h;

	op_begin(&h, &pl_op_color_jitter);
	op_set(&h, "saturation", "5");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1, 1, 3), pixel);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 100; h.key.index++) {
		cr_assert(op_run(&h) == 0);
		cr_assert(op_at(&h, 0, SHAPE(0, 0, 0)) <= op_at(&h, 0, SHAPE(0, 0, 2)));
	}
	op_end(&h);
}

/* All fields of a step get one draw; alpha stays; the input is not written to. */
Test(ops_color_jitter, one_draw_for_all_fields)
{
	static const unsigned char rgb[2 * 3] = {10, 100, 200, 90, 90, 10};
	static const unsigned char rgba[2 * 4] = {10, 100, 200, 7, 90, 90, 10, 99};
	struct op_harness h;
	bool is_changed = false;

	op_begin(&h, &pl_op_color_jitter);
	op_set(&h, "brightness", "0.9");
	op_set(&h, "contrast", "0.9");
	op_set(&h, "hue", "0.4");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1, 2, 3), rgb);
	op_field(&h, "other", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1, 2, 4), rgba);
	op_field(&h, "video", PL_KIND_VIDEO, PL_U8, 4, SHAPE(1, 1, 2, 3), rgb);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 50; h.key.index++) {
		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		for (int64_t x = 0; x < 2; x++) {
			for (int64_t c = 0; c < 3; c++) {
				double v = op_at(&h, 0, SHAPE(0, x, c));

				cr_assert(v == op_at(&h, 1, SHAPE(0, x, c)));
				cr_assert(v == op_at(&h, 2, SHAPE(0, 0, x, c)));
				is_changed |= v != rgb[x * 3 + c];
			}
			cr_assert(op_at(&h, 1, SHAPE(0, x, 3)) == rgba[x * 4 + 3]);
		}
	}
	cr_expect(is_changed);
	op_end(&h);
}

Test(ops_color_jitter, frames_of_a_video_have_their_own_contrast)
{
	static const unsigned char video[2][2] = {{0, 100}, {100, 200}};
	struct op_harness h;

	op_begin(&h, &pl_op_color_jitter);
	op_set(&h, "contrast", "[0, 0]");
	op_field(&h, "video", PL_KIND_VIDEO, PL_U8, 4, SHAPE(2, 1, 2, 1), video);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0, 0, 0)) == 50 && op_at(&h, 0, SHAPE(0, 0, 1, 0)) == 50);
	cr_expect(op_at(&h, 0, SHAPE(1, 0, 0, 0)) == 150 && op_at(&h, 0, SHAPE(1, 0, 1, 0)) == 150);
	op_end(&h);
}

Test(ops_color_jitter, solarize_of_f32_and_alpha)
{
	static const float values[4] = {127.5f, 128, 255, 255};
	struct op_harness h;

	op_begin(&h, &pl_op_solarize);
	op_field(&h, "image", PL_KIND_IMAGE, PL_F32, 3, SHAPE(1, 1, 4), values);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0, 0)) == 127.5 && op_at(&h, 0, SHAPE(0, 0, 1)) == 127);
	cr_expect(op_at(&h, 0, SHAPE(0, 0, 2)) == 0 && op_at(&h, 0, SHAPE(0, 0, 3)) == 255);
	op_end(&h);
}

Test(ops_color_jitter, grayscale_of_strided_f32)
{
	static const float values[2][4] = {{65536, 0, 0, 1}, {0, 65536, 0, 1}};
	struct op_harness h;

	op_begin(&h, &pl_op_grayscale);
	op_field(&h, "image", PL_KIND_IMAGE, PL_F32, 3, SHAPE(2, 1, 3), values);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	h.given[0].stride[0] = 4 * sizeof(float);
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0, 0)) == 19595 && op_at(&h, 0, SHAPE(0, 0, 2)) == 19595);
	cr_expect(op_at(&h, 0, SHAPE(1, 0, 0)) == 38470 && op_at(&h, 0, SHAPE(1, 0, 1)) == 38470);
	op_end(&h);
}
