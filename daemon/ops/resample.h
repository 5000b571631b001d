/* daemon/ops/resample.h - resizes one picture to another size, as Pillow does. */
#pragma once

#include "daemon/kit/op.h"

/* Positions in pl_filter_names. */
enum pl_filter {
	PL_FILTER_NEAREST,
	PL_FILTER_BOX,
	PL_FILTER_BILINEAR,
	PL_FILTER_HAMMING,
	PL_FILTER_BICUBIC,
	PL_FILTER_LANCZOS,
};

/* The choices of a `filter:` parameter, NULL-terminated. */
extern const char *const pl_filter_names[];

/*
 * A picture of height x width pixels, each of `channels` packed values. Strides are bytes from one
 * row to the next and may be larger than a row, so that a window of a larger picture is a source;
 * the filter sees nothing outside.
 */
struct pl_resample {
	const void *src;
	int64_t src_height;
	int64_t src_width;
	int64_t src_stride;
	void *dst; /* no overlap with src */
	int64_t dst_height;
	int64_t dst_width;
	int64_t dst_stride;
	int64_t channels;
	enum pl_dtype dtype; /* u8, u16 or f32; any for PL_FILTER_NEAREST */
	enum pl_filter filter;
	bool is_antialiased; /* widen the filter when shrinking; else it spans the same source
				pixels at any scale */
	bool is_portable;    /* leave out the AVX2 kernels: for tests, the results are equal */
};

/*
 * All sizes >= 1. Working memory comes from the sample's scratch; allocates nothing else. The
 * algorithm is that of Pillow's Resample.c: two passes, columns of a row first, u8 in fixed point
 * with 22 fraction bits and a rounded u8 between the passes, so u8 results equal Pillow's. f32 is
 * computed in f32; u16 as f32, then rounded half up and limited to 0..65535. Every channel is
 * resampled alike: nothing is premultiplied with alpha. 0, or a negative errno with err set:
 * scratch is out, or -EINVAL for a dtype that can't be filtered.
 */
int pl_resample(struct pl_run *r, const struct pl_resample *job) PL_MUST_CHECK;
