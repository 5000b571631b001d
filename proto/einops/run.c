/* proto/einops/run.c - checks that tensors are as planned, then moves or reduces. */
#include "proto/einops/plan.h"

#include <errno.h>

/* Equal dtype and shape, equal strides where they matter, and memory unless empty. */
static bool is_as_planned(const struct pl_tensor *t, const struct pl_tensor *planned)
{
	bool is_empty = false;
	bool is_same_layout = true;

	if (t->dtype != planned->dtype || t->rank != planned->rank)
		return false;
	for (int d = 0; d < t->rank; d++) {
		if (t->shape[d] != planned->shape[d])
			return false;
		if (t->shape[d] > 1 && t->stride[d] != planned->stride[d])
			is_same_layout = false;
		if (t->shape[d] == 0)
			is_empty = true;
	}
	return is_empty || (is_same_layout && t->data);
}

PL_EXPORT int pl_einops_run(const struct pl_einops_plan *plan, const struct pl_tensor *inputs,
	const struct pl_tensor *outputs)
{
	for (size_t i = 0; i < plan->n_inputs; i++)
		if (!is_as_planned(&inputs[i], &plan->inputs[i]))
			return -EINVAL;
	for (size_t i = 0; i < plan->n_results; i++)
		if (!is_as_planned(&outputs[i], &plan->results[i]))
			return -EINVAL;
	for (size_t i = 0; i < plan->n_jobs; i++) {
		const struct job *j = &plan->jobs[i];

		pl_copy_run(j->copy, (char *)outputs[j->result].data + j->out_offset,
			(const char *)inputs[j->input].data + j->in_offset);
	}
	if (plan->reduce)
		pl_reduce_run(plan->reduce, inputs, &outputs[0]);
	if (plan->einsum)
		pl_einsum_run(plan->einsum, inputs, &outputs[0]);
	return 0;
}
