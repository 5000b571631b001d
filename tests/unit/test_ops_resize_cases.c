/* tests/unit/test_ops_resize_cases.c - tests/golden/cases/resize: reference arrays, and the
 * rounding rules of sizes. */
#include "tests/unit/golden.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_decode_image;
extern const struct pl_op pl_op_resize;
extern const struct pl_op pl_op_center_crop;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* One reference array: made from `input` (a .npy or .png), within `tolerance`. */
struct reference {
	const char *file;
	const char *input;
	const char *filter;
	const char *antialias;
	double tolerance;
	bool is_f32; /* the u8 input is resized as f32 */
};

static const struct reference references[] = {
	{"u8_3x3_to5_bilinear_u8", "u8_3x3.npy", "bilinear", "true", 0, false},
	{"u8_3x3_to5_bilinear_f64", "u8_3x3.npy", "bilinear", "true", 1, false},
	{"u8_3x3_to5_bilinear_f64", "u8_3x3.npy", "bilinear", "true", 1e-4, true},
	{"u8_edge4_to8x4_bicubic", "u8_edge4.npy", "bicubic", "true", 0, false},
	{"arange10_to5_bilinear_antialias", "arange10.npy", "bilinear", "true", 1e-4, false},
	{"arange10_to5_bilinear_plain", "arange10.npy", "bilinear", "false", 1e-4, false},
	{"rand_53x37_to_106x74_bilinear_up", "rand_53x37.png", "bilinear", "true", 0, false},
	{"rand_53x37_to_1x1_bilinear_1x1", "rand_53x37.png", "bilinear", "true", 0, false},
	{"rand_53x37_to_53x5_bilinear_h_only", "rand_53x37.png", "bilinear", "true", 0, false},
	{"rand_53x37_to_20x20_bilinear", "rand_53x37.png", "bilinear", "true", 0, false},
	{"rand_53x37_to_20x20_bicubic", "rand_53x37.png", "bicubic", "true", 0, false},
	{"rand_53x37_to_20x20_lanczos", "rand_53x37.png", "lanczos", "true", 0, false},
	{"rand_53x37_to_20x20_nearest", "rand_53x37.png", "nearest", "true", 0, false},
	{"rand_53x37_to_20x20_box", "rand_53x37.png", "box", "true", 0, false},
};

/* An image [h, w, c] in `pixels` (u8 or f32) from a .npy of rank 2 or 3, or a .png. */
static struct pl_tensor load(const char *name, const char *channels, bool is_f32)
{
	char path[256];
	struct golden_file file;
	struct pl_tensor t;
	struct op_harness h;
	float *f32;

	(void)snprintf(path, sizeof(path), "cases/resize/%s", name);
	if (strstr(name, ".png")) {
		file = golden_read(path);
		op_begin(&h, &pl_op_decode_image);
		op_set(&h, "channels", channels);
		op_field(&h, "data", PL_KIND_BYTES, PL_U8, 1, SHAPE((int64_t)file.n), file.data);
		cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
		t = *op_value(&h, 0);
		t.data = memcpy(
			malloc((size_t)pl_tensor_bytes(&t)), t.data, (size_t)pl_tensor_bytes(&t));
		op_end(&h);
		free(file.data);
		return t;
	}
	file = golden_npy(path, &t);
	if (is_f32) {
		f32 = malloc((size_t)pl_tensor_count(&t) * sizeof(*f32));
		for (int64_t i = 0; i < pl_tensor_count(&t); i++)
			f32[i] = (float)golden_number(&t, i);
		cr_assert(
			pl_tensor_init(&t, f32, PL_F32, 3, SHAPE(t.shape[0], t.shape[1], 1)) == 0);
		free(file.data);
		return t;
	}
	memmove(file.data, t.data, (size_t)pl_tensor_bytes(&t));
	cr_assert(pl_tensor_init(&t, file.data, t.dtype, 3,
			  SHAPE(t.shape[0], t.shape[1], t.rank == 3 ? t.shape[2] : 1)) == 0);
	return t;
}

