/* tests/unit/test_ops_decode_image.c - parameters, limits and damage of `decode_image`; pixels
 * equal Pillow's. */
#include "tests/unit/golden.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_decode_image;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static void begin(struct op_harness *h, const void *data, size_t n)
{
	op_begin(h, &pl_op_decode_image);
	op_field(h, "data", PL_KIND_BYTES, PL_U8, 1, SHAPE((int64_t)n), data);
}

static int decode(struct op_harness *h)
{
	int rc = op_load(h);

	return rc < 0 ? rc : op_run(h);
}

Test(ops_decode_image, equals_pillow)
{
	struct golden_file index = golden_read("images/index.tsv");
	char *rest = index.data;
	char *line;
	int n = 0;

	while ((line = golden_line(&rest))) {
		const char *what = golden_field(&line);
		struct golden_file in, out;
		struct pl_tensor wanted;
		const char *channels;
		struct op_harness h;
		char name[256];

		if (strcmp(what, "decode") != 0)
			continue;
		(void)snprintf(name, sizeof(name), "images/%s", golden_field(&line));
		in = golden_read(name);
		channels = golden_field(&line);
		(void)golden_field(&line);
		begin(&h, in.data, in.n);
		op_set(&h, "channels", channels);
		cr_assert(decode(&h) == 0, "%s: %s", name, h.err.text);
		(void)snprintf(name, sizeof(name), "images/%s", golden_field(&line));
		out = golden_npy(name, &wanted);
		cr_expect(op_value(&h, 0)->shape[0] == wanted.shape[0] &&
			  op_value(&h, 0)->shape[1] == wanted.shape[1]);
		cr_expect(golden_difference(op_value(&h, 0), &wanted) == 0, "%s", name);
		op_end(&h);
		free(in.data);
		free(out.data);
		n++;
	}
	cr_expect(n == 29, "%d", n);
	free(index.data);
}

Test(ops_decode_image, types_at_load)
{
	static const struct {
		const char *kind, *channels, *depth;
		enum pl_dtype dtype;
		int rank;
		int64_t n_channels;
	} rows[] = {
		{"image", "default", "8", PL_U8, 3, 3},
		{"image", "rgba", "16", PL_U16, 3, 4},
		{"image", "grey", "8", PL_U8, 3, 1},
		{"image", "as_is", "8", PL_U8, 3, -1},
		{"mask", "default", "8", PL_U8, 2, 0},
		{"mask", "grey", "16", PL_U16, 2, 0},
	};

	for (size_t k = 0; k < PL_ARRAY_LEN(rows); k++) {
		struct op_harness h;

		begin(&h, "", 0);
		op_set(&h, "kind", rows[k].kind);
		op_set(&h, "channels", rows[k].channels);
		op_set(&h, "depth", rows[k].depth);
		cr_assert(op_load(&h) == 0, "%s", h.err.text);
		cr_expect(op_type(&h, 0)->dtype == rows[k].dtype);
		cr_expect(op_type(&h, 0)->rank == rows[k].rank);
		cr_expect(op_type(&h, 0)->kind ==
			  (strcmp(rows[k].kind, "mask") == 0 ? PL_KIND_MASK : PL_KIND_IMAGE));
		cr_expect(op_type(&h, 0)->shape[0] == -1 && op_type(&h, 0)->shape[1] == -1);
		cr_expect(rows[k].rank == 2 || op_type(&h, 0)->shape[2] == rows[k].n_channels);
		cr_expect(strcmp(pl_op_decode_image.output(h.params, PL_KIND_BYTES),
				  rows[k].kind) == 0);
		op_end(&h);
	}
}

Test(ops_decode_image, settings_that_are_refused)
{
	struct op_harness h;

	begin(&h, "", 0);
	op_set(&h, "kind", "mask");
	op_set(&h, "channels", "rgb");
	op_expect_error(
		&h, op_load(&h), "a mask has one channel: channels must be as_is or grey, not rgb");
	op_end(&h);
	op_begin(&h, &pl_op_decode_image);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(2, 2, 3), NULL);
	op_expect_error(&h, op_load(&h), "it is decoded already");
	op_end(&h);
}

