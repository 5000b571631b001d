/* proto/einops/plan.h - what a plan is inside, and who builds its parts. */
#pragma once

#include "proto/einops/kernels.h"
#include "proto/einops/room.h"

#include <stdatomic.h>

/* Lengths of 2 and more whose product fits in 63 bits: there can't be more. */
#define PL_LOOPS_MAX 64

/* One elementary axis in the result's or the input's order. */
struct loop {
	int64_t n;
	int64_t out;  /* bytes */
	int64_t in;   /* bytes */
	int64_t step; /* tensors of the list */
};

struct nest {
	int n;
	struct loop loop[PL_LOOPS_MAX + PL_RANK_ALL];
};

/* A copy between two layouts: a tile inside `n_outer` loops. */
struct copy {
	pl_tile_fn run;
	struct pl_tile tile;
	int n_outer;
	struct loop *outer;
};

/* A copy from one input to a place in one result. */
struct job {
	size_t input;
	size_t result;
	int64_t in_offset;
	int64_t out_offset;
	const struct copy *copy;
};

struct view {
	bool is_view;
	int64_t offset;
	int64_t stride[PL_RANK_MAX];
};

struct reduce;
struct einsum;

struct pl_einops_plan {
	atomic_uint refs;
	enum pl_einops_op op;
	size_t n_inputs;
	size_t n_results;
	size_t n_copies;
	size_t n_jobs;
	struct pl_tensor *inputs; /* as planned, without data */
	struct pl_tensor *results;
	struct view *views;
	struct pl_einops_shape *packed; /* op pack */
	struct copy *copies;
	struct job *jobs;
	struct reduce *reduce;
	struct einsum *einsum;
};

/* a * b where overflow can only hit a stride that is never used (a length of 1 or an empty tensor).
 */
static inline int64_t mul_wrapping(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Drops lengths of 1 and merges neighbours that are one run on both sides. */
void pl_nest_simplify(struct nest *nest);

/* Fills *c from the loops (outermost first; none empty). -ENOMEM. */
PL_MUST_CHECK int pl_copy_init(struct copy *c, struct nest *nest, size_t size);
void pl_copy_finish(struct copy *c);
void pl_copy_run(const struct copy *c, char *out, const char *in);

/* The axes of a rearrange, reduce or repeat over one tensor of that layout. */
struct layout {
	int64_t unit;        /* bytes of one element of the result; set before */
	struct nest kept;    /* in the result's order; `out` filled */
	struct nest reduced; /* in the input's order */
};

void pl_layout_init(struct layout *out, const struct pl_einops_pattern *p, const struct lengths *l,
	const struct subject *s, const struct pl_tensor *t);

/* The result as a view of the one input, if no axis is new or reduced and the strides can be
 * merged. */
bool pl_layout_view(
	int64_t stride[PL_RANK_MAX], const struct layout *layout, const struct pl_tensor *result);

/* What a reduction is planned from: the plan's inputs and result are set. */
struct layout_source {
	const struct pl_einops_plan *plan;
	const struct pl_einops_pattern *p;
	const struct lengths *l;
	const struct subject *s;
};

/* -ENOMEM. */
PL_MUST_CHECK int pl_reduce_create(struct reduce **out, const struct layout_source *source);
void pl_reduce_destroy(struct reduce *reduce);
void pl_reduce_run(const struct reduce *reduce, const struct pl_tensor *inputs,
	const struct pl_tensor *output);

/* Parts of plans: results, views, jobs. The lead-in (inputs) is done. */
PL_MUST_CHECK int pl_plan_pack(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f);
PL_MUST_CHECK int pl_plan_unpack(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f);
PL_MUST_CHECK int pl_plan_einsum(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f);
void pl_einsum_destroy(struct einsum *einsum);
void pl_einsum_run(const struct einsum *einsum, const struct pl_tensor *inputs,
	const struct pl_tensor *output);

/* Room for n results, or n jobs with a copy each; -ENOMEM. */
PL_MUST_CHECK int pl_plan_add_results(struct pl_einops_plan *plan, size_t n);
PL_MUST_CHECK int pl_plan_add_jobs(struct pl_einops_plan *plan, size_t n);

/* The one dtype of all inputs, 0 if none is known. */
PL_MUST_CHECK int pl_common_dtype(
	enum pl_dtype *out, const struct pl_einops_args *args, const struct fault *f);

/* The lengths (zeros left out) within 2^63 bytes. */
PL_MUST_CHECK int pl_size_check(const struct subject *s, const struct fault *f);

/* Result shapes, with PL_UNKNOWN where args don't tell. */
PL_MUST_CHECK int pl_pack_shape(struct subject *out, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, bool may_miss, const struct fault *f);
PL_MUST_CHECK int pl_einsum_shape(struct subject *out, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, bool may_miss, const struct fault *f);
