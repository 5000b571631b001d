/* proto/einops/kernels_avx2.c - the variant for x86-64 with AVX2. */
#include "proto/einops/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi2,f16c")
#ifdef __OPTIMIZE__
#pragma GCC optimize("O3")
#endif
#endif

#include "proto/einops/kernels_x86.h"

/*
 * Three planes alternate over three vectors. As 3 has no factor in common with the number of lanes,
 * the elements of one plane lie in different lanes of the three: two blends bring them into one
 * vector, a shuffle in order. Joining is the same backwards. Bytes and pairs of bytes are done 16
 * bytes of each plane at a time in both halves.
 */
static const uint8_t split_index_1[3][16] = {{0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13},
	{1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14},
	{2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15}};
static const uint8_t join_index_1[3][16] = {{0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5},
	{5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10},
	{10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15}};
static const uint8_t plane_of_1[3][16] = {{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0},
	{1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1},
	{2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}};
static const uint8_t split_index_2[3][16] = {{0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5, 10, 11},
	{2, 3, 8, 9, 14, 15, 4, 5, 10, 11, 0, 1, 6, 7, 12, 13},
	{4, 5, 10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15}};
static const uint8_t join_index_2[3][16] = {{0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5, 10, 11},
	{10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5},
	{4, 5, 10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15}};
static const uint8_t plane_of_2[3][16] = {{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1},
	{2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0},
	{1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}};

struct threes {
	__m256i index[3];
	__m256i is_plane[3][2]; /* [vector][plane 1 and 2] */
};

static inline __m256i twice(const uint8_t *p)
{
	return _mm256_broadcastsi128_si256(load_128((const char *)p));
}

static inline struct threes threes_of(const uint8_t index[3][16], const uint8_t plane_of[3][16])
{
	struct threes t;

	for (int v = 0; v < 3; v++) {
		__m256i plane = twice(plane_of[v]);

		t.index[v] = twice(index[v]);
		t.is_plane[v][0] = _mm256_cmpeq_epi8(plane, _mm256_set1_epi8(1));
		t.is_plane[v][1] = _mm256_cmpeq_epi8(plane, _mm256_set1_epi8(2));
	}
	return t;
}

/* The elements of plane k out of three vectors, in order. */
static inline __m256i split_plane(const struct threes *t, const __m256i v[3], int k)
{
	__m256i x = v[0];

	for (int i = 1; i < 3; i++) {
		__m256i mine = k ? t->is_plane[i][k - 1]
				 : _mm256_or_si256(t->is_plane[i][0], t->is_plane[i][1]);

		x = k ? _mm256_blendv_epi8(x, v[i], mine) : _mm256_blendv_epi8(v[i], x, mine);
	}
	return _mm256_shuffle_epi8(x, t->index[k]);
}

/* Vector i of the alternating elements, from the planes with their elements in its lanes. */
static inline __m256i join_vector(const struct threes *t, const __m256i plane[3], int i)
{
	__m256i x = _mm256_blendv_epi8(plane[0], plane[1], t->is_plane[i][0]);

	return _mm256_blendv_epi8(x, plane[2], t->is_plane[i][1]);
}

static inline int64_t split_3_bytes(
	const struct threes *t, char *out, int64_t row, const char *in, int64_t n_bytes)
{
	int64_t i = 0;

	for (; i + 32 <= n_bytes; i += 32) {
		const char *from = in + 3 * i;
		__m256i v[3];

		for (int k = 0; k < 3; k++)
			v[k] = load_halves(from + 16 * k, from + 48 + 16 * k);
		for (int k = 0; k < 3; k++)
			store_256(out + k * row + i, split_plane(t, v, k));
	}
	return i;
}

static inline int64_t join_3_bytes(
	const struct threes *t, char *out, const char *in, int64_t row, int64_t n_bytes)
{
	int64_t i = 0;

	for (; i + 32 <= n_bytes; i += 32) {
		char *to = out + 3 * i;
		__m256i plane[3];

		for (int k = 0; k < 3; k++)
			plane[k] = _mm256_shuffle_epi8(
				_mm256_loadu_si256(
					(const __m256i *)(const void *)(in + k * row + i)),
				t->index[k]);
		for (int k = 0; k < 3; k++) {
			__m256i v = join_vector(t, plane, k);

			store_128(to + 16 * k, _mm256_castsi256_si128(v));
			store_128(to + 48 + 16 * k, _mm256_extracti128_si256(v, 1));
		}
	}
	return i;
}