Test(ops_decode_image, formats_that_are_known_but_not_read)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *name;
	} rows[] = {
		{"GIF89a......", 12, "GIF"},
		{"\0\0\0\x1c"
		 "ftypavif",
			12, "AVIF"},
		{"II*\0\x08\0\0\0", 8, "TIFF"},
		{"BM......", 8, "BMP"},
		{"<!DOCTYPE html>", 15, "a web page (a failed download?)"},
	};

	for (size_t k = 0; k < PL_ARRAY_LEN(rows); k++) {
		struct op_harness h;

		begin(&h, rows[k].bytes, rows[k].n);
		op_expect_error(&h, decode(&h), rows[k].name);
		op_expect_error(
			&h, -1, "is not supported by this build (convert it to JPEG or PNG)");
		op_end(&h);
	}
}

Test(ops_decode_image, short_and_unknown_bytes)
{
	struct op_harness h;

	begin(&h, "x", 1);
	op_expect_error(&h, decode(&h), "not a picture: 1 bytes that begin with 78 (");
	op_end(&h);
	begin(&h, "\x89", 1);
	op_expect_error(&h, decode(&h), "truncated PNG: only 1 bytes");
	op_end(&h);
	begin(&h, "\xff\xd8", 2);
	op_expect_error(&h, decode(&h), "truncated JPEG");
	op_end(&h);
}

/* Every length of a file is an error or, with accept, a picture or an error: never a crash, a hang
 * or noise in the size. */
static void cut_everywhere(const char *name, const char *accept)
{
	struct golden_file file = golden_read(name);
	size_t complete = file.n;
	int64_t height = 0;

	for (size_t n = file.n; n > 0; n--) {
		unsigned char *copy = memcpy(malloc(n), file.data, n);
		struct op_harness h;
		int rc;

		begin(&h, copy, n);
		op_set(&h, "truncated", accept);
		rc = decode(&h);
		if (rc == 0)
			complete = n;
		if (n == file.n)
			height = op_value(&h, 0)->shape[0];
		cr_expect(rc < 0 ? h.err.text[0] != '\0' : op_value(&h, 0)->shape[0] == height);
		op_end(&h);
		free(copy);
	}
	if (strcmp(accept, "error") == 0)
		cr_expect(complete + 12 >= file.n, "%s is accepted with %d of %d bytes", name,
			(int)complete, (int)file.n);
	else
		cr_expect(complete < file.n / 2 + 600, "%s is refused below %d bytes", name,
			(int)complete);
	free(file.data);
}

Test(ops_decode_image, cut_at_every_byte)
{
	cut_everywhere("images/420.jpg", "error");
	cut_everywhere("images/420.jpg", "accept");
	cut_everywhere("images/progressive.jpg", "error");
	cut_everywhere("images/progressive.jpg", "accept");
	cut_everywhere("cases/png/rgb8_adam7.png", "error");
	cut_everywhere("cases/png/rgb8_adam7.png", "accept");
	cut_everywhere("images/lossy.webp", "error");
	cut_everywhere("images/lossy.webp", "accept");
	cut_everywhere("images/lossless_alpha.webp", "error");
	cut_everywhere("images/lossless_alpha.webp", "accept");
	cut_everywhere("images/turned.webp", "error");
}

/* Any one byte replaced: an error or a picture, and nothing for the sanitizers to say. */
Test(ops_decode_image, damaged_at_every_byte)
{
	static const char *const names[] = {"images/progressive.jpg", "images/cmyk.jpg",
		"cases/png/pal2bit_trns.png", "images/lossy_alpha.webp", "images/lossless.webp",
		"images/turned.webp"};

	for (size_t k = 0; k < PL_ARRAY_LEN(names); k++) {
		struct golden_file file = golden_read(names[k]);

		for (size_t i = 0; i < file.n; i++) {
			struct op_harness h;
			char kept = file.data[i];

			file.data[i] = (char)(kept ^ (i % 2 ? 0xff : 0x10));
			begin(&h, file.data, file.n);
			op_set(&h, "max_pixels", "100000");
			cr_expect(decode(&h) == 0 || h.err.text[0] != '\0');
			op_end(&h);
			file.data[i] = kept;
		}
		free(file.data);
	}
}

Test(ops_decode_image, max_pixels_counts_before_memory_is_taken)
{
	struct golden_file file = golden_read("images/420.jpg");
	struct op_harness h;

	begin(&h, file.data, file.n);
	op_set(&h, "max_pixels", "1000");
	op_expect_error(&h, decode(&h), "the JPEG is 37x29 pixels, more than max_pixels: 1000");
	cr_expect(h.scratch.taken == 0);
	op_end(&h);
	begin(&h, file.data, file.n);
	cr_assert(op_load(&h) == 0);
	h.scratch.limit = 1000;
	op_expect_error(&h, op_run(&h), "the sample needs 3219 bytes more");
	op_end(&h);
	free(file.data);
}

