/* daemon/ops/planes_x86.h - what the AVX2 and AVX-512 variants of planes share: sixteen pixels
 * apart into channels, and the walk. The includer has set the target. */
#pragma once

#include <immintrin.h>

#include "daemon/ops/planes.h"

#define PLANES_STEP   16 /* pixels */
#define PLANES_INLINE __attribute__((always_inline)) static inline

PLANES_INLINE __m128i load_16(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

PLANES_INLINE __m128i pick(__m128i v, const signed char order[16])
{
	return _mm_shuffle_epi8(v, load_16(order));
}

/* [vector][channel]: the bytes of a channel in each third of 48 bytes, at their place among 16. */
static const signed char thirds[3][3][16] = {
	{{0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
		{1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
		{2, 5, 8, 11, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}},
	{{-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1},
		{-1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1},
		{-1, -1, -1, -1, -1, 1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1}},
	{{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13},
		{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14},
		{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15}},
};
static const signed char halves[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
static const signed char fours[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

PLANES_INLINE void split_2(const unsigned char *in, __m128i out[4])
{
	__m128i a = pick(load_16(in), halves);
	__m128i b = pick(load_16(in + 16), halves);

	out[0] = _mm_unpacklo_epi64(a, b);
	out[1] = _mm_unpackhi_epi64(a, b);
}

PLANES_INLINE void split_3(const unsigned char *in, __m128i out[4])
{
	__m128i v[3] = {load_16(in), load_16(in + 16), load_16(in + 32)};

	for (int c = 0; c < 3; c++)
		out[c] = _mm_or_si128(
			_mm_or_si128(pick(v[0], thirds[0][c]), pick(v[1], thirds[1][c])),
			pick(v[2], thirds[2][c]));
}

PLANES_INLINE void split_4(const unsigned char *in, __m128i out[4])
{
	__m128i v[4];
	__m128i low[2];
	__m128i high[2];

	for (int i = 0; i < 4; i++)
		v[i] = pick(load_16(in + 16 * i), fours);
	for (int i = 0; i < 2; i++) {
		low[i] = _mm_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
		high[i] = _mm_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
	}
	out[0] = _mm_unpacklo_epi64(low[0], low[1]);
	out[1] = _mm_unpackhi_epi64(low[0], low[1]);
	out[2] = _mm_unpacklo_epi64(high[0], high[1]);
	out[3] = _mm_unpackhi_epi64(high[0], high[1]);
}

/* The channels of sixteen pixels, a byte each. */
PLANES_INLINE void split_pixels(const unsigned char *in, const int channels, __m128i out[4])
{
	switch (channels) {
	case 1:
		out[0] = load_16(in);
		break;
	case 2:
		split_2(in, out);
		break;
	case 3:
		split_3(in, out);
		break;
	default:
		split_4(in, out);
	}
}

/* Sixteen bytes times a plus b to `out`, as the type's elements. */
typedef void store_fn(char *out, __m128i bytes, float a, float b);

PLANES_INLINE void planes_at(const struct pl_planes *p, int64_t i, const int channels,
	const int64_t size, store_fn *const store)
{
	__m128i plane[4];

	split_pixels(p->in + i * channels, channels, plane);
	for (int c = 0; c < channels; c++)
		store(p->out + c * p->stride + i * size, plane[c], p->a[c], p->b[c]);
}

/* The last pixels are done with some before them once more: the same bytes again. */
PLANES_INLINE void planes_walk(
	const struct pl_planes *p, const int channels, const int64_t size, store_fn *const store)
{
	int64_t i = 0;

	for (; i + PLANES_STEP <= p->n; i += PLANES_STEP)
		planes_at(p, i, channels, size, store);
	if (i < p->n)
		planes_at(p, p->n - PLANES_STEP, channels, size, store);
}

/* A function for each number of channels, and one that chooses; few pixels go the plain way. */
#define PLANES_TARGET(name, size, store, plain)                                                    \
	static void name(const struct pl_planes *p)                                                \
	{                                                                                          \
		if (p->n < PLANES_STEP)                                                            \
			plain(p);                                                                  \
		else if (p->channels == 1)                                                         \
			planes_walk(p, 1, size, store);                                            \
		else if (p->channels == 2)                                                         \
			planes_walk(p, 2, size, store);                                            \
		else if (p->channels == 3)                                                         \
			planes_walk(p, 3, size, store);                                            \
		else                                                                               \
			planes_walk(p, 4, size, store);                                            \
	}

#define PLANES_KERNELS(variant, kernels)                                                           \
	PLANES_TARGET(planes_f32, 4, store_f32, pl_planes_portable.to_f32)                         \
	PLANES_TARGET(planes_f16, 2, store_f16, pl_planes_portable.to_f16)                         \
	PLANES_TARGET(planes_bf16, 2, store_bf16, pl_planes_portable.to_bf16)                      \
                                                                                                   \
	const struct pl_planes_kernels kernels = {                                                 \
		.name = variant,                                                                   \
		.to_f32 = planes_f32,                                                              \
		.to_f16 = planes_f16,                                                              \
		.to_bf16 = planes_bf16,                                                            \
	};
