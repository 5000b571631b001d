/* daemon/ops/affine_values.h - value times a plus b over many values, a and b by channel. */
#pragma once

#include "daemon/kit/op.h"

/* Values whose channels' factors are laid out side by side; a multiple of 1, 2, 3, 4, 6, 8 and 12.
 */
#define PL_AFFINE_PERIOD 24

/*
 * out = in * a + b, with a and b of the value's channel, in f32: product and sum are rounded each
 * (never fused), so that every processor gives the same bits. `period` is PL_AFFINE_PERIOD with the
 * channels repeated to fill it, or, for a channel count that does not divide it, the count itself.
 */
struct pl_affine {
	int period;
	const float *a;
	const float *b;
};

static inline int pl_affine_period(int n_channels)
{
	return PL_AFFINE_PERIOD % n_channels == 0 ? PL_AFFINE_PERIOD : n_channels;
}

/* n values beginning with the first channel; `in` and `out` need no alignment and don't overlap. */
void pl_affine_u8(const struct pl_affine *f, float *out, const unsigned char *in, int64_t n);
void pl_affine_f32(const struct pl_affine *f, float *out, const float *in, int64_t n);
