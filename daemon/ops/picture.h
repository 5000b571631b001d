/* daemon/ops/picture.h - the pixels of an image, mask or video field, and moving a window of them.
 */
#pragma once

#include "daemon/kit/op.h"

/* The longest side of a picture that a step makes or a decoder accepts. */
#define PL_SIDE_MAX 65535

/* A part of a picture; top and left may be negative and the far sides beyond the picture's. */
struct pl_window {
	int64_t top;
	int64_t left;
	int64_t height;
	int64_t width;
};

/*
 * n_frames pictures of one field: 1 for an image [h, w, c] or a mask [h, w], n for a video [t, h,
 * w, c] or masks [n, h, w]. Pixels of a row are packed; strides are bytes.
 */
struct pl_picture {
	unsigned char *data; /* borrowed; read only when it is an input's */
	enum pl_dtype dtype;
	int64_t n_frames;
	int64_t height;
	int64_t width;
	int64_t channels;
	int64_t frame_stride;
	int64_t row_stride;
	int64_t pixel; /* bytes of one: channels times element size */
};

/* The picture of in[i] of that kind (image, mask or video). Values whose pixels aren't packed are
 * copied to scratch. */
int pl_picture_in(struct pl_run *r, int i, enum pl_kind kind, struct pl_picture *p) PL_MUST_CHECK;

/* Room for out[i] by pl_run_out: in[i]'s shape and dtype, but the height and width of `size`. */
int pl_picture_out(struct pl_run *r, int i, enum pl_kind kind, struct pl_window size,
	struct pl_picture *out) PL_MUST_CHECK;

/* out[i] becomes a view of the window, which must lie inside: nothing is copied. */
void pl_picture_out_view(
	struct pl_run *r, int i, enum pl_kind kind, const struct pl_picture *p, struct pl_window w);

/* One pixel of `value` in every channel, in the picture's dtype, at `pixel` (p->pixel bytes). */
void pl_picture_fill_pixel(const struct pl_picture *p, double value, unsigned char *pixel);

/* dst (w's size) gets the window of src; what lies outside src gets the pixel `fill`. */
void pl_picture_copy_window(const struct pl_picture *dst, const struct pl_picture *src,
	struct pl_window w, const unsigned char *fill);

/* dst gets src mirrored: columns reversed, rows reversed, or both. Equal sizes, no overlap. */
void pl_picture_flip(
	const struct pl_picture *dst, const struct pl_picture *src, bool columns, bool rows);