Test(ops_decode_image, a_progressive_file_counts_its_coefficients)
{
	struct golden_file file = golden_read("images/progressive.jpg");
	struct op_harness h;

	begin(&h, file.data, file.n);
	cr_assert(op_load(&h) == 0);
	h.scratch.limit = 5000;
	op_expect_error(&h, op_run(&h), "the progressive JPEG of 41x23 pixels needs");
	op_end(&h);
	free(file.data);
}

/* libwebp takes memory of its own for a lossless picture: it counts too. */
Test(ops_decode_image, a_lossless_webp_counts_its_pixels)
{
	struct golden_file file = golden_read("images/lossless.webp");
	struct op_harness h;

	begin(&h, file.data, file.n);
	cr_assert(op_load(&h) == 0);
	h.scratch.limit = 5000;
	op_expect_error(&h, op_run(&h), "the WebP of 41x23 pixels needs 3772 bytes to decode");
	op_end(&h);
	begin(&h, file.data, file.n);
	op_set(&h, "max_pixels", "900");
	op_expect_error(&h, decode(&h), "the WebP is 41x23 pixels, more than max_pixels: 900");
	cr_expect(h.scratch.taken == 0);
	op_end(&h);
	free(file.data);
}

Test(ops_decode_image, what_a_webp_becomes)
{
	struct golden_file alpha = golden_read("images/lossless_alpha.webp");
	struct golden_file turned = golden_read("images/turned.webp");
	struct op_harness h;

	begin(&h, alpha.data, alpha.n);
	op_set(&h, "channels", "as_is");
	op_set(&h, "depth", "16");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[2] == 4);
	cr_expect((int)op_at(&h, 0, SHAPE(3, 3, 3)) % 257 == 0);
	op_end(&h);
	begin(&h, turned.data, turned.n);
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 21 && op_value(&h, 0)->shape[1] == 12);
	op_end(&h);
	begin(&h, turned.data, turned.n);
	op_set(&h, "orient", "false");
	op_set(&h, "channels", "as_is");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 12 && op_value(&h, 0)->shape[2] == 3);
	op_end(&h);
	free(alpha.data);
	free(turned.data);
}

/* Of a file that is cut in half the upper rows are there, as in the whole one, and the last is
 * black. */
Test(ops_decode_image, half_a_webp)
{
	struct golden_file file = golden_read("images/lossless.webp");
	struct op_harness h, whole;

	begin(&whole, file.data, file.n);
	begin(&h, file.data, file.n * 3 / 4);
	op_set(&h, "truncated", "accept");
	cr_assert(decode(&whole) == 0 && decode(&h) == 0, "%s", h.err.text);
	for (int64_t x = 0; x < 41; x++) {
		cr_expect(op_at(&h, 0, SHAPE(0, x, 0)) == op_at(&whole, 0, SHAPE(0, x, 0)));
		cr_expect(op_at(&h, 0, SHAPE(22, x, 0)) == 0);
	}
	op_end(&h);
	op_end(&whole);
	free(file.data);
}

Test(ops_decode_image, orientation_is_a_choice)
{
	struct golden_file file = golden_read("cases/jpeg/exif_orient_6.jpg");
	struct op_harness h;

	begin(&h, file.data, file.n);
	op_set(&h, "orient", "false");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 32 && op_value(&h, 0)->shape[1] == 48);
	op_end(&h);
	begin(&h, file.data, file.n);
	op_set(&h, "kind", "mask");
	op_set(&h, "channels", "grey");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 32, "a mask is not turned");
	op_end(&h);
	free(file.data);
}

