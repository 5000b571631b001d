/* proto/tensor/tensor.c - shapes, strides, bounds, and the plain copy between two views. */
#include "proto/base.h"
#include "proto/tensor/tensor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Checks dtype, rank and lengths; *bytes is the size with zero lengths left out. */
static int check_shape(enum pl_dtype dtype, int rank, const int64_t *shape, int64_t *bytes)
{
	int64_t total = (int64_t)pl_dtype_size(dtype);
	bool is_too_large = false;

	if (total == 0 || rank < 0 || rank > PL_RANK_MAX)
		return -EINVAL;
	for (int d = 0; d < rank; d++) {
		if (shape[d] < 0)
			return -EINVAL;
		if (shape[d] && !is_too_large)
			is_too_large = __builtin_mul_overflow(total, shape[d], &total);
	}
	if (is_too_large)
		return -EOVERFLOW;
	*bytes = total;
	return 0;
}

PL_EXPORT int pl_tensor_init(
	struct pl_tensor *t, void *data, enum pl_dtype dtype, int rank, const int64_t *shape)
{
	int64_t bytes;
	int64_t stride;
	int r = check_shape(dtype, rank, shape, &bytes);

	if (r)
		return r;
	stride = (int64_t)pl_dtype_size(dtype);
	for (int d = rank - 1; d >= 0; d--) {
		t->shape[d] = shape[d];
		t->stride[d] = stride;
		stride *= shape[d] ? shape[d] : 1;
	}
	t->data = data;
	t->dtype = dtype;
	t->rank = rank;
	return 0;
}

PL_EXPORT int64_t pl_tensor_count(const struct pl_tensor *t)
{
	int64_t n = 1;

	for (int d = 0; d < t->rank; d++)
		if (t->shape[d] == 0)
			return 0;
	for (int d = 0; d < t->rank; d++)
		n *= t->shape[d];
	return n;
}

PL_EXPORT int64_t pl_tensor_bytes(const struct pl_tensor *t)
{
	return pl_tensor_count(t) * (int64_t)pl_dtype_size(t->dtype);
}

PL_EXPORT bool pl_tensor_is_contiguous(const struct pl_tensor *t)
{
	int64_t stride = (int64_t)pl_dtype_size(t->dtype);
	bool is_dense = true;

	for (int d = t->rank - 1; d >= 0; d--) {
		if (t->shape[d] == 0)
			return true;
		if (t->shape[d] != 1 && t->stride[d] != stride)
			is_dense = false;
		stride *= t->shape[d];
	}
	return is_dense;
}

PL_EXPORT int pl_tensor_check(const struct pl_tensor *t, const void *base, size_t size)
{
	__int128 low = (__int128)(uintptr_t)t->data - (__int128)(uintptr_t)base;
	__int128 high;
	int64_t bytes;
	int r = check_shape(t->dtype, t->rank, t->shape, &bytes);

	if (r)
		return r;
	high = low + (__int128)pl_dtype_size(t->dtype);
	for (int d = 0; d < t->rank; d++) {
		__int128 reach;

		if (t->shape[d] == 0)
			return 0;
		reach = (__int128)(t->shape[d] - 1) * t->stride[d];
		if (reach < 0)
			low += reach;
		else
			high += reach;
	}
	return low < 0 || high > (__int128)size ? -ERANGE : 0;
}

/* The dimensions of a copy that are left once lengths of 1 are dropped and neighbours merged. */
struct walk {
	int rank;
	int64_t shape[PL_RANK_MAX];
	int64_t to[PL_RANK_MAX];
	int64_t from[PL_RANK_MAX];
};

static void walk_init(struct walk *w, const struct pl_tensor *dst, const struct pl_tensor *src)
{
	w->rank = 0;
	for (int d = 0; d < src->rank; d++) {
		int64_t n = src->shape[d];
		int last = w->rank - 1;

		if (n == 1)
			continue;
		if (w->rank && w->to[last] == dst->stride[d] * n &&
			w->from[last] == src->stride[d] * n) {
			w->shape[last] *= n;
		} else {
			last = w->rank++;
			w->shape[last] = n;
		}
		w->to[last] = dst->stride[d];
		w->from[last] = src->stride[d];
	}
}

/* One line of n elements of `size` bytes. */
static void copy_line(char *to, const char *from, int64_t n, int64_t size, const int64_t step[2])
{
	if (step[0] == size && step[1] == size) {
		memcpy(to, from, (size_t)(n * size));
		return;
	}
	for (int64_t i = 0; i < n; i++)
		memcpy(to + i * step[0], from + i * step[1], (size_t)size);
}

PL_EXPORT int pl_tensor_copy(const struct pl_tensor *dst, const struct pl_tensor *src)
{
	int64_t size = (int64_t)pl_dtype_size(src->dtype);
	int64_t at[PL_RANK_MAX] = {0};
	int64_t to = 0;
	int64_t from = 0;
	struct walk w;
	int d;

	if (dst->dtype != src->dtype || dst->rank != src->rank || size == 0)
		return -EINVAL;
	for (d = 0; d < src->rank; d++)
		if (dst->shape[d] != src->shape[d])
			return -EINVAL;
	if (pl_tensor_count(src) == 0)
		return 0;
	walk_init(&w, dst, src);
	if (w.rank == 0) {
		memcpy(dst->data, src->data, (size_t)size);
		return 0;
	}
	do {
		copy_line((char *)dst->data + to, (const char *)src->data + from,
			w.shape[w.rank - 1], size,
			(const int64_t[]){w.to[w.rank - 1], w.from[w.rank - 1]});
		for (d = w.rank - 2; d >= 0; d--) {
			to += w.to[d];
			from += w.from[d];
			if (++at[d] < w.shape[d])
				break;
			to -= w.to[d] * w.shape[d];
			from -= w.from[d] * w.shape[d];
			at[d] = 0;
		}
	} while (d >= 0);
	return 0;
}

PL_EXPORT char *pl_shape_format(char *out, size_t n, int rank, const int64_t *shape)
{
	size_t at = 0;

	if (n == 0)
		return out;
	out[0] = '\0';
	for (int d = 0; d < rank && at < n; d++) {
		const char *before = d ? ", " : "[";
		int r;

		if (shape[d] < 0)
			r = snprintf(out + at, n - at, "%s?", before);
		else
			r = snprintf(out + at, n - at, "%s%lld", before, (long long)shape[d]);
		at += r > 0 ? (size_t)r : 0;
	}
	if (at < n)
		snprintf(out + at, n - at, "%s", rank > 0 ? "]" : "[]");
	return out;
}
