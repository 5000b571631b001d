/* tests/unit/test_ops_random_resized_crop.c - the windows that are drawn, and parameters that are
 * refused. */
#include <math.h>

#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_random_resized_crop;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

enum { HEIGHT = 300, WIDTH = 400 };

/* u16 pixels that say their row and column, so that the window can be read off the corners. */
static uint16_t pixels[HEIGHT * WIDTH * 2];

static void begin(struct op_harness *h, int64_t height, int64_t width)
{
	for (int64_t y = 0; y < height; y++) {
		for (int64_t x = 0; x < width; x++) {
			pixels[(y * width + x) * 2] = (uint16_t)y;
			pixels[(y * width + x) * 2 + 1] = (uint16_t)x;
		}
	}
	op_begin(h, &pl_op_random_resized_crop);
	op_set(h, "size", "[200, 200]");
	op_set(h, "filter", "nearest");
	op_field(h, "image", PL_KIND_IMAGE, PL_U16, 3, SHAPE(height, width, 2), pixels);
}

/* Height and width of the window, from nearest pixels: exact to a pixel or two. */
static void window_size(const struct op_harness *h, double *height, double *width)
{
	*height = (op_at(h, 0, SHAPE(199, 0, 0)) - op_at(h, 0, SHAPE(0, 0, 0))) * 200 / 199;
	*width = (op_at(h, 0, SHAPE(0, 199, 1)) - op_at(h, 0, SHAPE(0, 0, 1))) * 200 / 199;
}

Test(ops_random_resized_crop, areas_and_ratios)
{
	struct op_harness h;
	double smallest = 1, largest = 0, narrowest = 9, widest = 0;

	begin(&h, HEIGHT, WIDTH);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->shape[0] == 200 && op_type(&h, 0)->shape[2] == 2);
	for (h.key.index = 0; h.key.index < 2000; h.key.index++) {
		double height, width;

		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		window_size(&h, &height, &width);
		smallest = fmin(smallest, height * width / (HEIGHT * WIDTH));
		largest = fmax(largest, height * width / (HEIGHT * WIDTH));
		narrowest = fmin(narrowest, width / height);
		widest = fmax(widest, width / height);
	}
	cr_expect(smallest > 0.07 && smallest < 0.1, "%g", smallest);
	cr_expect(largest > 0.93 && largest < 1.02, "%g", largest);
	cr_expect(narrowest > 0.72 && narrowest < 0.78, "%g", narrowest);
	cr_expect(widest > 1.3 && widest < 1.39, "%g", widest);
	op_end(&h);
}

/* No drawn window fits into a strip: then it is the middle, as large as the ratio allows. */
Test(ops_random_resized_crop, the_middle_when_nothing_fits)
{
	struct op_harness h;
	double height, width;

	begin(&h, 20, 400);
	op_set(&h, "scale", "1");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	window_size(&h, &height, &width);
	cr_expect(fabs(height - 20) < 2 && fabs(width - 27) < 2, "%g %g", height, width);
	cr_expect(op_at(&h, 0, SHAPE(0, 0, 1)) == (400 - 27) / 2);
	op_end(&h);
	begin(&h, 400, 20);
	op_set(&h, "scale", "1");
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0, 0)) == (400 - 27) / 2);
	op_end(&h);
}

Test(ops_random_resized_crop, one_pixel)
{
	struct op_harness h;

	begin(&h, 1, 1);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 200);
	op_end(&h);
}

Test(ops_random_resized_crop, ranges_that_are_refused)
{
	struct op_harness h;

	begin(&h, 8, 8);
	op_set(&h, "scale", "[0, 1]");
	op_expect_error(&h, op_load(&h), "scale: [0, 1] is not a range of numbers greater than 0");
	op_set(&h, "scale", "[0.5, 0.1]");
	op_expect_error(&h, op_load(&h), "scale:");
	op_set(&h, "scale", "[0.1, 1]");
	op_set(&h, "ratio", "[-1, 1]");
	op_expect_error(&h, op_load(&h), "ratio:");
	op_end(&h);
}
