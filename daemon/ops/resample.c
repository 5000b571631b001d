/* daemon/ops/resample.c - resizes one picture: the two passes, and the nearest pixel. */
#include <errno.h>
#include <math.h>

#include "daemon/ops/resample_kernels.h"

/* Byte offsets of the source pixel for each output pixel; sums up in double as Pillow does, to pick
 * the same pixels. */
static int64_t *nearest_offsets(struct pl_run *r, int64_t n_in, int64_t n_out, int64_t step)
{
	double scale = (double)n_in / (double)n_out;
	double at = scale * 0.5;
	int64_t *offset = pl_run_scratch(r, (size_t)n_out * sizeof(*offset));

	for (int64_t i = 0; offset && i < n_out; i++, at += scale) {
		int64_t from = (int64_t)at;

		offset[i] = (from < n_in ? from : n_in - 1) * step;
	}
	return offset;
}

/* Called with a constant size, so that the copy of a pixel is a move. */
__attribute__((always_inline)) static inline void gather(unsigned char *dst,
	const unsigned char *src, const int64_t *offset, int64_t n, const size_t pixel)
{
	for (int64_t x = 0; x < n; x++)
		memcpy(dst + x * (int64_t)pixel, src + offset[x], pixel);
}

static void nearest_row(unsigned char *dst, const unsigned char *src, const int64_t *offset,
	int64_t n, size_t pixel)
{
	switch (pixel) {
	case 1:
		gather(dst, src, offset, n, 1);
		return;
	case 2:
		gather(dst, src, offset, n, 2);
		return;
	case 3:
		gather(dst, src, offset, n, 3);
		return;
	case 4:
		gather(dst, src, offset, n, 4);
		return;
	default:
		gather(dst, src, offset, n, pixel);
	}
}

static int nearest(struct pl_run *r, const struct pl_resample *job)
{
	size_t pixel = pl_dtype_size(job->dtype) * (size_t)job->channels;
	const int64_t *x = nearest_offsets(r, job->src_width, job->dst_width, (int64_t)pixel);
	const int64_t *y = nearest_offsets(r, job->src_height, job->dst_height, job->src_stride);
	unsigned char *dst = job->dst;

	if (!x || !y)
		return pl_run_failed(r);
	for (int64_t i = 0; i < job->dst_height; i++, dst += job->dst_stride) {
		if (i > 0 && y[i] == y[i - 1])
			memcpy(dst, dst - job->dst_stride, (size_t)job->dst_width * pixel);
		else
			nearest_row(dst, (const unsigned char *)job->src + y[i], x, job->dst_width,
				pixel);
	}
	return 0;
}

static void copy_rows(const struct pl_resample *job)
{
	size_t n = (size_t)(job->dst_width * job->channels) * pl_dtype_size(job->dtype);

	for (int64_t y = 0; y < job->dst_height; y++)
		memcpy((char *)job->dst + y * job->dst_stride,
			(const char *)job->src + y * job->src_stride, n);
}

static void run_horizontal(const struct pl_resample *job, const struct pl_pass *p)
{
	if (job->dtype == PL_F32)
		pl_horizontal_f32(p);
	else if (p->channels <= 4 && !job->is_portable && pl_has_avx2())
		pl_horizontal_u8_avx2(p);
	else
		pl_horizontal_u8(p);
}

static void run_vertical(const struct pl_resample *job, const struct pl_pass *p)
{
	if (job->dtype == PL_F32)
		pl_vertical_f32(p);
	else if (!job->is_portable && pl_has_avx2())
		pl_vertical_u8_avx2(p);
	else
		pl_vertical_u8(p);
}

/*
 * Makes the rows first .. first + n of the source as wide as the result: straight into it when the
 * height stays, else into scratch. *out says where they are.
 */
static int widen(struct pl_run *r, const struct pl_resample *job, int64_t first, int64_t n,
	struct pl_pass *out)
{
	int64_t row = job->dst_width * job->channels * (int64_t)pl_dtype_size(job->dtype);
	bool is_last = job->src_height == job->dst_height;
	struct pl_axis axis;
	struct pl_pass p = {
		.axis = &axis,
		.src = (const unsigned char *)job->src + first * job->src_stride,
		.src_stride = job->src_stride,
		.src_width = job->src_width,
		.dst_stride = is_last ? job->dst_stride : row,
		.n_rows = n,
		.channels = job->channels,
	};
	int rc;

