/* client/ctl/walk.c - the elements of a tensor in C order, whatever its strides. */
#include "client/ctl/ctl.h"

#include <math.h>

void ctl_walk(const struct pl_tensor *t, int64_t n, ctl_visit *visit, void *data)
{
	int64_t at[PL_RANK_MAX] = {0};
	const char *element = t->data;
	int64_t count = pl_tensor_count(t);

	if (n < 0 || n > count)
		n = count;
	for (int64_t i = 0; i < n; i++) {
		visit(data, element);
		for (int d = t->rank - 1; d >= 0; d--) {
			element += t->stride[d];
			if (++at[d] < t->shape[d])
				break;
			element -= t->stride[d] * t->shape[d];
			at[d] = 0;
		}
	}
}

struct sum {
	struct ctl_span span;
	enum pl_dtype dtype;
	double total;
	int64_t n;
};

static void add(void *data, const void *element)
{
	struct sum *sum = data;
	double value = ctl_number_value(sum->dtype, element);

	if (isnan(value)) {
		sum->total = value;
	} else if (sum->span.is_empty) {
		sum->span.min = sum->span.max = value;
		sum->span.is_empty = false;
	} else if (value < sum->span.min) {
		sum->span.min = value;
	} else if (value > sum->span.max) {
		sum->span.max = value;
	}
	sum->total += value;
	sum->n++;
}

struct ctl_span ctl_span(const struct pl_tensor *tensor)
{
	struct sum sum = {
		.span = {.is_empty = true, .min = NAN, .max = NAN}, .dtype = tensor->dtype};

	ctl_walk(tensor, -1, add, &sum);
	sum.span.mean = sum.n ? sum.total / (double)sum.n : NAN;
	return sum.span;
}
