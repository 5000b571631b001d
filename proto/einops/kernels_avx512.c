/* proto/einops/kernels_avx512.c - the variant for x86-64 with AVX-512 and VBMI. */
#include "proto/einops/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(                                                                      \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi2,f16c"))),   \
	apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi2,f16c")
#ifdef __OPTIMIZE__
#pragma GCC optimize("O3")
#endif
#endif

#include "proto/einops/kernels_x86.h"

/*
 * Three sources are permuted into one vector by a permutation of two and a masked one of the third.
 * An index is lane + lanes * source; the permutations look at its low bits only, and the mask is
 * where it is 2 * lanes or more.
 */
static const uint8_t split_index[64] = {0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45,
	48, 51, 54, 57, 60, 63, 66, 69, 72, 75, 78, 81, 84, 87, 90, 93, 96, 99, 102, 105, 108, 111,
	114, 117, 120, 123, 126, 129, 132, 135, 138, 141, 144, 147, 150, 153, 156, 159, 162, 165,
	168, 171, 174, 177, 180, 183, 186, 189};
static const uint8_t join_index_1[3][64] = {
	{0, 64, 128, 1, 65, 129, 2, 66, 130, 3, 67, 131, 4, 68, 132, 5, 69, 133, 6, 70, 134, 7, 71,
		135, 8, 72, 136, 9, 73, 137, 10, 74, 138, 11, 75, 139, 12, 76, 140, 13, 77, 141, 14,
		78, 142, 15, 79, 143, 16, 80, 144, 17, 81, 145, 18, 82, 146, 19, 83, 147, 20, 84,
		148, 21},
	{85, 149, 22, 86, 150, 23, 87, 151, 24, 88, 152, 25, 89, 153, 26, 90, 154, 27, 91, 155, 28,
		92, 156, 29, 93, 157, 30, 94, 158, 31, 95, 159, 32, 96, 160, 33, 97, 161, 34, 98,
		162, 35, 99, 163, 36, 100, 164, 37, 101, 165, 38, 102, 166, 39, 103, 167, 40, 104,
		168, 41, 105, 169, 42, 106},
	{170, 43, 107, 171, 44, 108, 172, 45, 109, 173, 46, 110, 174, 47, 111, 175, 48, 112, 176,
		49, 113, 177, 50, 114, 178, 51, 115, 179, 52, 116, 180, 53, 117, 181, 54, 118, 182,
		55, 119, 183, 56, 120, 184, 57, 121, 185, 58, 122, 186, 59, 123, 187, 60, 124, 188,
		61, 125, 189, 62, 126, 190, 63, 127, 191}};
static const uint8_t join_index_2[3][32] = {
	{0, 32, 64, 1, 33, 65, 2, 34, 66, 3, 35, 67, 4, 36, 68, 5, 37, 69, 6, 38, 70, 7, 39, 71, 8,
		40, 72, 9, 41, 73, 10, 42},
	{74, 11, 43, 75, 12, 44, 76, 13, 45, 77, 14, 46, 78, 15, 47, 79, 16, 48, 80, 17, 49, 81, 18,
		50, 82, 19, 51, 83, 20, 52, 84, 21},
	{53, 85, 22, 54, 86, 23, 55, 87, 24, 56, 88, 25, 57, 89, 26, 58, 90, 27, 59, 91, 28, 60, 92,
		29, 61, 93, 30, 62, 94, 31, 63, 95}};
static const uint8_t join_index_4[3][16] = {
	{0, 16, 32, 1, 17, 33, 2, 18, 34, 3, 19, 35, 4, 20, 36, 5},
	{21, 37, 6, 22, 38, 7, 23, 39, 8, 24, 40, 9, 25, 41, 10, 26},
	{42, 11, 27, 43, 12, 28, 44, 13, 29, 45, 14, 30, 46, 15, 31, 47}};
static const uint8_t join_index_8[3][8] = {
	{0, 8, 16, 1, 9, 17, 2, 10}, {18, 3, 11, 19, 4, 12, 20, 5}, {13, 21, 6, 14, 22, 7, 15, 23}};

/* The first three of every six bytes, of ten groups in each of two vectors. */
static const uint8_t pixel_index[64] = {0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20, 24, 25, 26, 30,
	31, 32, 36, 37, 38, 42, 43, 44, 48, 49, 50, 54, 55, 56, 64, 65, 66, 70, 71, 72, 76, 77, 78,
	82, 83, 84, 88, 89, 90, 94, 95, 96, 100, 101, 102, 106, 107, 108, 112, 113, 114, 118, 119,
	120, 0, 0, 0, 0};
static const uint8_t even_index[64] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
	32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64, 66, 68, 70, 72, 74, 76,
	78, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116,
	118, 120, 122, 124, 126};

