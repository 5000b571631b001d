/* daemon/ops/planes_avx2.c - pixels of bytes to planes of floats for AVX2. */
#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
#endif

#include "daemon/ops/planes_x86.h"

PLANES_INLINE __m256 eight(__m128i bytes, float a, float b)
{
	__m256 v = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));

	return _mm256_add_ps(_mm256_mul_ps(v, _mm256_set1_ps(a)), _mm256_set1_ps(b));
}

PLANES_INLINE void store_f32(char *out, __m128i bytes, float a, float b)
{
	_mm256_storeu_ps((float *)(void *)out, eight(bytes, a, b));
	_mm256_storeu_ps((float *)(void *)(out + 32), eight(_mm_srli_si128(bytes, 8), a, b));
}

PLANES_INLINE void store_f16(char *out, __m128i bytes, float a, float b)
{
	__m256 low = eight(bytes, a, b);
	__m256 high = eight(_mm_srli_si128(bytes, 8), a, b);

	_mm_storeu_si128((__m128i *)(void *)out,
		_mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
	_mm_storeu_si128((__m128i *)(void *)(out + 16),
		_mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* Rounded to nearest, ties to even; NaN stays one. */
PLANES_INLINE __m256i bf16_of(__m256 v)
{
	__m256i bits = _mm256_castps_si256(v);
	__m256i upper = _mm256_srli_epi32(bits, 16);
	__m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
	__m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
	__m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
	__m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
	__m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));

	return _mm256_blendv_epi8(rounded, quiet, is_nan);
}

PLANES_INLINE void store_bf16(char *out, __m128i bytes, float a, float b)
{
	__m256i low = bf16_of(eight(bytes, a, b));
	__m256i high = bf16_of(eight(_mm_srli_si128(bytes, 8), a, b));
	__m256i both = _mm256_packus_epi32(low, high);

	_mm256_storeu_si256(
		(__m256i *)(void *)out, _mm256_permute4x64_epi64(both, _MM_SHUFFLE(3, 1, 2, 0)));
}

PLANES_KERNELS("avx2", pl_planes_avx2)

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