static double difference(const struct reference *ref, struct pl_tensor *wanted)
{
	struct pl_tensor in = load(ref->input, "rgb", ref->is_f32);
	struct op_harness h;
	char size[64];
	double d;

	(void)snprintf(
		size, sizeof(size), "[%d, %d]", (int)wanted->shape[0], (int)wanted->shape[1]);
	op_begin(&h, &pl_op_resize);
	op_set(&h, "size", size);
	op_set(&h, "filter", ref->filter);
	op_set(&h, "antialias", ref->antialias);
	op_field(&h, "image", PL_KIND_IMAGE, in.dtype, 3, in.shape, in.data);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	d = golden_difference(op_value(&h, 0), wanted);
	op_end(&h);
	free(in.data);
	return d;
}

Test(ops_resize_cases, reference_arrays)
{
	for (size_t k = 0; k < PL_ARRAY_LEN(references); k++) {
		const struct reference *ref = &references[k];
		struct pl_tensor wanted;
		char path[256];
		struct golden_file file;
		double d;

		(void)snprintf(path, sizeof(path), "cases/resize/%s.npy", ref->file);
		file = golden_npy(path, &wanted);
		d = difference(ref, &wanted);
		printf("%-38s %s: largest difference %g\n", ref->file, ref->is_f32 ? "as f32" : "",
			d);
		cr_expect(d <= ref->tolerance, "%s: %g", ref->file, d);
		free(file.data);
	}
}

/* In the text of the manifest's line only. */
Test(ops_resize_cases, an_edge_halved)
{
	struct pl_tensor in = load("u8_edge4.npy", "rgb", false);
	struct op_harness h;

	op_begin(&h, &pl_op_resize);
	op_set(&h, "size", "2");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, in.shape, in.data);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0, 0)) == 36 && op_at(&h, 0, SHAPE(0, 1, 0)) == 219);
	op_end(&h);
	free(in.data);
}

/* Documented: alpha is a channel like any other, so the green of a transparent pixel bleeds in. */
Test(ops_resize_cases, alpha_is_not_premultiplied)
{
	struct pl_tensor in = load("alpha_edge.png", "rgba", false);
	struct op_harness h;

	op_begin(&h, &pl_op_resize);
	op_set(&h, "size", "[1, 3]");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, in.shape, in.data);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	for (int64_t c = 0; c < 4; c++) {
		static const double middle[] = {128, 128, 0, 128};
		double d = op_at(&h, 0, SHAPE(0, 1, c)) - middle[c];

		cr_expect(d >= -1 && d <= 1, "channel %d: %g", (int)c, d);
	}
	op_end(&h);
	free(in.data);
}

/* Every array of the manifest is one of the above, an input of theirs, or size_rules.tsv. */
Test(ops_resize_cases, no_row_is_left_out)
{
	struct golden_file manifest = golden_read("cases/MANIFEST.tsv");
	char *rest = manifest.data;
	char *line;
	int n = 0;

	while ((line = golden_line(&rest))) {
		char *file = golden_field(&line);
		bool is_known = strstr(file, "size_rules.tsv") || strstr(file, "alpha_edge");

		if (strncmp(file, "resize/", 7) != 0)
			continue;
		for (size_t k = 0; k < PL_ARRAY_LEN(references); k++)
			is_known |= strcmp(file + 7, references[k].input) == 0 ||
				    strncmp(file + 7, references[k].file,
					    strlen(references[k].file)) == 0;
		cr_expect(is_known, "%s", file);
		n++;
	}
	cr_expect(n == 20, "%d rows", n);
	free(manifest.data);
}

