/* daemon/ops/decode_png.c - PNG by libspng, with every checksum looked at. */
#include <errno.h>

#include <spng.h>

#include "daemon/ops/decode_image.h"
#include "daemon/ops/exif.h"

/*
 * libspng reports a wrong CRC of the last picture chunk only when the chunks after it are read, so
 * they are read always. A damaged chunk that isn't needed for the pixels is dropped; text and
 * profiles are unpacked by libspng up to CHUNK_LIMIT, and more is an error. The common cases decode
 * straight into the output; the others go through RGBA.
 */
#define CHUNK_LIMIT ((size_t)16 << 20)

struct png {
	struct pl_decode *decode;
	spng_ctx *ctx;
	struct spng_ihdr head;
	bool has_colour_key; /* a tRNS chunk */
};

/* A number of the head, which libspng does not give away when it refuses it; 0 when the file is
 * shorter. */
static uint32_t read_u32(const struct pl_decode *d, size_t at)
{
	const unsigned char *p = d->data + at;

	return at + 4 > d->n
		       ? 0
		       : (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int fail(const struct png *png, int code)
{
	struct pl_err *err = png->decode->r->err;
	const char *reason = spng_strerror(code);

	if (code == SPNG_EMEM)
		return pl_err_set(err, -ENOMEM, "out of memory for a PNG");
	if (code == SPNG_IO_EOF || code == SPNG_EOF || code == SPNG_EIDAT_TOO_SHORT)
		return pl_err_set(err, -EBADMSG, "truncated PNG: premature end of data%s",
			png->decode->accepts_truncated
				? ""
				: " (set truncated: accept to keep what there is)");
	if (code == SPNG_EOVERFLOW)
		return pl_err_set(err, -EMSGSIZE, "the PNG says it is %ux%u pixels, far too large",
			read_u32(png->decode, 16), read_u32(png->decode, 20));
	if (code == SPNG_ECHUNK_LIMITS)
		return pl_err_set(err, -EBADMSG,
			"the PNG has text or a profile of more than %zu MiB unpacked, which only "
			"an attack has",
			CHUNK_LIMIT >> 20);
	return pl_err_set(err, -EBADMSG, "damaged PNG: %s", reason);
}

static bool is_grey(const struct png *png)
{
	return png->head.color_type == SPNG_COLOR_TYPE_GRAYSCALE ||
	       png->head.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
}

static bool has_alpha(const struct png *png)
{
	return png->head.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ||
	       png->head.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA || png->has_colour_key;
}

static int64_t n_channels_of(const struct png *png)
{
	switch (png->decode->channels) {
	case PL_CHANNELS_GREY:
		return 1;
	case PL_CHANNELS_RGBA:
		return 4;
	case PL_CHANNELS_AS_IS:
		return (is_grey(png) ? 1 : 3) + (has_alpha(png) ? 1 : 0);
	default:
		return 3;
	}
}

static int orientation_of(const struct png *png)
{
	struct spng_exif exif;

	if (!png->decode->is_oriented || spng_get_exif(png->ctx, &exif) != 0)
		return 1;
	return pl_exif_orientation((const unsigned char *)exif.data, exif.length);
}

/* Pixels into `out`; with `truncated: accept` what can't be read stays as it is. */
static int decode_pixels(const struct png *png, void *out, size_t n, int format)
{
	int code = spng_decode_image(png->ctx, out, n, format, SPNG_DECODE_TRNS);

	if (code == 0 ||
		(png->decode->accepts_truncated && code != SPNG_EMEM && code != SPNG_EBUFSIZ))
		return 0;
	return fail(png, code);
}

/* One row of packed numbers of 1, 2, 4 or 8 bits, highest bits first, or of u16. */
static void unpack_row(const struct png *png, const unsigned char *row, int64_t y)
{
	const struct pl_decode *d = png->decode;
	int bits = png->head.bit_depth;

	for (int64_t x = 0; x < d->width; x++) {
		int64_t at = y * d->width + x;
		unsigned value;

		if (bits == 16) {
			memcpy((uint16_t *)d->pixels + at, row + 2 * x, 2);
			continue;
		}
		value = (unsigned)row[x * bits / 8] >> (8 - bits - x * bits % 8) &
			((1u << bits) - 1);
		if (d->is_16_bit)
			((uint16_t *)d->pixels)[at] = (uint16_t)value;
		else
			((unsigned char *)d->pixels)[at] = (unsigned char)value;
	}
}

/* A mask as it is stored: indices of a palette, or grey numbers at their own depth. */
static int decode_numbers(const struct png *png)
{
	const struct pl_decode *d = png->decode;
	size_t row = ((size_t)d->width * png->head.bit_depth + 7) / 8;
	size_t n = row * (size_t)d->height;
	unsigned char *packed = pl_run_scratch(d->r, n);
	int rc;

	if (!packed)
		return pl_run_failed(d->r);
	if (d->accepts_truncated)
		memset(packed, 0, n);
	rc = decode_pixels(png, packed, n, SPNG_FMT_PNG);
	for (int64_t y = 0; rc == 0 && y < d->height; y++)
		unpack_row(png, packed + (size_t)y * row, y);
	return rc;
}

static void project8(const struct pl_decode *d, const unsigned char *rgba, bool is_grey_alpha)
{
	int64_t n = d->height * d->width;
	unsigned char *out = d->pixels;

	if (d->n_channels == 1) {
		pl_grey_of_rgb8(out, rgba, n, 4);
		return;
	}
	for (int64_t i = 0; i < n; i++, rgba += 4, out += d->n_channels) {
		out[0] = rgba[0];
		out[1] = is_grey_alpha ? rgba[3] : rgba[1];
		if (d->n_channels == 3)
			out[2] = rgba[2];
	}
}

static void project16(const struct pl_decode *d, const uint16_t *rgba, bool is_grey_alpha)
{
	int64_t n = d->height * d->width;
	uint16_t *out = d->pixels;

	if (d->n_channels == 1) {
		pl_grey_of_rgb16(out, rgba, n, 4);
		return;
	}
	for (int64_t i = 0; i < n; i++, rgba += 4, out += d->n_channels) {
		out[0] = rgba[0];
		out[1] = is_grey_alpha ? rgba[3] : rgba[1];
		if (d->n_channels == 3)
			out[2] = rgba[2];
	}
}

/* Colours: straight into the output where libspng has the layout, else through RGBA. */
static int decode_colours(const struct png *png)
{
	const struct pl_decode *d = png->decode;
	size_t n = (size_t)d->height * (size_t)d->width;
	int format = d->is_16_bit ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8;
	size_t rgba_bytes = n * (d->is_16_bit ? 8 : 4);
	void *rgba;
	int rc;

	if (d->n_channels == 4)
		return decode_pixels(png, d->pixels, rgba_bytes, format);
	if (d->n_channels == 3 && !d->is_16_bit)
		return decode_pixels(png, d->pixels, n * 3, SPNG_FMT_RGB8);
	rgba = pl_run_scratch(d->r, rgba_bytes);
	if (!rgba)
		return pl_run_failed(d->r);
	if (d->accepts_truncated)
		memset(rgba, 0, rgba_bytes);
	rc = decode_pixels(png, rgba, rgba_bytes, format);
	if (rc < 0)
		return rc;
	if (d->is_16_bit)
		project16(d, rgba, d->n_channels == 2);
	else
		project8(d, rgba, d->n_channels == 2);
	return 0;
}

static bool is_numbers(const struct png *png)
{
	return png->decode->is_mask && png->decode->channels == PL_CHANNELS_AS_IS;
}

static int check_mask(const struct png *png)
{
	struct pl_err *err = png->decode->r->err;

	if (png->head.color_type != SPNG_COLOR_TYPE_GRAYSCALE &&
		png->head.color_type != SPNG_COLOR_TYPE_INDEXED)
		return pl_err_set(err, -EBADMSG,
			"a mask needs one channel, but this PNG has %s (set channels: grey)",
			is_grey(png)     ? "grey and alpha"
			: has_alpha(png) ? "rgb and alpha"
					 : "rgb");
	if (png->head.bit_depth == 16 && !png->decode->is_16_bit)
		return pl_err_set(err, -EBADMSG, "the mask has 16-bit numbers (set depth: 16)");
	return 0;
}

/* The head, and whether there is a colour key; of a picture that is too large, only the head. */
static int read_head(struct png *png)
{
	struct spng_trns key;
	int code = spng_get_ihdr(png->ctx, &png->head);

	if (code != 0)
		return fail(png, code);
	if ((int64_t)png->head.width * png->head.height > png->decode->max_pixels)
		return 0;
	code = spng_get_trns(png->ctx, &key);
	png->has_colour_key = code == 0;
	return code == 0 || code == SPNG_ECHUNKAVAIL ? 0 : fail(png, code);
}

static int decode(struct png *png)
{
	struct pl_decode *d = png->decode;
	int64_t n_channels;
	int rc = read_head(png);
	int code;

	if (rc == 0 && is_numbers(png))
		rc = check_mask(png);
	if (rc < 0)
		return rc;
	n_channels = is_numbers(png) ? 1 : n_channels_of(png);
	rc = pl_decode_begin(d, png->head.height, png->head.width, n_channels, orientation_of(png));
	if (rc == 0)
		rc = is_numbers(png) ? decode_numbers(png) : decode_colours(png);
	if (rc < 0)
		return rc;
	code = spng_decode_chunks(png->ctx);
	if (code != 0 && !d->accepts_truncated)
		return fail(png, code);
	return pl_decode_end(d, orientation_of(png));
}

int pl_decode_png(struct pl_decode *d)
{
	struct png png = {.decode = d, .ctx = spng_ctx_new(0)};
	int rc;

	if (!png.ctx)
		return pl_err_set(d->r->err, -ENOMEM, "out of memory for a PNG");
	if (spng_set_crc_action(png.ctx, SPNG_CRC_ERROR, SPNG_CRC_DISCARD) != 0 ||
		spng_set_chunk_limits(png.ctx, CHUNK_LIMIT, 2 * CHUNK_LIMIT) != 0 ||
		spng_set_png_buffer(png.ctx, d->data, d->n) != 0)
		rc = pl_err_set(d->r->err, -EINVAL, "libspng refused its settings");
	else
		rc = decode(&png);
	spng_ctx_free(png.ctx);
	return rc;
}