#define DEFINE_THREES(size)                                                                        \
	static inline int64_t split_3_fast_##size(                                                 \
		char *out, int64_t row, const char *in, int64_t n)                                 \
	{                                                                                          \
		struct threes t = threes_of(split_index_##size, plane_of_##size);                  \
                                                                                                   \
		return split_3_bytes(&t, out, row, in, n * size) / size;                           \
	}                                                                                          \
	static inline int64_t join_3_fast_##size(                                                  \
		char *out, const char *in, int64_t row, int64_t n)                                 \
	{                                                                                          \
		struct threes t = threes_of(join_index_##size, plane_of_##size);                   \
                                                                                                   \
		return join_3_bytes(&t, out, in, row, n * size) / size;                            \
	}

DEFINE_THREES(1)
DEFINE_THREES(2)

/* Eight lanes of 32 bits: in vector v lane l is of plane (8v + l) mod 3, which the masks of the
 * blends say. */

static inline __m256 load_ps(const char *p)
{
	return _mm256_loadu_ps((const float *)(const void *)p);
}

static inline void store_ps(char *p, __m256 v)
{
	_mm256_storeu_ps((float *)(void *)p, v);
}

static inline int64_t split_3_fast_4(char *out, int64_t row, const char *in, int64_t n)
{
	const __m256i order[3] = {_mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5),
		_mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6),
		_mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7)};
	int64_t j = 0;

	for (; j + 8 <= n; j += 8) {
		__m256 a = load_ps(in + j * 12);
		__m256 b = load_ps(in + j * 12 + 32);
		__m256 c = load_ps(in + j * 12 + 64);
		__m256 x = _mm256_blend_ps(_mm256_blend_ps(a, b, 0x92), c, 0x24);
		__m256 y = _mm256_blend_ps(_mm256_blend_ps(a, b, 0x24), c, 0x49);
		__m256 z = _mm256_blend_ps(_mm256_blend_ps(a, b, 0x49), c, 0x92);

		store_ps(out + j * 4, _mm256_permutevar8x32_ps(x, order[0]));
		store_ps(out + row + j * 4, _mm256_permutevar8x32_ps(y, order[1]));
		store_ps(out + 2 * row + j * 4, _mm256_permutevar8x32_ps(z, order[2]));
	}
	return j;
}

static inline int64_t join_3_fast_4(char *out, const char *in, int64_t row, int64_t n)
{
	const __m256i order[3] = {_mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5),
		_mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2),
		_mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7)};
	int64_t j = 0;

	for (; j + 8 <= n; j += 8) {
		__m256 x = _mm256_permutevar8x32_ps(load_ps(in + j * 4), order[0]);
		__m256 y = _mm256_permutevar8x32_ps(load_ps(in + row + j * 4), order[1]);
		__m256 z = _mm256_permutevar8x32_ps(load_ps(in + 2 * row + j * 4), order[2]);

		store_ps(out + j * 12, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x92), z, 0x24));
		store_ps(out + j * 12 + 32, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x24), z, 0x49));
		store_ps(out + j * 12 + 64, _mm256_blend_ps(_mm256_blend_ps(x, y, 0x49), z, 0x92));
	}
	return j;
}

/* Pooling of pixels of three bytes by two: the first nine bytes of 18, in both halves. */
#define DEFINE_POOL(name, op)                                                                      \
	static inline int64_t pool_##name(void *out, const void *in, const struct pl_fold *f)      \
	{                                                                                          \
		const __m256i index = _mm256_broadcastsi128_si256(                                 \
			_mm_setr_epi8(0, 1, 2, 6, 7, 8, 12, 13, 14, -1, -1, -1, -1, -1, -1, -1));  \
		const char *x = in;                                                                \
		char *o = out;                                                                     \
		int64_t i = 0;                                                                     \
                                                                                                   \
		if (f->n != 2 || f->wide != 3)                                                     \
			return 0;                                                                  \
		for (; i + 10 <= f->groups; i += 6) {                                              \
			const char *from = x + 6 * i;                                              \
			__m256i v = op(                                                            \
				load_halves(from, from + 18), load_halves(from + 3, from + 21));   \
                                                                                                   \
			v = _mm256_shuffle_epi8(v, index);                                         \
			store_128(o + 3 * i, _mm256_castsi256_si128(v));                           \
			store_128(o + 3 * i + 9, _mm256_extracti128_si256(v, 1));                  \
		}                                                                                  \
		return i;                                                                          \
	}

