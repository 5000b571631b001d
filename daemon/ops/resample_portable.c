/* daemon/ops/resample_portable.c - the inner loops of resampling in plain C: what the others must
 * equal. */
#include "daemon/ops/resample_kernels.h"

#define ROUND (1 << (PL_WEIGHT_BITS - 1))

static int32_t weight_at(const struct pl_axis *a, int64_t i)
{
	return (int32_t)a->high[i] * (1 << PL_WEIGHT_LOW_BITS) + a->low[i];
}

static unsigned char clip(int32_t sum)
{
	int32_t v = sum >> PL_WEIGHT_BITS;

	return (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static void horizontal_row_u8(const struct pl_pass *p, const unsigned char *src, unsigned char *dst)
{
	const struct pl_axis *a = p->axis;

	for (int64_t x = 0; x < a->n_out; x++) {
		const unsigned char *from = src + a->first[x] * p->channels;

		for (int64_t c = 0; c < p->channels; c++) {
			int32_t sum = ROUND;

			for (int32_t t = 0; t < a->count[x]; t++)
				sum += from[t * p->channels + c] * weight_at(a, x * a->taps + t);
			*dst++ = clip(sum);
		}
	}
}

void pl_horizontal_u8(const struct pl_pass *p)
{
	for (int64_t y = 0; y < p->n_rows; y++)
		horizontal_row_u8(p, p->src + y * p->src_stride, p->dst + y * p->dst_stride);
}

/* Values of a row whose sums are kept at once: enough to vectorise, few enough to stay in the first
 * cache. */
#define STRIP 256

static void vertical_strip_u8(const struct pl_pass *p, int64_t y, int64_t from, int64_t n)
{
	const struct pl_axis *a = p->axis;
	const unsigned char *src = p->src + a->first[y] * p->src_stride + from;
	unsigned char *dst = p->dst + y * p->dst_stride + from;
	int32_t sum[STRIP];

	for (int64_t j = 0; j < n; j++)
		sum[j] = ROUND;
	for (int32_t t = 0; t < a->count[y]; t++, src += p->src_stride) {
		int32_t weight = weight_at(a, y * a->taps + t);

		for (int64_t j = 0; j < n; j++)
			sum[j] += src[j] * weight;
	}
	for (int64_t j = 0; j < n; j++)
		dst[j] = clip(sum[j]);
}

void pl_vertical_u8(const struct pl_pass *p)
{
	for (int64_t y = 0; y < p->axis->n_out; y++)
		for (int64_t j = 0; j < p->n_values; j += STRIP)
			vertical_strip_u8(
				p, y, j, p->n_values - j < STRIP ? p->n_values - j : STRIP);
}

static void horizontal_row_f32(const struct pl_pass *p, const float *src, float *dst)
{
	const struct pl_axis *a = p->axis;

	for (int64_t x = 0; x < a->n_out; x++) {
		const float *from = src + a->first[x] * p->channels;
		const float *weight = a->weight + x * a->taps;

		for (int64_t c = 0; c < p->channels; c++) {
			float sum = 0.0f;

			for (int32_t t = 0; t < a->count[x]; t++)
				sum += from[t * p->channels + c] * weight[t];
			*dst++ = sum;
		}
	}
}

void pl_horizontal_f32(const struct pl_pass *p)
{
	for (int64_t y = 0; y < p->n_rows; y++)
		horizontal_row_f32(p, (const float *)(const void *)(p->src + y * p->src_stride),
			(float *)(void *)(p->dst + y * p->dst_stride));
}

void pl_vertical_f32(const struct pl_pass *p)
{
	const struct pl_axis *a = p->axis;

	for (int64_t y = 0; y < a->n_out; y++) {
		float *dst = (float *)(void *)(p->dst + y * p->dst_stride);
		const float *weight = a->weight + y * a->taps;

		for (int64_t j = 0; j < p->n_values; j++)
			dst[j] = 0.0f;
		for (int32_t t = 0; t < a->count[y]; t++) {
			const unsigned char *row = p->src + (a->first[y] + t) * p->src_stride;
			const float *src = (const float *)(const void *)row;

			for (int64_t j = 0; j < p->n_values; j++)
				dst[j] += src[j] * weight[t];
		}
	}
}
