/* tests/unit/test_ops_colours.c - colour steps give the values of tests/golden/colours, which
 * torchvision made. */
#include <math.h>

#include "daemon/ops/jitter.h"
#include "tests/unit/golden.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_color_jitter;
extern const struct pl_op pl_op_gaussian_blur;
extern const struct pl_op pl_op_grayscale;
extern const struct pl_op pl_op_solarize;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* One row of the index: the source is decoded into `in`, grey as [h, w, 1]. */
struct row {
	const char *what;
	const char *argument;
	struct pl_tensor in;
	struct pl_tensor wanted;
};

static const char *const jitters[] = {"brightness", "contrast", "saturation", "hue", NULL};

static struct golden_file load(const char *name, struct pl_tensor *t)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "colours/%s", name);
	return golden_npy(path, t);
}

static void for_every_row(int n_wanted, int (*check)(const struct row *row))
{
	struct golden_file index = golden_read("colours/index.tsv");
	char *rest = index.data;
	char *line;
	int n = 0;

	while ((line = golden_line(&rest))) {
		struct row row = {.what = golden_field(&line)};
		const char *source = golden_field(&line);
		char name[128];
		struct golden_file in, wanted;

		if (strcmp(row.what, "what") == 0)
			continue;
		row.argument = golden_field(&line);
		(void)snprintf(name, sizeof(name), "%s.npy", source);
		in = load(name, &row.in);
		wanted = load(golden_field(&line), &row.wanted);
		if (row.in.rank == 2)
			cr_assert(pl_tensor_init(&row.in, row.in.data, PL_U8, 3,
					  SHAPE(row.in.shape[0], row.in.shape[1], 1)) == 0);
		n += check(&row);
		free(in.data);
		free(wanted.data);
	}
	free(index.data);
	cr_expect(n == n_wanted, "%d rows", n);
}

static int jitter_of(const char *what)
{
	for (int k = 0; jitters[k]; k++)
		if (strcmp(jitters[k], what) == 0)
			return k;
	return -1;
}

/* `color_jitter: {WHAT: [f, f]}` */
static int check_jitter(const struct row *row)
{
	struct op_harness h;
	char range[64];

	if (jitter_of(row->what) < 0)
		return 0;
	(void)snprintf(range, sizeof(range), "[%s, %s]", row->argument, row->argument);
	op_begin(&h, &pl_op_color_jitter);
	op_set(&h, row->what, range);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, row->in.shape, row->in.data);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(golden_difference(op_value(&h, 0), &row->wanted) == 0, "%s %s of %d channels",
		row->what, row->argument, (int)row->in.shape[2]);
	op_end(&h);
	return 1;
}

Test(ops_colours, jitter_equals_torchvision)
{
	for_every_row(39, check_jitter);
}

/* f32 is not rounded between the steps of the formulas: it stays near the u8 results. The hue's
 * u8 steps of 1/255 turn are coarse, so it is compared where torchvision's rounding is small. */
static int check_jitter_f32(const struct row *row)
{
	int64_t n = pl_tensor_count(&row->in);
	float *values = malloc((size_t)n * sizeof(*values));
	struct pl_frame f = {
		values, PL_F32, row->in.shape[0] * row->in.shape[1], (int)row->in.shape[2]};
	struct pl_tensor got;
	int what = jitter_of(row->what);

	if (what >= 0 && what != PL_JITTER_HUE) {
		for (int64_t i = 0; i < n; i++)
			values[i] = (float)golden_number(&row->in, i);
		pl_jitter_f32(&f, (enum pl_jitter)what, strtod(row->argument, NULL));
		cr_assert(pl_tensor_init(&got, values, PL_F32, 3, row->in.shape) == 0);
		cr_expect(golden_difference(&got, &row->wanted) <= 2, "%s %s: %g", row->what,
			row->argument, golden_difference(&got, &row->wanted));
	}
	free(values);
	return what >= 0 && what != PL_JITTER_HUE;
}

Test(ops_colours, jitter_of_f32_is_near)
{
	for_every_row(30, check_jitter_f32);
}