Test(ops_decode_image, masks_keep_the_files_numbers)
{
	struct golden_file palette = golden_read("cases/png/pal2bit_trns.png");
	struct golden_file grey = golden_read("cases/png/grey2.png");
	struct golden_file deep = golden_read("cases/png/grey16.png");
	struct op_harness h;

	begin(&h, palette.data, palette.n);
	op_set(&h, "kind", "mask");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0)) == 0 && op_at(&h, 0, SHAPE(0, 5)) == 1);
	cr_expect(op_at(&h, 0, SHAPE(3, 0)) == 2 && op_at(&h, 0, SHAPE(3, 5)) == 3);
	op_end(&h);
	begin(&h, grey.data, grey.n);
	op_set(&h, "kind", "mask");
	op_set(&h, "depth", "16");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0)) == 3 && op_at(&h, 0, SHAPE(3, 5)) == 2);
	op_end(&h);
	begin(&h, deep.data, deep.n);
	op_set(&h, "kind", "mask");
	op_expect_error(&h, decode(&h), "set depth: 16");
	op_end(&h);
	begin(&h, deep.data, deep.n);
	op_set(&h, "kind", "mask");
	op_set(&h, "depth", "16");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(0, 0)) == 43994);
	op_end(&h);
	free(palette.data);
	free(grey.data);
	free(deep.data);
}

Test(ops_decode_image, masks_in_colour_are_refused)
{
	static const char *const rows[][2] = {
		{"cases/png/rgb8_adam7.png", "this PNG has rgb (set channels: grey)"},
		{"cases/png/rgba8_adam7.png", "this PNG has rgb and alpha"},
		{"cases/png/greyalpha8.png", "this PNG has grey and alpha"},
		{"images/420.jpg", "this JPEG is in colour (set channels: grey)"},
		{"images/lossy.webp", "a WebP is always in colour (set channels: grey)"},
	};

	for (size_t k = 0; k < PL_ARRAY_LEN(rows); k++) {
		struct golden_file file = golden_read(rows[k][0]);
		struct op_harness h;

		begin(&h, file.data, file.n);
		op_set(&h, "kind", "mask");
		op_expect_error(&h, decode(&h), rows[k][1]);
		op_end(&h);
		begin(&h, file.data, file.n);
		op_set(&h, "kind", "mask");
		op_set(&h, "channels", "grey");
		cr_expect(decode(&h) == 0, "%s", h.err.text);
		op_end(&h);
		free(file.data);
	}
}

Test(ops_decode_image, eight_bits_at_depth_16)
{
	struct golden_file file = golden_read("images/grey.jpg");
	struct op_harness h, h8;

	begin(&h, file.data, file.n);
	op_set(&h, "depth", "16");
	begin(&h8, file.data, file.n);
	cr_assert(decode(&h) == 0 && decode(&h8) == 0);
	for (int64_t i = 0; i < pl_tensor_count(op_value(&h, 0)); i++)
		cr_assert(golden_number(op_value(&h, 0), i) ==
			  257 * golden_number(op_value(&h8, 0), i));
	op_end(&h);
	op_end(&h8);
	free(file.data);
}

/* A file without tables must fail or give the same after any other file: nothing is left over. */
Test(ops_decode_image, one_file_leaves_nothing_to_the_next)
{
	struct golden_file tables = golden_read("images/444_low.jpg");
	struct golden_file none = golden_read("cases/jpeg/no_huffman_tables.jpg");
	struct golden_file cut = golden_read("cases/jpeg/trunc_half.jpg");
	struct op_harness h;
	unsigned char first[48 * 32 * 3];

	begin(&h, none.data, none.n);
	cr_assert(decode(&h) == 0);
	memcpy(first, op_value(&h, 0)->data, sizeof(first));
	for (int k = 0; k < 2; k++) {
		const struct golden_file *other = k ? &cut : &tables;

		cr_assert(pl_tensor_init(&h.given[0], other->data, PL_U8, 1,
				  SHAPE((int64_t)other->n)) == 0);
		(void)op_run(&h);
		cr_assert(pl_tensor_init(
				  &h.given[0], none.data, PL_U8, 1, SHAPE((int64_t)none.n)) == 0);
		cr_assert(op_run(&h) == 0);
		cr_expect(memcmp(first, op_value(&h, 0)->data, sizeof(first)) == 0);
	}
	op_end(&h);
	free(tables.data);
	free(none.data);
	free(cut.data);
}

Test(ops_decode_image, several_fields)
{
	struct golden_file a = golden_read("images/420.jpg");
	struct golden_file b = golden_read("images/422.jpg");
	struct op_harness h;

	begin(&h, a.data, a.n);
	op_field(&h, "data_2", PL_KIND_BYTES, PL_U8, 1, SHAPE((int64_t)b.n), b.data);
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[1] == 37 && op_value(&h, 1)->shape[1] == 33);
	op_end(&h);
	free(a.data);
	free(b.data);
}
