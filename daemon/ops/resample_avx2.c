/* daemon/ops/resample_avx2.c - the inner loops of u8 resampling for AVX2. */
#include "daemon/ops/resample_kernels.h"

/*
 * A weight has 23 bits and a sign, too many for the 16-bit multiply-add, so it goes in as high *
 * 2^15 + low: two multiply-adds of pixel pairs, joined at the end. The low sum may wrap, but so
 * does the joined sum, and the true result fits 32 bits: results equal those of the portable loops.
 */

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE AVX2 __attribute__((always_inline)) static inline

/* Rows that share the loading of weights in the horizontal pass. */
#define GROUP 4 /* pixels_store knows it */

bool pl_has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

/* Four pixels of 1 to 4 channels in 16 bytes -> 16-bit pairs (pixel 0, 1) a channel below, (2, 3)
 * above. */
static const signed char pair_order[4][32] = {
	{0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, /**/ 2, -1, 3, -1, -1, -1,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
	{0, -1, 2, -1, 1, -1, 3, -1, -1, -1, -1, -1, -1, -1, -1, -1, /**/ 4, -1, 6, -1, 5, -1, 7,
		-1, -1, -1, -1, -1, -1, -1, -1, -1},
	{0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, /**/ 6, -1, 9, -1, 7, -1, 10, -1,
		8, -1, 11, -1, -1, -1, -1, -1},
	{0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1, /**/ 8, -1, 12, -1, 9, -1, 13, -1,
		10, -1, 14, -1, 11, -1, 15, -1},
};

/* Weights 0, 1 to every pair of the lower half, 2, 3 to the upper. */
static const signed char weight_order[32] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5,
	6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7};

struct sums {
	__m256i low;
	__m256i high;
};

struct orders {
	__m256i pair;
	__m256i weight;
};

/* One output pixel: where its source pixels begin, and its weights. */
struct pixel {
	const unsigned char *from;
	const int16_t *low;
	const int16_t *high;
	int32_t count;
	int32_t n_bytes; /* that may be read at `from` */
	int64_t room;    /* bytes from the output pixel to its row's end */
};

INLINE __m256i weights_load(const int16_t *w, __m256i order)
{
	int64_t four;

	memcpy(&four, w, sizeof(four));
	return _mm256_shuffle_epi8(_mm256_set1_epi64x(four), order);
}

INLINE void sums_add(struct sums *s, __m128i pixels, __m256i pair_shuffle, const __m256i *weight)
{
	__m256i pairs = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(pixels), pair_shuffle);

	s->low = _mm256_add_epi32(s->low, _mm256_madd_epi16(pairs, weight[0]));
	s->high = _mm256_add_epi32(s->high, _mm256_madd_epi16(pairs, weight[1]));
}

INLINE __m256i sums_join(const struct sums *s)
{
	return _mm256_add_epi32(_mm256_slli_epi32(s->high, PL_WEIGHT_LOW_BITS), s->low);
}

/* Rounded, and back to the size of a value. */
INLINE __m256i values_of(__m256i sum)
{
	const __m256i half = _mm256_set1_epi32(1 << (PL_WEIGHT_BITS - 1));

	return _mm256_srai_epi32(_mm256_add_epi32(sum, half), PL_WEIGHT_BITS);
}