static void size_by_short(int64_t width, int64_t height, const char *arg, const char *expected)
{
	long wanted_width, wanted_height;
	struct op_harness h;
	int rc;

	cr_assert(sscanf(expected, "truncate: %ldx%ld", &wanted_width, &wanted_height) == 2);
	op_begin(&h, &pl_op_resize);
	op_set(&h, "short", arg);
	op_set(&h, "filter", "nearest");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(height, width, 1),
		calloc((size_t)width, (size_t)height));
	rc = op_load(&h);
	if (wanted_width > 65535 || wanted_height > 65535) {
		op_expect_error(&h, rc, "no side may be longer");
	} else {
		cr_assert(rc == 0 && op_run(&h) == 0, "%s", h.err.text);
		cr_expect(op_value(&h, 0)->shape[0] == wanted_height);
		cr_expect(op_value(&h, 0)->shape[1] == wanted_width);
	}
	free(h.given[0].data);
	op_end(&h);
}

/* A row of pixels 1, 2, 3 ...: the first pixel of the crop shows the offset, zeros the padding. */
static void center(int64_t length, const char *arg, const char *expected)
{
	unsigned char row[512];
	int64_t size = strtoll(arg, NULL, 10);
	const char *even = strstr(expected, "half-to-even (torchvision)=");
	const char *left = strstr(expected, "left=");
	int64_t n_left = left ? strtoll(left + 5, NULL, 10) : 0;
	struct op_harness h;
	char sides[64];

	for (int i = 0; i < 512; i++)
		row[i] = (unsigned char)(i + 1);
	(void)snprintf(sides, sizeof(sides), "[1, %s]", arg);
	op_begin(&h, &pl_op_center_crop);
	op_set(&h, "size", sides);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1, length, 1), row);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[1] == size);
	if (even)
		cr_expect(op_at(&h, 0, SHAPE(0, 0, 0)) == strtod(strchr(even, '=') + 1, NULL) + 1);
	for (int64_t x = 0; x < n_left; x++)
		cr_expect(op_at(&h, 0, SHAPE(0, x, 0)) == 0);
	if (left)
		cr_expect(op_at(&h, 0, SHAPE(0, n_left, 0)) == 1);
	op_end(&h);
}

/* Bad arguments never reach a step: the parameters' bounds exclude them, and crops have no x or y
 * to be given. */
static void bad_argument(const char *arg)
{
	const struct pl_param *size = NULL;
	struct op_harness h;

	for (const struct pl_param *p = pl_op_resize.params; p->key; p++)
		if (strcmp(p->key, "size") == 0)
			size = p;
	cr_assert(size);
	if (strstr(arg, "0x224"))
		cr_expect(size->min == 1);
	if (strstr(arg, "70000"))
		cr_expect(size->max < 70000);
	if (strstr(arg, "w=0"))
		cr_expect(pl_op_center_crop.params[0].min == 1);
	if (!strstr(arg, "1x1000"))
		return;
	op_begin(&h, &pl_op_resize);
	op_set(&h, "short", "224");
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(1000, 1, 3), NULL);
	op_expect_error(&h, op_load(&h), "no side may be longer than 65535");
	op_end(&h);
}

Test(ops_resize_cases, size_rules)
{
	struct golden_file rules = golden_read("cases/resize/size_rules.tsv");
	char *rest = rules.data;
	char *line;
	int n = 0;

	(void)golden_line(&rest);
	while ((line = golden_line(&rest))) {
		const char *op = golden_field(&line);
		const char *input = golden_field(&line);
		const char *arg = golden_field(&line);
		char *x;
		int64_t width = strtoll(input, &x, 10);

		printf("%-15s %-9s %s\n", op, input, arg);
		if (strcmp(op, "resize_shorter") == 0)
			size_by_short(width, strtoll(x + 1, NULL, 10), arg, golden_field(&line));
		else if (strcmp(op, "center_crop") == 0)
			center(width, arg, golden_field(&line));
		else
			bad_argument(arg);
		n++;
	}
	cr_expect(n == 26, "%d rows", n);
	free(rules.data);
}
