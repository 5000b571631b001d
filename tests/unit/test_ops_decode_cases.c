/* tests/unit/test_ops_decode_cases.c - every picture of tests/golden/cases as its MANIFEST line
 * says. */
#include "tests/unit/golden.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_decode_image;

/*
 * How a row is tried when it isn't simply "decode to rgb and compare the numbers of the text".
 * `section`: the numbers follow this text, up to ';', '|' or " or ". `error`: it must be refused,
 * with this in the reason. `like`: pixels equal those of that other file. Rows with verdict ERR
 * need an entry with `error`.
 */
struct trial {
	const char *file;
	const char *channels;
	const char *depth;
	const char *section;
	const char *error;
	const char *like;
	int alpha; /* of every pixel, when not 0 */
};

static const struct trial trials[] = {
	{.file = "jpeg/bomb_header_65500sq.jpg", .error = "max_pixels"},
	{.file = "jpeg/eoi_zeroed.jpg", .like = "jpeg/rgb444.jpg"},
	{.file = "jpeg/exif_orient_1.jpg", .section = "oriented:"},
	{.file = "jpeg/exif_orient_3.jpg", .section = "oriented:"},
	{.file = "jpeg/exif_orient_6.jpg", .section = "oriented:"},
	{.file = "jpeg/exif_orient_6_long.jpg", .like = "jpeg/exif_orient_6.jpg"},
	{.file = "jpeg/exif_orient_7.jpg", .section = "oriented:"},
	{.file = "jpeg/exif_orient_8.jpg", .section = "oriented:"},
	{.file = "jpeg/garbage_between_segments.jpg", .like = "jpeg/rgb444.jpg"},
	{.file = "jpeg/grey.jpg"},
	{.file = "jpeg/grey.jpg", .channels = "grey"},
	{.file = "jpeg/grey12bit.jpg", .error = "precision 12"},
	{.file = "jpeg/header_65535.jpg", .error = "65500 pixels"},
	{.file = "jpeg/height_zero_dnl.jpg", .error = "empty JPEG image"},
	{.file = "jpeg/leading_newline.jpg", .error = "begin with 0a ff d8"},
	{.file = "jpeg/many_scans_4000.jpg", .error = "more than 500 scans"},
	{.file = "jpeg/no_huffman_tables.jpg"},
	{.file = "jpeg/restart_wrong_order.jpg", .error = "found marker 0xd3 instead of RST0"},
	{.file = "jpeg/sof3_lossless.jpg", .error = "JPEG can't be decoded"},
	{.file = "jpeg/trunc_2bytes.jpg", .error = "truncated JPEG"},
	{.file = "jpeg/trunc_4bytes.jpg", .error = "truncated JPEG"},
	{.file = "jpeg/trunc_90.jpg",
		.error = "truncated JPEG: premature end of data (set truncated: accept"},
	{.file = "jpeg/trunc_half.jpg", .error = "truncated JPEG: premature end of data"},
	{.file = "jpeg/width_zero.jpg", .error = "empty JPEG image"},
	{.file = "misc/empty.npy", .error = "the file is empty"},
	{.file = "misc/empty.png", .error = "the file is empty"},
	{.file = "misc/empty.tar", .error = "the file is empty"},
	{.file = "misc/empty.tfrecord", .error = "the file is empty"},
	{.file = "misc/empty.webp", .error = "the file is empty"},
	{.file = "misc/gif_named.jpg", .error = "GIF is not supported"},
	{.file = "png/adler_bad.png", .error = "damaged PNG"},
	{.file = "png/bomb_30000sq_grey1.png", .error = "max_pixels"},
	{.file = "png/bomb_header_2g.png", .error = "2147483647x2147483647"},
	{.file = "png/bomb_ztxt_100mb.png", .error = "more than 16 MiB"},
	{.file = "png/crc_bad_idat.png", .error = "invalid chunk checksum"},
	{.file = "png/grey16.png", .depth = "16", .channels = "grey", .section = "as u16:"},
	{.file = "png/grey16.png", .section = "v>>8:"},
	{.file = "png/grey16_adam7.png", .depth = "16", .channels = "as_is", .section = "as u16:"},
	{.file = "png/grey16_adam7.png", .channels = "grey", .section = "v>>8:"},
	{.file = "png/greyalpha16_adam7.png",
		.depth = "16",
		.channels = "as_is",
		.section = "u16:"},
	{.file = "png/greyalpha16_adam7.png", .channels = "as_is", .section = "u8 by >>8:"},
	{.file = "png/greyalpha8.png", .channels = "as_is"},
	{.file = "png/idat_split_by_text.png", .error = "truncated PNG"},
	{.file = "png/ihdr_bitdepth3.png", .error = "invalid bit depth"},
	{.file = "png/ihdr_colortype5.png", .error = "invalid color type"},
	{.file = "png/pal2bit_trns.png", .channels = "rgba"},
	{.file = "png/pal2bit_trns.png", .channels = "as_is"},
	{.file = "png/rgb16_adam7.png", .depth = "16", .section = "u16:"},
	{.file = "png/rgb16_adam7.png", .section = "u8 by >>8:"},
	{.file = "png/rgb_trns_key.png", .channels = "rgba"},
	{.file = "png/rgb_trns_key.png", .channels = "as_is"},
	{.file = "png/rgb_trns_key.png"},
	{.file = "png/rgba16.png", .depth = "16", .channels = "rgba", .section = "u16:"},
	{.file = "png/rgba16.png", .channels = "rgba", .section = "u8 by >>8:"},
	{.file = "png/rgba8_adam7.png", .channels = "rgba"},
	{.file = "png/rgba8_adam7.png"},
	{.file = "png/rgba_with_trns_illegal.png", .channels = "rgba", .alpha = 200},
	{.file = "png/second_ihdr.png", .error = "invalid chunk position"},
	{.file = "png/text_mode_crlf_damage.png", .error = "text mode"},
	{.file = "png/trunc_sig.png", .error = "truncated PNG: only 5 bytes"},
	{.file = "png/unknown_critical_chunk.png", .error = "unknown critical chunk"},
	{.file = "webp/animated_offset_frame.webp", .error = "the WebP is an animation"},
	{.file = "webp/lossy_alpha.webp", .channels = "rgba", .section = "RGBA"},
	{.file = "webp/lossy_alpha.webp", .channels = "as_is", .section = "RGBA"},
	{.file = "webp/trunc_12.webp", .error = "truncated WebP"},
	{.file = "webp/trunc_20.webp", .error = "truncated WebP"},
	{.file = "webp/trunc_lossy_90.webp",
		.error = "truncated WebP: premature end of data (set truncated: accept"},
};

