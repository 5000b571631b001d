/* daemon/ops/planes_avx512.c - pixels of bytes to planes of floats for AVX-512. */
#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(                                                                      \
	__attribute__((target("avx512f,avx512bw,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl")
#endif

#include "daemon/ops/planes_x86.h"

PLANES_INLINE __m512 sixteen(__m128i bytes, float a, float b)
{
	__m512 v = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));

	return _mm512_add_ps(_mm512_mul_ps(v, _mm512_set1_ps(a)), _mm512_set1_ps(b));
}

PLANES_INLINE void store_f32(char *out, __m128i bytes, float a, float b)
{
	_mm512_storeu_ps(out, sixteen(bytes, a, b));
}

PLANES_INLINE void store_f16(char *out, __m128i bytes, float a, float b)
{
	_mm256_storeu_si256(
		(__m256i *)(void *)out, _mm512_cvtps_ph(sixteen(bytes, a, b),
						_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* Rounded to nearest, ties to even; NaN stays one. */
PLANES_INLINE void store_bf16(char *out, __m128i bytes, float a, float b)
{
	__m512 v = sixteen(bytes, a, b);
	__m512i bits = _mm512_castps_si512(v);
	__m512i upper = _mm512_srli_epi32(bits, 16);
	__m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
	__m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
	__m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
	__mmask16 is_nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);

	rounded = _mm512_mask_or_epi32(rounded, is_nan, upper, _mm512_set1_epi32(0x40));
	_mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtepi32_epi16(rounded));
}

PLANES_KERNELS("avx512", pl_planes_avx512)

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
