/* proto/einops/plan.c - makes, counts and frees plans. */
#include "proto/einops/plan.h"

#include <errno.h>

int pl_plan_add_results(struct pl_einops_plan *plan, size_t n)
{
	plan->results = calloc(n + 1, sizeof(*plan->results));
	plan->views = calloc(n + 1, sizeof(*plan->views));
	if (!plan->results || !plan->views)
		return -ENOMEM;
	plan->n_results = n;
	return 0;
}

int pl_plan_add_jobs(struct pl_einops_plan *plan, size_t n)
{
	plan->copies = calloc(n + 1, sizeof(*plan->copies));
	plan->jobs = calloc(n + 1, sizeof(*plan->jobs));
	return plan->copies && plan->jobs ? 0 : -ENOMEM;
}

static void plan_destroy(struct pl_einops_plan *plan)
{
	for (size_t i = 0; plan->copies && i < plan->n_copies; i++)
		pl_copy_finish(&plan->copies[i]);
	pl_reduce_destroy(plan->reduce);
	pl_einsum_destroy(plan->einsum);
	free(plan->copies);
	free(plan->jobs);
	free(plan->inputs);
	free(plan->results);
	free(plan->views);
	free(plan->packed);
	free(plan);
}

PL_EXPORT struct pl_einops_plan *pl_einops_plan_acquire(struct pl_einops_plan *plan)
{
	atomic_fetch_add_explicit(&plan->refs, 1, memory_order_relaxed);
	return plan;
}

PL_EXPORT void pl_einops_plan_release(struct pl_einops_plan *plan)
{
	if (plan && atomic_fetch_sub_explicit(&plan->refs, 1, memory_order_acq_rel) == 1)
		plan_destroy(plan);
}

static void plan_releasep(struct pl_einops_plan **plan)
{
	pl_einops_plan_release(*plan);
}

/* All elements of a tensor must be within reach of 63-bit offsets. */
static int check_strides(const struct pl_tensor *t, const struct fault *f)
{
	int64_t reach = (int64_t)pl_dtype_size(t->dtype);

	for (int d = 0; d < t->rank; d++) {
		int64_t way;

		if (t->shape[d] < 2)
			continue;
		if (__builtin_mul_overflow(t->shape[d], t->stride[d], &way) || way == INT64_MIN ||
			__builtin_add_overflow(reach, way < 0 ? -way : way, &reach))
			return pl_fault(f, PL_EINOPS_E_TOO_LARGE, span_all(f),
				"the strides of a tensor reach beyond 2^63 bytes");
	}
	return 0;
}

static int keep_inputs(
	struct pl_einops_plan *plan, const struct pl_einops_args *args, const struct fault *f)
{
	plan->n_inputs = args->n_inputs;
	plan->inputs = calloc(args->n_inputs + 1, sizeof(*plan->inputs));
	if (!plan->inputs)
		return -ENOMEM;
	for (size_t i = 0; i < args->n_inputs; i++) {
		const struct pl_tensor *t = &args->inputs[i];
		int r = pl_tensor_usable(t, false, f);

		if (!r)
			r = check_strides(t, f);
		if (r)
			return r;
		plan->inputs[i] = (struct pl_tensor){.dtype = t->dtype, .rank = t->rank};
		memcpy(plan->inputs[i].shape, t->shape, (size_t)t->rank * sizeof(t->shape[0]));
		memcpy(plan->inputs[i].stride, t->stride, (size_t)t->rank * sizeof(t->stride[0]));
	}
	return 0;
}

/* Splits the loops over the list off: nest keeps the rest. */
static void split_list(struct nest *nest, struct nest *list)
{
	int n = 0;

	list->n = 0;
	for (int i = 0; i < nest->n; i++) {
		if (nest->loop[i].step && nest->loop[i].n > 1)
			list->loop[list->n++] = nest->loop[i];
		else
			nest->loop[n++] = nest->loop[i];
	}
	nest->n = n;
}

/* Where tensor i of the list begins in the result. */
static int64_t list_offset(const struct nest *list, size_t i)
{
	int64_t offset = 0;

	for (int k = 0; k < list->n; k++) {
		const struct loop *l = &list->loop[k];

		offset += (int64_t)i / l->step % l->n * l->out;
	}
	return offset;
}

/* A view needs one tensor, no list, and no axis that the input doesn't have. */
static bool can_be_view(const struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct subject *s)
{
	if (plan->n_inputs != 1 || s->rank != plan->inputs[0].rank)
		return false;
	for (uint32_t i = 0; i < p->n_axes; i++)
		if (!p->axes[i].is_left)
			return false;
	return true;
}

