/* tests/unit/test_ops_resize.c - sizes, filters and errors of `resize`. */
#include "tests/unit/golden.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_resize;
extern const struct pl_op pl_op_center_crop;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* The size that `resize: {key: value}` gives a picture, or the error's text in h->err. */
static int resized(
	struct op_harness *h, int64_t height, int64_t width, const char *key, const char *value)
{
	static unsigned char pixels[1 << 20];

	cr_assert(height * width <= (int64_t)sizeof(pixels));
	op_begin(h, &pl_op_resize);
	op_set(h, key, value);
	op_set(h, "filter", "nearest");
	op_field(h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(height, width, 1), pixels);
	return op_load(h) ? -1 : op_run(h);
}

static void expect_size(
	const char *key, const char *value, const int64_t *from, const int64_t *wanted)
{
	struct op_harness h;

	cr_assert(resized(&h, from[0], from[1], key, value) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == wanted[0] && op_value(&h, 0)->shape[1] == wanted[1],
		"%s: %s of %dx%d gives %dx%d", key, value, (int)from[0], (int)from[1],
		(int)op_value(&h, 0)->shape[0], (int)op_value(&h, 0)->shape[1]);
	for (int d = 0; d < 3; d++)
		cr_expect(
			op_type(&h, 0)->shape[d] == op_value(&h, 0)->shape[d], "announced at load");
	op_end(&h);
}

Test(ops_resize, sizes)
{
	expect_size("short", "256", SHAPE(375, 500), SHAPE(256, 341));
	expect_size("short", "224", SHAPE(427, 640), SHAPE(224, 335));
	expect_size("short", "10", SHAPE(20, 20), SHAPE(10, 10));
	expect_size("long", "100", SHAPE(375, 500), SHAPE(75, 100));
	expect_size("long", "10", SHAPE(1000, 2), SHAPE(10, 1));
	expect_size("size", "7", SHAPE(375, 500), SHAPE(7, 7));
	expect_size("size", "[3, 9]", SHAPE(375, 500), SHAPE(3, 9));
}

/* torchvision: the longer side would be 1066, so it becomes 1000 and the shorter int(1000 * 800 /
 * 1066). */
Test(ops_resize, max_long_limits_short)
{
	struct op_harness h;

	op_begin(&h, &pl_op_resize);
	op_set(&h, "short", "800");
	op_set(&h, "max_long", "1000");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(480, 640, 1), calloc(480, 640));
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 750 && op_value(&h, 0)->shape[1] == 1000);
	free(h.given[0].data);
	op_end(&h);
}

Test(ops_resize, a_list_is_drawn_from)
{
	struct op_harness h;
	int seen = 0;

	cr_assert(resized(&h, 64, 80, "short", "[16, 20, 32]") == 0);
	cr_expect(op_type(&h, 0)->shape[0] == -1 && op_type(&h, 0)->shape[1] == -1);
	for (h.key.index = 0; h.key.index < 60; h.key.index++) {
		int64_t height;

		cr_assert(op_run(&h) == 0);
		height = op_value(&h, 0)->shape[0];
		seen |= height == 16 ? 1 : height == 20 ? 2 : height == 32 ? 4 : 8;
	}
	cr_expect(seen == 7, "%d", seen);
	op_end(&h);
}

static void expect_load_error(const char *const *settings, const char *part)
{
	struct op_harness h;

	op_begin(&h, &pl_op_resize);
	for (; *settings; settings += 2)
		op_set(&h, settings[0], settings[1]);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(4, 4, 3), NULL);
	op_expect_error(&h, op_load(&h), part);
	op_end(&h);
}

Test(ops_resize, parameters_that_contradict_each_other)
{
	expect_load_error((const char *const[]){NULL}, "one of short, long and size is needed");
	expect_load_error((const char *const[]){"short", "3", "long", "4", NULL}, "only one of");
	expect_load_error(
		(const char *const[]){"long", "3", "max_long", "4", NULL}, "goes with short");
	expect_load_error((const char *const[]){"short", "[3, 9]", "max_long", "4", NULL},
		"max_long 4 is less than short 9");
}