	out->src = p.src;
	out->src_stride = p.src_stride;
	if (job->src_width == job->dst_width)
		return 0;
	rc = pl_axis_init(r, &axis, job->src_width, job->dst_width, job);
	if (rc < 0)
		return rc;
	p.dst = is_last ? job->dst : pl_run_scratch(r, (size_t)(row * n));
	if (!p.dst)
		return pl_run_failed(r);
	run_horizontal(job, &p);
	out->src = p.dst;
	out->src_stride = p.dst_stride;
	return 0;
}

static int filtered(struct pl_run *r, const struct pl_resample *job)
{
	struct pl_pass p = {.n_values = job->dst_width * job->channels};
	struct pl_axis axis;
	int64_t first;
	int64_t n;
	int rc;

	if (job->src_height == job->dst_height && job->src_width == job->dst_width) {
		copy_rows(job);
		return 0;
	}
	if (job->src_height == job->dst_height)
		return widen(r, job, 0, job->src_height, &p);
	rc = pl_axis_init(r, &axis, job->src_height, job->dst_height, job);
	if (rc < 0)
		return rc;
	first = axis.first[0];
	n = axis.first[axis.n_out - 1] + axis.count[axis.n_out - 1] - first;
	for (int64_t i = 0; i < axis.n_out; i++)
		axis.first[i] -= (int32_t)first;
	rc = widen(r, job, first, n, &p);
	if (rc < 0)
		return rc;
	p.axis = &axis;
	p.dst = job->dst;
	p.dst_stride = job->dst_stride;
	run_vertical(job, &p);
	return 0;
}

static void u16_to_f32(const struct pl_resample *job, float *out)
{
	int64_t n = job->src_width * job->channels;

	for (int64_t y = 0; y < job->src_height; y++, out += n) {
		const void *row = (const char *)job->src + y * job->src_stride;
		const uint16_t *from = row;

		for (int64_t j = 0; j < n; j++)
			out[j] = from[j];
	}
}

static void f32_to_u16(const struct pl_resample *job, const float *in)
{
	int64_t n = job->dst_width * job->channels;

	for (int64_t y = 0; y < job->dst_height; y++, in += n) {
		void *row = (char *)job->dst + y * job->dst_stride;
		uint16_t *to = row;

		for (int64_t j = 0; j < n; j++) {
			float v = floorf(in[j] + 0.5f);

			to[j] = (uint16_t)(v < 0.0f ? 0.0f : v > 65535.0f ? 65535.0f : v);
		}
	}
}

static int filtered_u16(struct pl_run *r, const struct pl_resample *job)
{
	struct pl_resample f32 = *job;
	float *src;
	float *dst;
	int rc;

	f32.dtype = PL_F32;
	f32.src_stride = job->src_width * job->channels * (int64_t)sizeof(float);
	f32.dst_stride = job->dst_width * job->channels * (int64_t)sizeof(float);
	src = pl_run_scratch(r, (size_t)(f32.src_stride * job->src_height));
	dst = pl_run_scratch(r, (size_t)(f32.dst_stride * job->dst_height));
	if (!src || !dst)
		return pl_run_failed(r);
	u16_to_f32(job, src);
	f32.src = src;
	f32.dst = dst;
	rc = filtered(r, &f32);
	if (rc < 0)
		return rc;
	f32_to_u16(job, dst);
	return 0;
}

int pl_resample(struct pl_run *r, const struct pl_resample *job)
{
	if (job->filter == PL_FILTER_NEAREST)
		return nearest(r, job);
	if (job->dtype == PL_U16)
		return filtered_u16(r, job);
	if (job->dtype == PL_U8 || job->dtype == PL_F32)
		return filtered(r, job);
	return pl_err_set(r->err, -EINVAL, "%s can't be resized by a filter (cast it to f32 first)",
		pl_dtype_name(job->dtype));
}
