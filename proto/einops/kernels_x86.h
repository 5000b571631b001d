/* proto/einops/kernels_x86.h - what the AVX2 and AVX-512 variants share. */
#pragma once

#include "proto/einops/kernels_move.h"

#include <cpuid.h>
#include <immintrin.h>

static inline __m128i load_128(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline void store_128(char *p, __m128i v)
{
	_mm_storeu_si128((__m128i *)(void *)p, v);
}

/*
 * A square matrix of vectors is transposed by log2(n) rounds in which row i and row i + n/2 are
 * interleaved into rows 2i and 2i + 1.
 */
#define TRANSPOSE_ROUND(n, low, high)                                                              \
	for (int i = 0; i < (n) / 2; i++) {                                                        \
		b[2 * i] = low(a[i], a[i + (n) / 2]);                                              \
		b[2 * i + 1] = high(a[i], a[i + (n) / 2]);                                         \
	}                                                                                          \
	memcpy(a, b, sizeof(a));

static inline void transpose_16x16_1(const struct matrix *m)
{
	__m128i a[16];
	__m128i b[16];

	for (int i = 0; i < 16; i++)
		a[i] = load_128(m->in + i * m->in_row);
	TRANSPOSE_ROUND(16, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
	TRANSPOSE_ROUND(16, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
	TRANSPOSE_ROUND(16, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
	TRANSPOSE_ROUND(16, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
	for (int i = 0; i < 16; i++)
		store_128(m->out + i * m->out_row, a[i]);
}

static inline void transpose_8x8_2(const struct matrix *m)
{
	__m128i a[8];
	__m128i b[8];

	for (int i = 0; i < 8; i++)
		a[i] = load_128(m->in + i * m->in_row);
	TRANSPOSE_ROUND(8, _mm_unpacklo_epi16, _mm_unpackhi_epi16)
	TRANSPOSE_ROUND(8, _mm_unpacklo_epi16, _mm_unpackhi_epi16)
	TRANSPOSE_ROUND(8, _mm_unpacklo_epi16, _mm_unpackhi_epi16)
	for (int i = 0; i < 8; i++)
		store_128(m->out + i * m->out_row, a[i]);
}

/* Halves of two rows, each a quarter of the matrix, side by side. */
static inline __m256i load_halves(const char *low, const char *high)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(low)), load_128(high), 1);
}

static inline void store_256(char *p, __m256i v)
{
	_mm256_storeu_si256((__m256i *)(void *)p, v);
}

/* Within 128 bits: rows 0..3 and 4..7 of four columns at a time. */
static inline void transpose_8x4_4(const struct matrix *m, int64_t column)
{
	const char *in = m->in + column * 4;
	__m256i a[4];
	__m256i b[4];

	for (int i = 0; i < 4; i++)
		a[i] = load_halves(in + i * m->in_row, in + (i + 4) * m->in_row);
	TRANSPOSE_ROUND(4, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32)
	TRANSPOSE_ROUND(4, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32)
	for (int i = 0; i < 4; i++)
		store_256(m->out + (column + i) * m->out_row, a[i]);
}

static inline void transpose_8x8_4(const struct matrix *m)
{
	transpose_8x4_4(m, 0);
	transpose_8x4_4(m, 4);
}

static inline void transpose_4x4_8(const struct matrix *m)
{
	for (int column = 0; column < 4; column += 2) {
		const char *in = m->in + column * 8;
		__m256i even = load_halves(in, in + 2 * m->in_row);
		__m256i odd = load_halves(in + m->in_row, in + 3 * m->in_row);

		store_256(m->out + column * m->out_row, _mm256_unpacklo_epi64(even, odd));
		store_256(m->out + (column + 1) * m->out_row, _mm256_unpackhi_epi64(even, odd));
	}
}

DEFINE_BLOCKS(1, 16, transpose_16x16_1)
DEFINE_BLOCKS(2, 8, transpose_8x8_2)
DEFINE_BLOCKS(4, 8, transpose_8x8_4)
DEFINE_BLOCKS(8, 4, transpose_4x4_8)

static inline void convert_f16(void *out, const void *in, int64_t n)
{
	float *o = out;
	int64_t i = 0;

	for (; i + 8 <= n; i += 8)
		_mm256_storeu_ps(o + i, _mm256_cvtph_ps(load_128((const char *)in + i * 2)));
	for (; i < n; i++)
		o[i] = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(FROM(unit_2, in, i * 2))));
}

/* Not every compiler knows it by name. */
static inline bool has_f16c(void)
{
	unsigned int a;
	unsigned int b;
	unsigned int c;
	unsigned int d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