Test(ops_resize, fields_it_does_not_take)
{
	struct op_harness h;

	op_begin(&h, &pl_op_resize);
	op_set(&h, "size", "4");
	op_field(&h, "data", PL_KIND_BYTES, PL_U8, 1, SHAPE(9), NULL);
	op_expect_error(&h, op_load(&h), "put decode_image before it");
	h.type[0] = (struct pl_type){
		.kind = PL_KIND_TENSOR, .dtype = PL_F32, .rank = 3, .shape = {3, 8, 8}};
	op_expect_error(&h, op_load(&h), "put it before the step that changed the layout");
	h.type[0] = (struct pl_type){
		.kind = PL_KIND_IMAGE, .dtype = PL_I32, .rank = 3, .shape = {8, 8, 3}};
	op_expect_error(&h, op_load(&h), "use cast: f32");
	h.type[0] = (struct pl_type){
		.kind = PL_KIND_BOXES, .dtype = PL_F32, .rank = 2, .shape = {-1, 4}};
	op_expect_error(&h, op_load(&h), "name the image in field: beside it");
	h.type[0] = (struct pl_type){
		.kind = PL_KIND_BOXES, .dtype = PL_I64, .rank = 2, .shape = {-1, 4}};
	op_expect_error(&h, op_load(&h), "coordinates must be f32");
	op_end(&h);
}

Test(ops_resize, a_side_that_is_too_long)
{
	struct op_harness h;

	op_expect_error(
		&h, resized(&h, 1000, 1, "short", "224"), "no side may be longer than 65535");
	op_end(&h);
	op_begin(&h, &pl_op_resize);
	op_set(&h, "short", "224");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1, 1000, 1), calloc(1000, 1));
	h.type[0].shape[0] = h.type[0].shape[1] = -1;
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), "224000x224 pixels");
	free(h.given[0].data);
	op_end(&h);
}

/* The sample's limit is noticed before memory is taken. */
Test(ops_resize, a_result_beyond_the_samples_limit)
{
	struct op_harness h;

	op_begin(&h, &pl_op_resize);
	op_set(&h, "size", "60000");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(2, 2, 3), "0123456789a");
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), "10800000000 bytes");
	cr_expect(h.scratch.taken < 1 << 20);
	op_end(&h);
}

/* Rows of tests/golden/images: u8 results equal Pillow's. */
Test(ops_resize, equals_pillow)
{
	struct golden_file index = golden_read("images/index.tsv");
	char *rest = index.data;
	char *line;
	int n = 0;

	while ((line = golden_line(&rest))) {
		const char *what = golden_field(&line);
		char name[256];
		const char *filter, *size;
		struct pl_tensor source, wanted;
		struct golden_file in, out;
		struct op_harness h;
		char sides[32];

		if (strcmp(what, "resize") != 0)
			continue;
		(void)snprintf(name, sizeof(name), "images/%s", golden_field(&line));
		in = golden_npy(name, &source);
		filter = golden_field(&line);
		size = golden_field(&line);
		(void)snprintf(name, sizeof(name), "images/%s", golden_field(&line));
		out = golden_npy(name, &wanted);
		(void)snprintf(sides, sizeof(sides), "[%.*s, %s]", (int)strcspn(size, "x"), size,
			strchr(size, 'x') + 1);
		op_begin(&h, &pl_op_resize);
		op_set(&h, "size", sides);
		op_set(&h, "filter", filter);
		op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, source.shape, source.data);
		cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
		cr_expect(golden_difference(op_value(&h, 0), &wanted) == 0, "%s %s", filter, size);
		op_end(&h);
		free(in.data);
		free(out.data);
		n++;
	}
	cr_expect(n == 30, "%d", n);
	free(index.data);
}
