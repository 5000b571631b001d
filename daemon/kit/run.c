/* daemon/kit/run.c - where a step's output goes: the batch's slot or scratch. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/kit/op.h"

int pl_run_failed(const struct pl_run *r)
{
	return r->err && r->err->code < 0 ? r->err->code : -ENOMEM;
}

void *pl_run_scratch(struct pl_run *r, size_t n)
{
	struct pl_scratch *s = r->sample->scratch;
	void *data = pl_scratch_alloc(s, n);

	if (data)
		return data;
	if (n > s->limit - s->taken)
		(void)pl_err_set(r->err, -EMSGSIZE,
			"the sample needs %zu bytes more, but has taken %zu of the %zu that one "
			"sample "
			"may take (make it smaller in an earlier step)",
			n, s->taken, s->limit);
	else
		(void)pl_err_set(r->err, -ENOMEM, "out of memory for %zu bytes", n);
	return NULL;
}

static bool is_overlapping(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
	uintptr_t x = (uintptr_t)a;
	uintptr_t y = (uintptr_t)b;

	return a_bytes > 0 && b_bytes > 0 && x < y + (uintptr_t)b_bytes &&
	       y < x + (uintptr_t)a_bytes;
}

/* True when some element of t may lie inside [data, data + bytes). */
static bool is_inside(const struct pl_tensor *t, const void *data, int64_t bytes)
{
	const char *low = t->data;
	int64_t extent = (int64_t)pl_dtype_size(t->dtype);

	if (!t->data || pl_tensor_count(t) == 0)
		return false;
	for (int d = 0; d < t->rank; d++) {
		int64_t reach = (t->shape[d] - 1) * t->stride[d];

		if (reach < 0)
			low += reach;
		extent += reach < 0 ? -reach : reach;
	}
	return is_overlapping(low, extent, data, bytes);
}

/* The row may be written when no input of this step still lies there; else the runner copies the
 * value into it later. */
static bool is_row_free(const struct pl_run *r, const struct pl_tensor *row)
{
	int64_t bytes = pl_tensor_bytes(row);

	for (int i = 0; i < r->n; i++)
		if (is_inside(&r->sample->value[r->in[i]], row->data, bytes))
			return false;
	return true;
}

static bool is_same_layout(const struct pl_tensor *a, const struct pl_tensor *b)
{
	if (a->dtype != b->dtype || a->rank != b->rank)
		return false;
	for (int d = 0; d < a->rank; d++)
		if (a->shape[d] != b->shape[d])
			return false;
	return true;
}

static void row_mismatch(struct pl_run *r, const struct pl_tensor *out, const struct pl_tensor *row)
{
	char got[256];
	char wanted[256];

	(void)pl_err_set(r->err, -EINVAL,
		"the result is %s %s, but the batch has room for %s %s (all samples of a batch "
		"need one "
		"shape: resize, crop or pad first)",
		pl_dtype_name(out->dtype), pl_shape_format(got, sizeof(got), out->rank, out->shape),
		pl_dtype_name(row->dtype),
		pl_shape_format(wanted, sizeof(wanted), row->rank, row->shape));
}

void *pl_run_out(struct pl_run *r, int i, enum pl_dtype dtype, int rank, const int64_t *shape)
{
	const struct pl_tensor *row = &r->sample->row[r->out[i]];
	struct pl_tensor out;
	int rc = pl_tensor_init(&out, NULL, dtype, rank, shape);

	if (rc < 0) {
		(void)pl_err_set(r->err, rc == -EOVERFLOW ? -EMSGSIZE : -EINVAL,
			"the result's shape is invalid: rank %d of %s", rank, pl_dtype_name(dtype));
		return NULL;
	}
	if (r->writes_row && r->writes_row[i] && row->data) {
		if (!is_same_layout(&out, row)) {
			row_mismatch(r, &out, row);
			return NULL;
		}
		if (pl_tensor_is_contiguous(row) && is_row_free(r, row))
			out.data = row->data;
	}
	if (!out.data)
		out.data = pl_run_scratch(r, (size_t)pl_tensor_bytes(&out));
	if (!out.data)
		return NULL;
	r->sample->value[r->out[i]] = out;
	return out.data;
}

const void *pl_run_contiguous(struct pl_run *r, int i)
{
	const struct pl_tensor *in = &r->sample->value[r->in[i]];
	struct pl_tensor copy;

	if (pl_tensor_is_contiguous(in))
		return in->data;
	if (pl_tensor_init(&copy, NULL, in->dtype, in->rank, in->shape) < 0) {
		(void)pl_err_set(r->err, -EINVAL, "the value's shape is invalid");
		return NULL;
	}
	copy.data = pl_run_scratch(r, (size_t)pl_tensor_bytes(in));
	if (!copy.data)
		return NULL;
	if (pl_tensor_copy(&copy, in) < 0) {
		(void)pl_err_set(r->err, -EINVAL, "the value can't be copied");
		return NULL;
	}
	return copy.data;
}