static int decode(struct op_harness *h, const struct trial *t, const struct golden_file *file)
{
	const int64_t shape[1] = {(int64_t)file->n};

	op_begin(h, &pl_op_decode_image);
	if (t->channels)
		op_set(h, "channels", t->channels);
	if (t->depth)
		op_set(h, "depth", t->depth);
	op_field(h, "data", PL_KIND_BYTES, PL_U8, 1, shape, file->data);
	cr_assert(op_load(h) == 0, "%s", h->err.text);
	return op_run(h);
}

static struct golden_file read_case(const char *file)
{
	char name[256];

	(void)snprintf(name, sizeof(name), "cases/%s", file);
	return golden_read(name);
}

/* The numbers behind "(x,y)=": every one is compared; a text with fewer numbers than channels
 * speaks of the first ones, or of all when it has one. */
static void compare_pixel(
	const struct op_harness *h, const char *file, const char *text, double tolerance)
{
	const struct pl_tensor *v = op_value(h, 0);
	char *rest;
	int64_t x = strtoll(text + 1, &rest, 10);
	int64_t y = strtoll(rest + 1, &rest, 10);
	double wanted[4];
	int n = 0;

	for (rest += 1; *rest == '=' || *rest == ','; n++)
		wanted[n] = strtod(rest + 1, &rest);
	cr_assert(n >= 1 && n <= 4, "%s", file);
	for (int64_t c = 0; c < v->shape[2] && (c < n || n == 1); c++) {
		double got = op_at(h, 0, (const int64_t[]){y, x, c});
		double d = got - wanted[n == 1 ? 0 : c];

		cr_expect(d <= tolerance && -d <= tolerance, "%s (%d,%d) channel %d: %g, not %g",
			file, (int)x, (int)y, (int)c, got, wanted[n == 1 ? 0 : c]);
	}
}

/* "(12,3)=" */
static bool is_pixel(const char *text)
{
	int n = 0;

	return sscanf(text, "(%*d,%*d)=%n", &n) == 0 && n > 0;
}

static int compare_pixels(const struct op_harness *h, const struct trial *t, const char *text)
{
	const char *tol = strstr(text, "tol=");
	double tolerance = tol ? strtod(tol + 4, NULL) : 0;
	const char *p = t->section ? strstr(text, t->section) : text;
	int n = 0;

	cr_assert(p, "%s: '%s' is not in its line", t->file, t->section);
	for (p += t->section ? strlen(t->section) : 0; *p && !strchr(";|", *p); p++) {
		if (strncmp(p, " or ", 4) == 0)
			break;
		if (!is_pixel(p))
			continue;
		compare_pixel(h, t->file, p, tolerance);
		n++;
	}
	return n;
}

