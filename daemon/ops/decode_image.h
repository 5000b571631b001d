/* daemon/ops/decode_image.h - what the picture formats share: the wanted pixels, limits, and room
 * for them. */
#pragma once

#include "daemon/kit/op.h"

/* Positions in the choices of `channels:`. */
enum pl_channels {
	PL_CHANNELS_DEFAULT, /* rgb for an image, as_is for a mask */
	PL_CHANNELS_RGB,
	PL_CHANNELS_RGBA,
	PL_CHANNELS_GREY,
	PL_CHANNELS_AS_IS,
};

/* One file to decode: what is wanted, and the pixels on their way to the output. */
struct pl_decode {
	struct pl_run *r;
	int i; /* pair of r->in and r->out */
	const unsigned char *data;
	size_t n;
	enum pl_channels channels; /* never PL_CHANNELS_DEFAULT */
	bool is_mask;   /* one channel; as_is keeps stored numbers: palette indices, grey not scaled
			 */
	bool is_16_bit; /* the output is u16 */
	bool is_oriented; /* apply the EXIF orientation */
	bool accepts_truncated;
	int64_t max_pixels;
	const char *format; /* "JPEG", "PNG", "WebP" */
	/* Filled by pl_decode_begin: rows without gaps, in the file's own orientation. */
	void *pixels;
	int64_t height;
	int64_t width;
	int64_t n_channels;
};

/*
 * Checks the size against the limits and makes room. `orientation` as far as it is known: 1 writes
 * straight into the output. 0 or a negative errno with err set, before anything of that size is
 * allocated.
 */
int pl_decode_begin(struct pl_decode *d, int64_t height, int64_t width, int64_t n_channels,
	int orientation) PL_MUST_CHECK;

/* Turns the pixels upright when need be; the value is set afterwards. */
int pl_decode_end(struct pl_decode *d, int orientation) PL_MUST_CHECK;

/* Luma as Pillow's convert("L") does it, for n pixels of rgb (`step` values apart) in u8 or u16. */
void pl_grey_of_rgb8(unsigned char *out, const unsigned char *rgb, int64_t n, int step);
void pl_grey_of_rgb16(uint16_t *out, const uint16_t *rgb, int64_t n, int step);

/* Decode one file of the format. 0 or a negative errno with err set. */
int pl_decode_jpeg(struct pl_decode *d) PL_MUST_CHECK;
int pl_decode_png(struct pl_decode *d) PL_MUST_CHECK;
int pl_decode_webp(struct pl_decode *d) PL_MUST_CHECK;