/* A copy per input: a list's tensors may differ in their strides. */
static int plan_copies(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct lengths *l, const struct subject *s)
{
	struct layout layout = {.unit = (int64_t)pl_dtype_size(s->dtype)};
	bool is_empty = pl_tensor_count(&plan->results[0]) == 0;
	struct nest list;
	int r = pl_plan_add_jobs(plan, plan->n_inputs);

	for (size_t i = 0; !r && i < plan->n_inputs; i++) {
		pl_layout_init(&layout, p, l, s, &plan->inputs[i]);
		if (can_be_view(plan, p, s))
			plan->views[0].is_view =
				pl_layout_view(plan->views[0].stride, &layout, &plan->results[0]);
		if (is_empty)
			break;
		split_list(&layout.kept, &list);
		r = pl_copy_init(&plan->copies[i], &layout.kept, (size_t)layout.unit);
		if (r)
			break;
		plan->n_copies++;
		plan->jobs[plan->n_jobs++] = (struct job){
			.input = i, .out_offset = list_offset(&list, i), .copy = &plan->copies[i]};
	}
	return r;
}

static int plan_arrow(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f)
{
	struct subject s;
	struct subject result;
	struct lengths l;
	int r = pl_subject_init(&s, args, false, f);

	if (!r)
		r = pl_lengths_resolve(&l, p, &s, args, f);
	if (!r)
		r = pl_result_shape(&result, p, &s, &l, f);
	if (!r)
		r = keep_inputs(plan, args, f);
	if (!r)
		r = pl_plan_add_results(plan, 1);
	if (!r)
		r = pl_tensor_init(
			&plan->results[0], NULL, result.dtype, result.rank, result.shape);
	if (r)
		return r;
	if (!pl_reduces(p, &l))
		return plan_copies(plan, p, &l, &s);
	return pl_reduce_create(&plan->reduce, &(struct layout_source){plan, p, &l, &s});
}

static int plan_op(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f)
{
	int r;

	switch (p->op) {
	case PL_EINOPS_REARRANGE:
	case PL_EINOPS_REDUCE:
	case PL_EINOPS_REPEAT:
		return plan_arrow(plan, p, args, f);
	case PL_EINOPS_PACK:
		r = keep_inputs(plan, args, f);
		return r ? r : pl_plan_pack(plan, p, args, f);
	case PL_EINOPS_UNPACK:
		r = keep_inputs(plan, args, f);
		return r ? r : pl_plan_unpack(plan, p, args, f);
	case PL_EINOPS_EINSUM:
		r = keep_inputs(plan, args, f);
		return r ? r : pl_plan_einsum(plan, p, args, f);
	default:
		return pl_fault(f, PL_EINOPS_E_ARGUMENT, span_all(f), "%s has no plan",
			pl_einops_op_name(p->op));
	}
}

PL_EXPORT int pl_einops_plan_create(const struct pl_einops_pattern *pattern,
	const struct pl_einops_args *args, struct pl_einops_plan **out,
	struct pl_einops_error *error)
{
	struct fault f = fault_of(pattern, error);
	struct pl_einops_plan *plan PL_CLEANUP(plan_releasep) = NULL;
	int r;

	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return pl_fault(&f, PL_EINOPS_E_MEMORY, span_all(&f), "out of memory");
	atomic_init(&plan->refs, 1);
	plan->op = pattern->op;
	r = plan_op(plan, pattern, args, &f);
	if (r == -ENOMEM)
		return pl_fault(&f, PL_EINOPS_E_MEMORY, span_all(&f), "out of memory");
	if (!r)
		*out = PL_STEAL(plan);
	return r;
}

PL_EXPORT size_t pl_einops_plan_n_results(const struct pl_einops_plan *plan)
{
	return plan->n_results;
}

PL_EXPORT const struct pl_tensor *pl_einops_plan_result(const struct pl_einops_plan *plan, size_t i)
{
	return i < plan->n_results ? &plan->results[i] : NULL;
}

PL_EXPORT bool pl_einops_plan_view(const struct pl_einops_plan *plan, size_t i,
	const struct pl_tensor *input, struct pl_tensor *view)
{
	const struct view *v;

	if (i >= plan->n_results || !plan->views[i].is_view)
		return false;
	if (!view)
		return true;
	v = &plan->views[i];
	*view = plan->results[i];
	view->data = input->data ? (char *)input->data + v->offset : NULL;
	memcpy(view->stride, v->stride, (size_t)view->rank * sizeof(view->stride[0]));
	return true;
}

PL_EXPORT bool pl_einops_plan_packed(
	const struct pl_einops_plan *plan, size_t i, struct pl_einops_shape *packed)
{
	if (!plan->packed || i >= plan->n_inputs)
		return false;
	*packed = plan->packed[i];
	return true;
}
