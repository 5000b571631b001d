/* daemon/ops/colour.h - what the steps share that change the values of pixels and not their places.
 */
#pragma once

#include "daemon/ops/picture.h"

/*
 * They take images and videos of u8, or of f32 on the same scale of 0 to 255 (as `cast: f32` leaves
 * it, before `normalize`). 1 channel is grey, 2 grey and alpha, 3 rgb, 4 rgb and alpha.
 */
#define PL_COLOUR_MAX 255

/* One frame: n pixels of `channels` values without gaps, changed in place. */
struct pl_frame {
	void *data;
	enum pl_dtype dtype; /* u8 or f32 */
	int64_t n;
	int channels;
};

/* Channels that are colour, without the alpha behind them. */
int pl_frame_n_colours(const struct pl_frame *f);

/* For pl_op.infer: every field is an image or video of u8 or f32, as far as is known of 1 to 4
 * channels. 0 or -EINVAL. */
int pl_colour_infer(struct pl_infer *io, void *params, struct pl_err *err);

/* The picture of in[i], checked as infer does. 0 or a negative errno with err set. */
int pl_colour_in(struct pl_run *r, int i, struct pl_picture *p) PL_MUST_CHECK;

/*
 * Copies every field of the step to its output and calls `change` for each frame of it. 0 or a
 * negative errno with err set.
 */
int pl_colour_run(struct pl_run *r,
	void (*change)(const void *context, const struct pl_frame *frame),
	const void *context) PL_MUST_CHECK;