/* The halves of a and of b, each added up. */
INLINE __m256i halves_add(__m256i a, __m256i b)
{
	return _mm256_add_epi32(
		_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
}

/* Four bytes where the row has room for them, for the next pixel is written later: one move instead
 * of a call. */
INLINE void pixel_store(uint32_t pixel, int64_t channels, int64_t room, unsigned char *dst)
{
	if (room >= 4)
		memcpy(dst, &pixel, 4);
	else
		memcpy(dst, &pixel, (size_t)channels);
}

/* The same pixel of four rows. */
INLINE void pixels_store(
	const struct pl_pass *p, const struct sums *s, int64_t room, unsigned char *dst)
{
	__m256i upper = values_of(halves_add(sums_join(&s[0]), sums_join(&s[1])));
	__m256i lower = values_of(halves_add(sums_join(&s[2]), sums_join(&s[3])));
	__m256i words = _mm256_packs_epi32(upper, lower);
	__m256i bytes = _mm256_packus_epi16(words, words);
	__m128i even = _mm256_castsi256_si128(bytes);
	__m128i odd = _mm256_extracti128_si256(bytes, 1);

	pixel_store((uint32_t)_mm_cvtsi128_si32(even), p->channels, room, dst);
	pixel_store((uint32_t)_mm_cvtsi128_si32(odd), p->channels, room, dst + p->dst_stride);
	pixel_store(
		(uint32_t)_mm_extract_epi32(even, 1), p->channels, room, dst + 2 * p->dst_stride);
	pixel_store(
		(uint32_t)_mm_extract_epi32(odd, 1), p->channels, room, dst + 3 * p->dst_stride);
}

INLINE void one_pixel_store(
	const struct pl_pass *p, const struct sums *s, int64_t room, unsigned char *dst)
{
	__m256i joined = sums_join(s);
	__m256i values = values_of(halves_add(joined, joined));
	__m256i words = _mm256_packs_epi32(values, values);
	__m256i bytes = _mm256_packus_epi16(words, words);

	pixel_store(
		(uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(bytes)), p->channels, room, dst);
}

/* One output pixel of `group` rows whose source pixels can be read 16 bytes at a time. */
INLINE void pixel_group(const struct pl_pass *p, const struct pixel *px, const struct orders *o,
	unsigned char *dst, const int group)
{
	struct sums s[GROUP];

	for (int g = 0; g < group; g++)
		s[g].low = s[g].high = _mm256_setzero_si256();
	for (int32_t t = 0; t < px->count; t += 4) {
		const unsigned char *from = px->from + t * p->channels;
		__m256i weight[2] = {weights_load(px->low + t, o->weight),
			weights_load(px->high + t, o->weight)};

		for (int g = 0; g < group; g++, from += p->src_stride)
			sums_add(&s[g], _mm_loadu_si128((const __m128i *)(const void *)from),
				o->pair, weight);
	}
	if (group == GROUP)
		pixels_store(p, s, px->room, dst);
	else
		one_pixel_store(p, s, px->room, dst);
}

/* One output pixel of one row, near the row's end. */
AVX2 static void pixel_at_end(
	const struct pl_pass *p, const struct pixel *px, const struct orders *o, unsigned char *dst)
{
	struct sums s = {_mm256_setzero_si256(), _mm256_setzero_si256()};

	for (int32_t t = 0; t < px->count; t += 4) {
		int64_t at = t * p->channels;
		int64_t n = px->n_bytes - at < 16 ? px->n_bytes - at : 16;
		__m256i weight[2] = {weights_load(px->low + t, o->weight),
			weights_load(px->high + t, o->weight)};
		unsigned char pixels[16] = {0};

		memcpy(pixels, px->from + at, (size_t)n);
		sums_add(&s, _mm_loadu_si128((const __m128i *)(const void *)pixels), o->pair,
			weight);
	}
	one_pixel_store(p, &s, px->room, dst);
}

INLINE void rows_group(const struct pl_pass *p, const struct orders *o, int64_t y, const int group)
{
	const struct pl_axis *a = p->axis;
	const unsigned char *src = p->src + y * p->src_stride;
	unsigned char *dst = p->dst + y * p->dst_stride;
	int64_t row_bytes = p->src_width * p->channels;

	for (int64_t x = 0; x < a->n_out; x++, dst += p->channels) {
		int64_t at = a->first[x] * p->channels;
		int64_t read = ((a->count[x] - 1) / 4 * 4) * p->channels + 16;
		struct pixel px = {src + at, a->low + x * a->taps, a->high + x * a->taps,
			a->count[x], (int32_t)(row_bytes - at), (a->n_out - x) * p->channels};

		if (read <= row_bytes - at) {
			pixel_group(p, &px, o, dst, group);
			continue;
		}
		for (int g = 0; g < group; g++, px.from += p->src_stride)
			pixel_at_end(p, &px, o, dst + g * p->dst_stride);
	}
}

AVX2 void pl_horizontal_u8_avx2(const struct pl_pass *p)
{
	struct orders o;
	int64_t y = 0;

	memcpy(&o.pair, pair_order[p->channels - 1], sizeof(o.pair));
	memcpy(&o.weight, weight_order, sizeof(o.weight));
	for (; y + GROUP <= p->n_rows; y += GROUP)
		rows_group(p, &o, y, GROUP);
	for (; y < p->n_rows; y++)
		rows_group(p, &o, y, 1);
}

/* Sixteen columns of one output row: two source rows at a time. */
INLINE void columns_16(const struct pl_pass *p, int64_t y, int64_t j)
{
	const struct pl_axis *a = p->axis;
	const unsigned char *src = p->src + a->first[y] * p->src_stride + j;
	const int16_t *low = a->low + y * a->taps;
	const int16_t *high = a->high + y * a->taps;
	struct sums left = {_mm256_setzero_si256(), _mm256_setzero_si256()};
	struct sums right = left;
	__m256i words;

	for (int32_t t = 0; t < a->count[y]; t += 2, src += 2 * p->src_stride) {
		const unsigned char *next = t + 1 < a->count[y] ? src + p->src_stride : src;
		__m128i above = _mm_loadu_si128((const __m128i *)(const void *)src);
		__m128i below = _mm_loadu_si128((const __m128i *)(const void *)next);
		__m256i pairs_left = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(above, below));
		__m256i pairs_right = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(above, below));
		int32_t two_low, two_high;

		memcpy(&two_low, low + t, sizeof(two_low));
		memcpy(&two_high, high + t, sizeof(two_high));
		left.low = _mm256_add_epi32(
			left.low, _mm256_madd_epi16(pairs_left, _mm256_set1_epi32(two_low)));
		left.high = _mm256_add_epi32(
			left.high, _mm256_madd_epi16(pairs_left, _mm256_set1_epi32(two_high)));
		right.low = _mm256_add_epi32(
			right.low, _mm256_madd_epi16(pairs_right, _mm256_set1_epi32(two_low)));
		right.high = _mm256_add_epi32(
			right.high, _mm256_madd_epi16(pairs_right, _mm256_set1_epi32(two_high)));
	}
	words = _mm256_packs_epi32(values_of(sums_join(&left)), values_of(sums_join(&right)));
	words = _mm256_permute4x64_epi64(words, _MM_SHUFFLE(3, 1, 2, 0));
	_mm_storeu_si128((__m128i *)(void *)(p->dst + y * p->dst_stride + j),
		_mm_packus_epi16(
			_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

AVX2 void pl_vertical_u8_avx2(const struct pl_pass *p)
{
	if (p->n_values < 16) {
		pl_vertical_u8(p);
		return;
	}
	for (int64_t y = 0; y < p->axis->n_out; y++) {
		int64_t j = 0;

		for (; j + 16 <= p->n_values; j += 16)
			columns_16(p, y, j);
		if (j < p->n_values)
			columns_16(p, y, p->n_values - 16);
	}
}

#else

bool pl_has_avx2(void)
{
	return false;
}

void pl_horizontal_u8_avx2(const struct pl_pass *p)
{
	pl_horizontal_u8(p);
}

void pl_vertical_u8_avx2(const struct pl_pass *p)
{
	pl_vertical_u8(p);
}

#endif
