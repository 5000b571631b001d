/* daemon/ops/picture.c - the pixels of an image, mask or video field, and moving a window of them.
 */
#include <errno.h>
#include <inttypes.h>

#include "daemon/ops/picture.h"

#include "daemon/ops/numbers.h"

/* Where height stands in the shape of a picture of that kind and rank. */
static int height_axis(enum pl_kind kind, int rank)
{
	return kind == PL_KIND_MASK ? rank - 2 : rank - 3;
}

/* True when pixels of a row are packed; strides of rows and frames may be anything. */
static bool is_packed(const struct pl_tensor *t, int width_axis)
{
	int64_t step = (int64_t)pl_dtype_size(t->dtype);

	for (int d = t->rank - 1; d >= width_axis; d--) {
		if (t->shape[d] != 1 && t->stride[d] != step)
			return false;
		step *= t->shape[d];
	}
	return true;
}

static void describe(struct pl_picture *p, const struct pl_tensor *t, enum pl_kind kind)
{
	int h = height_axis(kind, t->rank);

	p->data = t->data;
	p->dtype = t->dtype;
	p->n_frames = h > 0 ? t->shape[0] : 1;
	p->height = t->shape[h];
	p->width = t->shape[h + 1];
	p->channels = kind == PL_KIND_MASK ? 1 : t->shape[t->rank - 1];
	p->frame_stride = h > 0 ? t->stride[0] : 0;
	p->row_stride = t->stride[h];
	p->pixel = p->channels * (int64_t)pl_dtype_size(t->dtype);
}

int pl_picture_in(struct pl_run *r, int i, enum pl_kind kind, struct pl_picture *p)
{
	struct pl_tensor t = r->sample->value[r->in[i]];
	int h = height_axis(kind, t.rank);

	if (h < 0 || h > 1)
		return pl_err_set(r->err, -EINVAL, "a value of kind %s has %d axes",
			pl_kind_name(kind), t.rank);
	if (pl_tensor_count(&t) == 0 && !(h == 1 && t.shape[0] == 0))
		return pl_err_set(r->err, -EINVAL, "the %s is empty", pl_kind_name(kind));
	if (!is_packed(&t, h + 1)) {
		struct pl_tensor copy;
		const void *data = pl_run_contiguous(r, i);

		if (!data || pl_tensor_init(&copy, NULL, t.dtype, t.rank, t.shape) < 0)
			return pl_run_failed(r);
		t = copy;
		t.data = (void *)(uintptr_t)data;
	}
	describe(p, &t, kind);
	return 0;
}

int pl_picture_out(
	struct pl_run *r, int i, enum pl_kind kind, struct pl_window size, struct pl_picture *out)
{
	struct pl_tensor t = r->sample->value[r->in[i]];
	int h = height_axis(kind, t.rank);

	if (size.height > PL_SIDE_MAX || size.width > PL_SIDE_MAX)
		return pl_err_set(r->err, -EMSGSIZE,
			"the result would be %" PRId64 "x%" PRId64
			" pixels (width x height), but no side "
			"may be longer than %d",
			size.width, size.height, PL_SIDE_MAX);
	t.shape[h] = size.height;
	t.shape[h + 1] = size.width;
	if (!pl_run_out(r, i, t.dtype, t.rank, t.shape))
		return pl_run_failed(r);
	describe(out, &r->sample->value[r->out[i]], kind);
	return 0;
}

void pl_picture_out_view(
	struct pl_run *r, int i, enum pl_kind kind, const struct pl_picture *p, struct pl_window w)
{
	struct pl_tensor t = r->sample->value[r->in[i]];
	int h = height_axis(kind, t.rank);
	int64_t step = (int64_t)pl_dtype_size(p->dtype);

	t.data = p->data + w.top * p->row_stride + w.left * p->pixel;
	t.shape[h] = w.height;
	t.shape[h + 1] = w.width;
	for (int d = t.rank - 1; d > h; d--) {
		t.stride[d] = step;
		step *= t.shape[d];
	}
	t.stride[h] = p->row_stride;
	if (h > 0)
		t.stride[0] = p->frame_stride;
	r->sample->value[r->out[i]] = t;
}

void pl_picture_fill_pixel(const struct pl_picture *p, double value, unsigned char *pixel)
{
	int64_t size = (int64_t)pl_dtype_size(p->dtype);

	for (int64_t c = 0; c < p->channels; c++)
		pl_number_store(pixel + c * size, p->dtype, value);
}

static void fill_pixels(unsigned char *dst, int64_t n, const unsigned char *fill, int64_t pixel)
{
	if (pixel == 1) {
		memset(dst, *fill, (size_t)n);
		return;
	}
	for (int64_t x = 0; x < n; x++)
		memcpy(dst + x * pixel, fill, (size_t)pixel);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

static void copy_row(unsigned char *dst, const struct pl_picture *src, const unsigned char *row,
	const struct pl_window *w, const unsigned char *fill)
{
	int64_t before = clamp(-w->left, 0, w->width);
	int64_t until = clamp(src->width - w->left, before, w->width);

	if (before > 0)
		fill_pixels(dst, before, fill, src->pixel);
	if (until > before)
		memcpy(dst + before * src->pixel, row + (w->left + before) * src->pixel,
			(size_t)((until - before) * src->pixel));
	if (until < w->width)
		fill_pixels(dst + until * src->pixel, w->width - until, fill, src->pixel);
}

void pl_picture_copy_window(const struct pl_picture *dst, const struct pl_picture *src,
	struct pl_window w, const unsigned char *fill)
{
	for (int64_t f = 0; f < dst->n_frames; f++) {
		unsigned char *to = dst->data + f * dst->frame_stride;
		const unsigned char *from = src->data + f * src->frame_stride;

		for (int64_t y = 0; y < w.height; y++, to += dst->row_stride) {
			int64_t at = w.top + y;

			if (at < 0 || at >= src->height)
				fill_pixels(to, w.width, fill, src->pixel);
			else
				copy_row(to, src, from + at * src->row_stride, &w, fill);
		}
	}
}

/* Called with a constant size, so that the copy of a pixel is a move. */
__attribute__((always_inline)) static inline void reverse(
	unsigned char *dst, const unsigned char *src, int64_t n, const size_t pixel)
{
	src += (n - 1) * (int64_t)pixel;
	for (int64_t x = 0; x < n; x++, src -= pixel, dst += pixel)
		memcpy(dst, src, pixel);
}

static void reverse_row(unsigned char *dst, const unsigned char *src, int64_t n, size_t pixel)
{
	switch (pixel) {
	case 1:
		reverse(dst, src, n, 1);
		return;
	case 3:
		reverse(dst, src, n, 3);
		return;
	case 4:
		reverse(dst, src, n, 4);
		return;
	case 12:
		reverse(dst, src, n, 12);
		return;
	default:
		reverse(dst, src, n, pixel);
	}
}

void pl_picture_flip(
	const struct pl_picture *dst, const struct pl_picture *src, bool columns, bool rows)
{
	for (int64_t f = 0; f < dst->n_frames; f++) {
		unsigned char *to = dst->data + f * dst->frame_stride;
		const unsigned char *from = src->data + f * src->frame_stride;

		for (int64_t y = 0; y < dst->height; y++, to += dst->row_stride) {
			const unsigned char *row =
				from + (rows ? dst->height - 1 - y : y) * src->row_stride;

			if (columns)
				reverse_row(to, row, dst->width, (size_t)dst->pixel);
			else
				memcpy(to, row, (size_t)(dst->width * dst->pixel));
		}
	}
}