static inline __m256i load_256(const char *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* Of lane k of 96 bytes, those that begin or lie in the first of two pixels of three bytes. */
static const int8_t pool_index[6][16] = {
	{0, 1, 2, 6, 7, 8, 12, 13, 14, -1, -1, -1, -1, -1, -1, -1},
	{2, 3, 4, 8, 9, 10, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1},
	{0, 4, 5, 6, 10, 11, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1},
	{0, 1, 2, 6, 7, 8, 12, 13, 14, -1, -1, -1, -1, -1, -1, -1},
	{2, 3, 4, 8, 9, 10, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1},
	{0, 4, 5, 6, 10, 11, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1},
};

/* Three bytes on: the lanes of `v` from there, filled up from `next`. */
static inline __m256i pixel_on(__m256i v, __m256i next)
{
	return _mm256_alignr_epi8(_mm256_permute2x128_si256(v, next, 0x21), v, 3);
}

/*
 * Both directions of a pooling of such pixels at once: sixteen pixels of the result out of 96 bytes
 * of two rows. What is written beyond a row (57 bytes are, for 48) is written again with the next
 * one; only in the last row must nothing be touched that isn't there.
 */
#define DEFINE_POOL_TWICE(name, op)                                                                \
	static inline void pool_sixteen_##name(char *o, const char *x, int64_t row)                \
	{                                                                                          \
		static const int8_t at[6] = {0, 9, 17, 24, 33, 41};                                \
		__m256i v[4];                                                                      \
                                                                                                   \
		for (int k = 0; k < 3; k++)                                                        \
			v[k] = op(load_256(x + 32 * k), load_256(x + 32 * k + row));               \
		v[3] = v[2];                                                                       \
		for (int k = 0; k < 3; k++) {                                                      \
			__m256i index = _mm256_loadu_si256(                                        \
				(const __m256i *)(const void *)pool_index[2 * k]);                 \
			__m256i pairs = op(v[k], pixel_on(v[k], v[k + 1]));                        \
                                                                                                   \
			pairs = _mm256_shuffle_epi8(pairs, index);                                 \
			store_128(o + at[2 * k], _mm256_castsi256_si128(pairs));                   \
			store_128(o + at[2 * k + 1], _mm256_extracti128_si256(pairs, 1));          \
		}                                                                                  \
	}                                                                                          \
	static inline void pool_last_##name(char *o, const char *x, int64_t pairs)                 \
	{                                                                                          \
		int64_t row = 6 * pairs;                                                           \
		char apart[64];                                                                    \
		int64_t i = 0;                                                                     \
                                                                                                   \
		for (; i + 19 <= pairs; i += 16)                                                   \
			pool_sixteen_##name(o + 3 * i, x + 6 * i, row);                            \
		for (; i < pairs; i += 16) {                                                       \
			int64_t at = i + 16 < pairs ? i : pairs - 16;                              \
                                                                                                   \
			pool_sixteen_##name(apart, x + 6 * at, row);                               \
			memcpy(o + 3 * at, apart, 48);                                             \
		}                                                                                  \
	}                                                                                          \
	static inline bool pool_twice_##name(void *out, const void *in, const struct pl_pool *p)   \
	{                                                                                          \
		int64_t row = 6 * p->pairs;                                                        \
		const char *x = in;                                                                \
		char *o = out;                                                                     \
                                                                                                   \
		if (p->wide != 3 || p->pairs < 19)                                                 \
			return false;                                                              \
		for (int64_t g = 1; g < p->groups; g++, x += 2 * row, o += row / 2)                \
			for (int64_t i = 0; i < p->pairs; i += 16)                                 \
				pool_sixteen_##name(o + 3 * i, x + 6 * i, row);                    \
		if (p->groups > 0)                                                                 \
			pool_last_##name(o, x, p->pairs);                                          \
		return true;                                                                       \
	}

DEFINE_POOL(min, _mm256_min_epu8)
DEFINE_POOL(max, _mm256_max_epu8)
DEFINE_POOL_TWICE(min, _mm256_min_epu8)
DEFINE_POOL_TWICE(max, _mm256_max_epu8)

#define FOLD_MIN_U8 pool_min
#define FOLD_MAX_U8 pool_max
#include "proto/einops/kernels_reduce.h"

DEFINE_SPLIT(3, 1, split_3_fast_1)
DEFINE_SPLIT(3, 2, split_3_fast_2)
DEFINE_SPLIT(3, 4, split_3_fast_4)
DEFINE_JOIN(3, 1, join_3_fast_1)
DEFINE_JOIN(3, 2, join_3_fast_2)
DEFINE_JOIN(3, 4, join_3_fast_4)
DEFINE_SPLIT(2, 1, SPLIT_NONE)
DEFINE_SPLIT(2, 2, SPLIT_NONE)
DEFINE_SPLIT(2, 4, SPLIT_NONE)
DEFINE_SPLIT(2, 8, SPLIT_NONE)
DEFINE_SPLIT(3, 8, SPLIT_NONE)
DEFINE_SPLIT(4, 1, SPLIT_NONE)
DEFINE_SPLIT(4, 2, SPLIT_NONE)
DEFINE_SPLIT(4, 4, SPLIT_NONE)
DEFINE_SPLIT(4, 8, SPLIT_NONE)
DEFINE_JOIN(2, 1, JOIN_NONE)
DEFINE_JOIN(2, 2, JOIN_NONE)
DEFINE_JOIN(2, 4, JOIN_NONE)
DEFINE_JOIN(2, 8, JOIN_NONE)
DEFINE_JOIN(3, 8, JOIN_NONE)
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
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && has_f16c();
}

const struct pl_kernels pl_kernels_avx2 = KERNELS_TABLE("avx2", is_usable, convert_f16,
	.pool = {[ACC_MIN] = pool_twice_min, [ACC_MAX] = pool_twice_max});
#endif