Test(ops_colours, hue_of_f32)
{
	float v[4][3] = {{200, 50, 50}, {50, 200, 50}, {7, 7, 7}, {120, 100, 80}};
	struct pl_frame f = {v, PL_F32, 4, 3};

	pl_jitter_f32(&f, PL_JITTER_HUE, 1.0 / 3);
	cr_expect(fabsf(v[0][0] - 50) < 1e-3f && fabsf(v[0][1] - 200) < 1e-3f);
	cr_expect(fabsf(v[1][1] - 50) < 1e-3f && fabsf(v[1][2] - 200) < 1e-3f);
	cr_expect(v[2][0] == 7 && v[2][1] == 7 && v[2][2] == 7);
	cr_expect(fabsf(v[3][0] - 80) < 1e-3f && fabsf(v[3][1] - 120) < 1e-3f &&
		  fabsf(v[3][2] - 100) < 1e-3f);
	pl_jitter_f32(&f, PL_JITTER_HUE, -1.0 / 3);
	cr_expect(fabsf(v[0][0] - 200) < 1e-3f && fabsf(v[0][2] - 50) < 1e-3f);
	cr_expect(fabsf(v[3][0] - 120) < 1e-3f && fabsf(v[3][1] - 100) < 1e-3f);
}

/* The four changes in every of their 24 orders, none much oftener than another. */
Test(ops_colours, jitter_takes_every_order)
{
	struct pl_tensor in, orders, one;
	struct golden_file source = load("photo.npy", &in);
	struct golden_file wanted = load("orders.npy", &orders);
	int64_t bytes = pl_tensor_bytes(&in);
	struct op_harness h;
	int seen[24] = {0};

	op_begin(&h, &pl_op_color_jitter);
	op_set(&h, "brightness", "[1.35, 1.35]");
	op_set(&h, "contrast", "[0.7, 0.7]");
	op_set(&h, "saturation", "[1.6, 1.6]");
	op_set(&h, "hue", "[-0.15, -0.15]");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, in.shape, in.data);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	one = in;
	for (h.key.index = 0; h.key.index < 960; h.key.index++) {
		int n_equal = 0;

		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		for (int k = 0; k < 24; k++) {
			one.data = (char *)orders.data + k * bytes;
			if (memcmp(one.data, op_value(&h, 0)->data, (size_t)bytes) == 0) {
				seen[k]++;
				n_equal++;
			}
		}
		cr_assert(n_equal >= 1, "sample %d", (int)h.key.index);
	}
	for (int k = 0; k < 24; k++)
		cr_expect(seen[k] > 15 && seen[k] < 80, "order %d: %d of 960", k, seen[k]);
	op_end(&h);
	free(source.data);
	free(wanted.data);
}

static int check_others(const struct row *row)
{
	const struct pl_op *op = strcmp(row->what, "solarize") == 0    ? &pl_op_solarize
				 : strcmp(row->what, "grayscale") == 0 ? &pl_op_grayscale
								       : NULL;
	struct op_harness h;

	if (!op)
		return 0;
	op_begin(&h, op);
	if (op == &pl_op_solarize)
		op_set(&h, "threshold", row->argument);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, row->in.shape, row->in.data);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(golden_difference(op_value(&h, 0), &row->wanted) == 0, "%s %s", row->what,
		row->argument);
	cr_expect(op_type(&h, 0)->shape[2] == op_value(&h, 0)->shape[2]);
	op_end(&h);
	return 1;
}

Test(ops_colours, grayscale_and_solarize_equal_torchvision)
{
	for_every_row(10, check_others);
}

static int check_blur(const struct row *row)
{
	bool is_f32 = strcmp(row->what, "gaussian_blur_f32") == 0;
	int64_t n = pl_tensor_count(&row->in);
	float *values = malloc((size_t)n * sizeof(*values));
	struct op_harness h;
	char kernel[32];
	char sigma[32];
	double d;

	cr_assert(values);
	if (strncmp(row->what, "gaussian_blur", 13) == 0) {
		cr_assert(sscanf(row->argument, "%31s %31s", kernel, sigma) == 2);
		for (int64_t i = 0; i < n; i++)
			values[i] = (float)golden_number(&row->in, i);
		op_begin(&h, &pl_op_gaussian_blur);
		op_set(&h, "kernel", kernel);
		op_set(&h, "sigma", sigma);
		op_field(&h, "image", PL_KIND_IMAGE, is_f32 ? PL_F32 : PL_U8, 3, row->in.shape,
			is_f32 ? (void *)values : row->in.data);
		cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
		d = golden_difference(op_value(&h, 0), &row->wanted);
		printf("%s %s: largest difference %g\n", row->what, row->argument, d);
		cr_expect(d <= (is_f32 ? 1e-3 : 1), "%s %s: %g", row->what, row->argument, d);
		op_end(&h);
	}
	free(values);
	return strncmp(row->what, "gaussian_blur", 13) == 0;
}

Test(ops_colours, blur_equals_torchvision)
{
	for_every_row(12, check_blur);
}
