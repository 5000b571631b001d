/* daemon/ops/planes.h - pixels of bytes to planes of floats, each channel times a plus b. */
#pragma once

#include "daemon/kit/op.h"

#define PL_PLANES_MAX 4

/*
 * out[c][i] = in[i][c] * a[c] + b[c] for n pixels of `channels` (1 to 4) bytes, planes `stride`
 * bytes apart; product and sum are rounded each, in f32, then to the type of the output. No
 * alignment is needed; `in` and `out` don't overlap.
 */
struct pl_planes {
	char *out;
	int64_t stride;
	const unsigned char *in;
	int64_t n;
	int channels;
	const float *a;
	const float *b;
};

typedef void pl_planes_fn(const struct pl_planes *p);

/* One variant for a kind of CPU; all give the same bits. */
struct pl_planes_kernels {
	const char *name; /* as in the registry of proto/einops */
	pl_planes_fn *to_f32;
	pl_planes_fn *to_f16;
	pl_planes_fn *to_bf16;
};

extern const struct pl_planes_kernels pl_planes_portable;
extern const struct pl_planes_kernels pl_planes_avx2;
extern const struct pl_planes_kernels pl_planes_avx512;

/* The function of this process's variant for f32, f16 or bf16; NULL for other types. */
pl_planes_fn *pl_planes_find(enum pl_dtype dtype);

/* The same of the variant of that name; the portable one when this build hasn't it. */
const struct pl_planes_kernels *pl_planes_named(const char *name);