/* "48x32" at the text's beginning, or right behind the section. */
static void compare_size(const struct op_harness *h, const struct trial *t, const char *text)
{
	const struct pl_tensor *v = op_value(h, 0);
	const char *p = t->section ? strstr(text, t->section) + strlen(t->section) : text;
	char *rest;
	int64_t width;

	p += strcspn(p, "0123456789");
	width = strtoll(p, &rest, 10);
	if (*rest != 'x')
		return;
	cr_expect(width == v->shape[1] && strtoll(rest + 1, NULL, 10) == v->shape[0], "%s is %dx%d",
		t->file, (int)v->shape[1], (int)v->shape[0]);
}

static void compare_like(const struct op_harness *h, const struct trial *t)
{
	struct golden_file file = read_case(t->like);
	struct op_harness other;

	cr_assert(decode(&other, t, &file) == 0, "%s: %s", t->like, other.err.text);
	cr_expect(golden_difference(op_value(h, 0), op_value(&other, 0)) == 0, "%s differs from %s",
		t->file, t->like);
	op_end(&other);
	free(file.data);
}

static void check_alpha(const struct op_harness *h, const struct trial *t)
{
	const struct pl_tensor *v = op_value(h, 0);

	for (int64_t i = 3; t->alpha && i < pl_tensor_count(v); i += 4)
		cr_expect(golden_number(v, i) == t->alpha, "%s", t->file);
}

static void try_row(const struct trial *t, const char *verdict, const char *text)
{
	struct golden_file file = read_case(t->file);
	struct op_harness h;
	int rc = decode(&h, t, &file);
	int n = 0;

	if (t->error) {
		op_expect_error(&h, rc, t->error);
	} else {
		cr_assert(strcmp(verdict, "ERR") != 0, "%s must be an error", t->file);
		cr_assert(rc == 0, "%s: %s", t->file, h.err.text);
		if (t->like)
			compare_like(&h, t);
		else
			n = compare_pixels(&h, t, text);
		compare_size(&h, t, t->like ? "" : text);
		check_alpha(&h, t);
		cr_expect(n > 0 || t->like || strstr(t->file, "hidden") ||
				  strstr(t->file, "trns_key"),
			"%s: nothing was compared", t->file);
	}
	printf("%-4s %-34s %s %s: %d pixels compared; %s\n", verdict, t->file,
		t->channels ? t->channels : "rgb", t->depth ? t->depth : "8", n,
		t->error  ? h.err.text
		: t->like ? t->like
			  : "");
	op_end(&h);
	free(file.data);
}

static int try_file(const char *file, const char *verdict, const char *text)
{
	int n = 0;

	for (size_t k = 0; k < PL_ARRAY_LEN(trials); k++) {
		if (strcmp(trials[k].file, file) != 0)
			continue;
		try_row(&trials[k], verdict, text);
		n++;
	}
	if (n == 0)
		try_row(&(struct trial){.file = file}, verdict, text);
	return n ? n : 1;
}

Test(ops_decode_cases, every_row_of_the_manifest)
{
	struct golden_file manifest = golden_read("cases/MANIFEST.tsv");
	char *rest = manifest.data;
	char *line;
	int n_rows = 0;
	int n_trials = 0;

	while ((line = golden_line(&rest))) {
		char *file = golden_field(&line);
		const char *verdict;

		for (int skipped = 0; skipped < 3; skipped++)
			(void)golden_field(&line);
		if (strncmp(file, "resize/", 7) == 0)
			continue; /* test_ops_resize_cases */
		verdict = golden_field(&line);
		n_trials += try_file(file, verdict, golden_field(&line));
		n_rows++;
	}
	printf("%d rows, %d trials\n", n_rows, n_trials);
	cr_expect(n_rows == 93, "%d rows", n_rows);
	free(manifest.data);
}

/* The colour key is compared at 16 bits: only the first pixel is transparent. */
Test(ops_decode_cases, grey16_colour_key)
{
	struct trial t = {.file = "png/grey16_trns_key.png", .channels = "rgba"};
	struct golden_file file = read_case(t.file);
	struct op_harness h;

	cr_assert(decode(&h, &t, &file) == 0);
	cr_expect(op_at(&h, 0, (const int64_t[]){0, 0, 3}) == 0);
	cr_expect(op_at(&h, 0, (const int64_t[]){0, 1, 3}) == 255);
	cr_expect(op_at(&h, 0, (const int64_t[]){1, 0, 3}) == 255);
	cr_expect(op_at(&h, 0, (const int64_t[]){1, 1, 3}) == 255);
	op_end(&h);
	free(file.data);
}

Test(ops_decode_cases, the_hidden_apng_frame_is_not_shown)
{
	struct trial t = {.file = "png/apng_hidden_default.png"};
	struct golden_file file = read_case(t.file);
	struct op_harness h;

	cr_assert(decode(&h, &t, &file) == 0);
	for (int64_t i = 0; i < 6 * 4 * 3; i++)
		cr_expect(golden_number(op_value(&h, 0), i) == 50);
	op_end(&h);
	free(file.data);
}
