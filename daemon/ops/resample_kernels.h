/* daemon/ops/resample_kernels.h - the inner loops of resampling, portable and AVX2, with equal
 * results. */
#pragma once

#include "daemon/ops/resample.h"

/* Fraction bits of u8 weights, as Pillow's PRECISION_BITS; split for 16-bit multiplication. */
#define PL_WEIGHT_BITS     22
#define PL_WEIGHT_LOW_BITS 15

/*
 * How one axis is resampled: output i is the sum over k < count[i] of input first[i] + k times
 * weight k of its row. Rows of weights are `taps` long, a multiple of 4, the unused ones zero. u8
 * has weight = high * 2^15 + low, low in [0, 2^15); f32 has `weight`.
 */
struct pl_axis {
	int64_t n_out;
	int64_t taps;
	int32_t *first;
	int32_t *count;
	int16_t *high;
	int16_t *low;
	float *weight;
};

/* Tables in scratch for an axis of n_in values that becomes n_out. 0 or a negative errno with
 * r->err. */
int pl_axis_init(struct pl_run *r, struct pl_axis *a, int64_t n_in, int64_t n_out,
	const struct pl_resample *job) PL_MUST_CHECK;

/* Rows of pixels for the horizontal pass, rows of bytes for the vertical. Strides in bytes. */
struct pl_pass {
	const struct pl_axis *axis;
	const unsigned char *src;
	int64_t src_stride;
	int64_t src_width; /* pixels of a source row */
	unsigned char *dst;
	int64_t dst_stride;
	int64_t n_rows;   /* horizontal: rows of src and dst */
	int64_t channels; /* horizontal */
	int64_t n_values; /* vertical: values of a row */
};

void pl_horizontal_u8(const struct pl_pass *p);
void pl_vertical_u8(const struct pl_pass *p);
void pl_horizontal_f32(const struct pl_pass *p);
void pl_vertical_f32(const struct pl_pass *p);

/* True when this processor runs the two below; channels must be 1 to 4 for the horizontal one. */
bool pl_has_avx2(void);
void pl_horizontal_u8_avx2(const struct pl_pass *p);
void pl_vertical_u8_avx2(const struct pl_pass *p);