static inline __m512i load_512(const void *p)
{
	return _mm512_loadu_si512(p);
}

static inline __m512i index_1(const uint8_t *p)
{
	return load_512(p);
}

static inline __m512i index_2(const uint8_t *p)
{
	return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

static inline __m512i index_4(const uint8_t *p)
{
	return _mm512_cvtepu8_epi32(load_128((const char *)p));
}

static inline __m512i index_8(const uint8_t *p)
{
	return _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)p));
}

/* A permutation of three vectors, for elements of 8 * `size` bits. */
#define DEFINE_PERMUTE(size, epi, epu, type)                                                       \
	struct permute_##size {                                                                    \
		__m512i index;                                                                     \
		__mmask64 third;                                                                   \
	};                                                                                         \
	static inline struct permute_##size permute_of_##size(__m512i index)                       \
	{                                                                                          \
		return (struct permute_##size){                                                    \
			index, _mm512_cmpge_##epu##_mask(                                          \
				       index, _mm512_set1_##epi((type)(2 * (64 / size))))};        \
	}                                                                                          \
	static inline __m512i permute_##size(                                                      \
		const struct permute_##size *p, const __m512i from[3])                             \
	{                                                                                          \
		__m512i two = _mm512_permutex2var_##epi(from[0], p->index, from[1]);               \
                                                                                                   \
		return _mm512_mask_permutexvar_##epi(two, p->third, p->index, from[2]);            \
	}

DEFINE_PERMUTE(1, epi8, epu8, char)
DEFINE_PERMUTE(2, epi16, epu16, short)
DEFINE_PERMUTE(4, epi32, epu32, int)
DEFINE_PERMUTE(8, epi64, epu64, long long)

/* Whole vectors; the last ones overlap those before, so that nothing is left over. */
#define DEFINE_THREES(size, epi)                                                                   \
	static inline int64_t split_3_fast_##size(                                                 \
		char *out, int64_t row, const char *in, int64_t n)                                 \
	{                                                                                          \
		const int64_t lanes = 64 / size;                                                   \
		struct permute_##size p[3];                                                        \
                                                                                                   \
		if (n < lanes)                                                                     \
			return 0;                                                                  \
		for (int k = 0; k < 3; k++)                                                        \
			p[k] = permute_of_##size(_mm512_add_##epi(                                 \
				index_##size(split_index), _mm512_set1_##epi((char)k)));           \
		for (int64_t j = 0; j < n; j += lanes) {                                           \
			__m512i from[3];                                                           \
                                                                                                   \
			if (j + lanes > n)                                                         \
				j = n - lanes;                                                     \
			for (int k = 0; k < 3; k++)                                                \
				from[k] = load_512(in + j * 3 * size + k * 64);                    \
			for (int k = 0; k < 3; k++)                                                \
				_mm512_storeu_si512(                                               \
					out + k * row + j * size, permute_##size(&p[k], from));    \
		}                                                                                  \
		return n;                                                                          \
	}                                                                                          \
	static inline int64_t join_3_fast_##size(                                                  \
		char *out, const char *in, int64_t row, int64_t n)                                 \
	{                                                                                          \
		const int64_t lanes = 64 / size;                                                   \
		struct permute_##size p[3];                                                        \
                                                                                                   \
		if (n < lanes)                                                                     \
			return 0;                                                                  \
		for (int k = 0; k < 3; k++)                                                        \
			p[k] = permute_of_##size(index_##size(join_index_##size[k]));              \
		for (int64_t j = 0; j < n; j += lanes) {                                           \
			__m512i from[3];                                                           \
                                                                                                   \
			if (j + lanes > n)                                                         \
				j = n - lanes;                                                     \
			for (int k = 0; k < 3; k++)                                                \
				from[k] = load_512(in + k * row + j * size);                       \
			for (int k = 0; k < 3; k++)                                                \
				_mm512_storeu_si512(                                               \
					out + j * 3 * size + k * 64, permute_##size(&p[k], from)); \
		}                                                                                  \
		return n;                                                                          \
	}

DEFINE_THREES(1, epi8)
DEFINE_THREES(2, epi16)
DEFINE_THREES(4, epi32)
DEFINE_THREES(8, epi64)

/* Pooling of bytes by two: rows of any width, pairs of single bytes, pairs of pixels of three. */
#define DEFINE_POOL(name, op)                                                                      \
	static inline void pool_rows_##name(char *out, const char *in, const struct pl_fold *f)    \
	{                                                                                          \
		for (int64_t g = 0; g < f->groups; g++) {                                          \
			char *o = out + g * f->wide;                                               \
			const char *x = in + g * 2 * f->wide;                                      \
			int64_t i = 0;                                                             \
                                                                                                   \
			for (; i + 64 <= f->wide; i += 64)                                         \
				_mm512_storeu_si512(                                               \
					o + i, op(load_512(x + i), load_512(x + f->wide + i)));    \
			if (i < f->wide) {                                                         \
				__mmask64 rest = _bzhi_u64(~0ull, (unsigned int)(f->wide - i));    \
                                                                                                   \
				_mm512_mask_storeu_epi8(o + i, rest,                               \
					op(_mm512_maskz_loadu_epi8(rest, x + i),                   \
						_mm512_maskz_loadu_epi8(rest, x + f->wide + i)));  \
			}                                                                          \
		}                                                                                  \
	}                                                                                          \
	static inline int64_t pool_pairs_##name(char *out, const char *in, int64_t groups)         \
	{                                                                                          \
		__m512i even = load_512(even_index);                                               \
		int64_t i = 0;                                                                     \
                                                                                                   \
		for (; i + 64 <= groups; i += 64) {                                                \
			__m512i a = load_512(in + 2 * i);                                          \
			__m512i b = load_512(in + 2 * i + 64);                                     \
                                                                                                   \
			a = op(a, _mm512_srli_epi16(a, 8));                                        \
			b = op(b, _mm512_srli_epi16(b, 8));                                        \
			_mm512_storeu_si512(out + i, _mm512_permutex2var_epi8(a, even, b));        \
		}                                                                                  \
		return i;                                                                          \
	}                                                                                          \
	static inline int64_t pool_pixels_##name(char *out, const char *in, int64_t groups)        \
	{                                                                                          \
		__m512i left = load_512(pixel_index);                                              \
		__m512i right = _mm512_add_epi8(left, _mm512_set1_epi8(3));                        \
		int64_t i = 0;                                                                     \
                                                                                                   \
		for (; i + 22 <= groups; i += 20) {                                                \
			__m512i a = load_512(in + 6 * i);                                          \
			__m512i b = load_512(in + 6 * i + 60);                                     \
                                                                                                   \
			_mm512_storeu_si512(                                                       \
				out + 3 * i, op(_mm512_permutex2var_epi8(a, left, b),              \
						     _mm512_permutex2var_epi8(a, right, b)));      \
		}                                                                                  \
		return i;                                                                          \
	}                                                                                          \
	static inline int64_t pool_##name(void *out, const void *in, const struct pl_fold *f)      \
	{                                                                                          \
		if (f->n != 2)                                                                     \
			return 0;                                                                  \
		if (f->wide == 1)                                                                  \
			return pool_pairs_##name(out, in, f->groups);                              \
		if (f->wide == 3)                                                                  \
			return pool_pixels_##name(out, in, f->groups);                             \
		if (f->wide < 16)                                                                  \
			return 0;                                                                  \
		pool_rows_##name(out, in, f);                                                      \
		return f->groups;                                                                  \
	}

static inline __mmask64 mask_of(uint64_t n)
{
	return n < 64 ? _bzhi_u64(~0ull, (unsigned int)n) : ~0ull;
}

/* Both directions of a pooling by two at once: twenty pixels or 64 bytes of the result at a time.
 */
#define DEFINE_POOL_TWICE(name, op)                                                                \
	static inline __m512i pixels_##name(__m512i a, __m512i b)                                  \
	{                                                                                          \
		const __m512i left = load_512(pixel_index);                                        \
		const __m512i right = _mm512_add_epi8(left, _mm512_set1_epi8(3));                  \
                                                                                                   \
		return op(_mm512_permutex2var_epi8(a, left, b),                                    \
			_mm512_permutex2var_epi8(a, right, b));                                    \
	}                                                                                          \
	static inline void pool_rest_##name(char *out, const char *x, int64_t row, uint64_t n)     \
	{                                                                                          \
		__mmask64 first = mask_of(n * 6);                                                  \
		__mmask64 second = mask_of(n > 10 ? n * 6 - 60 : 0);                               \
		__m512i a = op(_mm512_maskz_loadu_epi8(first, x),                                  \
			_mm512_maskz_loadu_epi8(first, x + row));                                  \
		__m512i b = op(_mm512_maskz_loadu_epi8(second, x + 60),                            \
			_mm512_maskz_loadu_epi8(second, x + 60 + row));                            \
                                                                                                   \
		_mm512_mask_storeu_epi8(out, mask_of(n * 3), pixels_##name(a, b));                 \
	}                                                                                          \
	static inline void pool_twice_pixels_##name(char *o, const char *x, int64_t pairs)         \
	{                                                                                          \
		int64_t i = 0;                                                                     \
                                                                                                   \
		for (; i + 22 <= pairs; i += 20) {                                                 \
			const char *at = x + 6 * i;                                                \
			__m512i a = op(load_512(at), load_512(at + 6 * pairs));                    \
			__m512i b = op(load_512(at + 60), load_512(at + 60 + 6 * pairs));          \
                                                                                                   \
			_mm512_storeu_si512(o + 3 * i, pixels_##name(a, b));                       \
		}                                                                                  \
		for (; i < pairs; i += 20) {                                                       \
			int64_t n = pairs - i < 20 ? pairs - i : 20;                               \
                                                                                                   \
			pool_rest_##name(o + 3 * i, x + 6 * i, 6 * pairs, (uint64_t)n);            \
		}                                                                                  \
	}                                                                                          \
	static inline void pool_twice_bytes_##name(char *o, const char *x, int64_t pairs)          \
	{                                                                                          \
		const __m512i even = load_512(even_index);                                         \
                                                                                                   \
		for (int64_t i = 0; i < pairs; i += 64) {                                          \
			uint64_t n = pairs - i < 64 ? (uint64_t)(pairs - i) : 64;                  \
			__mmask64 first = mask_of(2 * n);                                          \
			__mmask64 second = mask_of(n > 32 ? 2 * n - 64 : 0);                       \
			const char *at = x + 2 * i;                                                \
			__m512i a = op(_mm512_maskz_loadu_epi8(first, at),                         \
				_mm512_maskz_loadu_epi8(first, at + 2 * pairs));                   \
			__m512i b = op(_mm512_maskz_loadu_epi8(second, at + 64),                   \
				_mm512_maskz_loadu_epi8(second, at + 64 + 2 * pairs));             \
                                                                                                   \
			a = op(a, _mm512_srli_epi16(a, 8));                                        \
			b = op(b, _mm512_srli_epi16(b, 8));                                        \
			_mm512_mask_storeu_epi8(                                                   \
				o + i, mask_of(n), _mm512_permutex2var_epi8(a, even, b));          \
		}                                                                                  \
	}                                                                                          \
	static inline bool pool_twice_##name(void *out, const void *in, const struct pl_pool *p)   \
	{                                                                                          \
		const char *x = in;                                                                \
		char *o = out;                                                                     \
                                                                                                   \
		if (p->wide != 1 && p->wide != 3)                                                  \
			return false;                                                              \
		for (int64_t g = 0; g < p->groups; g++) {                                          \
			if (p->wide == 3)                                                          \
				pool_twice_pixels_##name(o, x, p->pairs);                          \
			else                                                                       \
				pool_twice_bytes_##name(o, x, p->pairs);                           \
			x += 4 * p->wide * p->pairs;                                               \
			o += p->wide * p->pairs;                                                   \
		}                                                                                  \
		return true;                                                                       \
	}

DEFINE_POOL_TWICE(min, _mm512_min_epu8)
DEFINE_POOL_TWICE(max, _mm512_max_epu8)
DEFINE_POOL(min, _mm512_min_epu8)
DEFINE_POOL(max, _mm512_max_epu8)

#define FOLD_MIN_U8 pool_min
#define FOLD_MAX_U8 pool_max
#include "proto/einops/kernels_reduce.h"

DEFINE_SPLIT(3, 1, split_3_fast_1)
DEFINE_SPLIT(3, 2, split_3_fast_2)
DEFINE_SPLIT(3, 4, split_3_fast_4)
DEFINE_SPLIT(3, 8, split_3_fast_8)
DEFINE_JOIN(3, 1, join_3_fast_1)
DEFINE_JOIN(3, 2, join_3_fast_2)
DEFINE_JOIN(3, 4, join_3_fast_4)
DEFINE_JOIN(3, 8, join_3_fast_8)
DEFINE_SPLIT(2, 1, SPLIT_NONE)
DEFINE_SPLIT(2, 2, SPLIT_NONE)
DEFINE_SPLIT(2, 4, SPLIT_NONE)
DEFINE_SPLIT(2, 8, SPLIT_NONE)
DEFINE_SPLIT(4, 1, SPLIT_NONE)
DEFINE_SPLIT(4, 2, SPLIT_NONE)
DEFINE_SPLIT(4, 4, SPLIT_NONE)
DEFINE_SPLIT(4, 8, SPLIT_NONE)
DEFINE_JOIN(2, 1, JOIN_NONE)
DEFINE_JOIN(2, 2, JOIN_NONE)
DEFINE_JOIN(2, 4, JOIN_NONE)
DEFINE_JOIN(2, 8, JOIN_NONE)
DEFINE_JOIN(4, 1, JOIN_NONE)
DEFINE_JOIN(4, 2, JOIN_NONE)
DEFINE_JOIN(4, 4, JOIN_NONE)
DEFINE_JOIN(4, 8, JOIN_NONE)

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

static bool is_usable(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("bmi2") && has_f16c();
}

const struct pl_kernels pl_kernels_avx512 = KERNELS_TABLE("avx512", is_usable, convert_f16,
	.pool = {[ACC_MIN] = pool_twice_min, [ACC_MAX] = pool_twice_max});
#endif
