/* proto/einops/einsum.c - labels to lengths, lengths to loops, for the sum of products. */
#include "proto/einops/einsum.h"

#include <errno.h>

/* Length of every label, and of what "..." stands for (aligned at its end). */
struct labels {
	int64_t name[PL_EINOPS_AXES_MAX];
	int64_t ellipsis[PL_RANK_MAX];
	int n_ellipsis;
};

static const struct side *right_side(const struct pl_einops_pattern *p)
{
	return &p->sides[p->n_sides - 1];
}

static int check_right(const struct pl_einops_pattern *p, const struct fault *f)
{
	const struct side *right = right_side(p);
	bool is_seen[PL_EINOPS_AXES_MAX] = {false};
	bool has_left_ellipsis = false;
	char word[48];

	for (uint32_t i = 0; i < right->n; i++) {
		const struct dim *d = side_dim(p, right, i);
		uint8_t axis = p->items[d->first];

		if (is_seen[axis])
			return pl_fault(f, PL_EINOPS_E_EINSUM_OUT, d->span,
				"'%s' is twice on the right; once is all a result can have",
				pl_fault_word(word, f->text, d->span));
		is_seen[axis] = true;
	}
	for (uint32_t i = 0; i + 1 < p->n_sides; i++)
		has_left_ellipsis |= p->sides[i].ellipsis >= 0;
	if (right->ellipsis >= 0 && !has_left_ellipsis)
		return pl_fault(f, PL_EINOPS_E_EINSUM_OUT, right->ellipsis_at,
			"'...' is on the right only; write it on a left side too");
	return 0;
}

static int check_operands(
	const struct pl_einops_pattern *p, const struct pl_einops_args *args, const struct fault *f)
{
	const struct side *right = right_side(p);
	struct span lefts = {0, right->span.at - 2};

	if (args->n_inputs == p->n_sides - 1)
		return check_right(p, f);
	return pl_fault(f, PL_EINOPS_E_EINSUM_OPERANDS, lefts,
		"the pattern has %u left side%s, and there %s %zu tensor%s", p->n_sides - 1,
		p->n_sides == 2 ? "" : "s", args->n_inputs == 1 ? "is" : "are", args->n_inputs,
		args->n_inputs == 1 ? "" : "s");
}

/* Takes the length n (-1: unknown) of one axis of "...": equal, or one of the two is 1. Starts
 * from 1. */
static bool broadcast(int64_t *known, int64_t n)
{
	if (n == *known || n == 1)
		return true;
	if (n < 0)
		*known = *known == 1 ? PL_UNKNOWN : *known;
	else if (*known == 1 || *known == PL_UNKNOWN)
		*known = n;
	else
		return false;
	return true;
}

/* Where the dimensions of operand i begin that its "..." stands for, and how many they are. */
static void ellipsis_of(const struct side *side, int rank, int *first, int *n)
{
	*first = side->ellipsis;
	*n = side->ellipsis >= 0 ? rank - ((int)side->n - 1) : 0;
}

static int take_ellipsis(
	struct labels *l, const struct side *side, const struct pl_tensor *t, const struct fault *f)
{
	int first;
	int n;

	ellipsis_of(side, t->rank, &first, &n);
	for (int k = 0; k < n; k++) {
		int64_t *known = &l->ellipsis[PL_RANK_MAX - n + k];

		if (!broadcast(known, t->shape[first + k]))
			return pl_fault(f, PL_EINOPS_E_MISMATCH, side->ellipsis_at,
				"an axis of '...' has the length %lld here, and %lld in a tensor "
				"before; they must be equal, or one of them 1",
				(long long)t->shape[first + k], (long long)*known);
	}
	return 0;
}

static int take_name(struct labels *l, const struct pl_einops_pattern *p, const struct dim *d,
	int64_t n, const struct fault *f)
{
	int64_t *known = &l->name[p->items[d->first]];
	char word[48];

	if (n < 0)
		return 0;
	if (*known != PL_UNKNOWN && *known != n)
		return pl_fault(f, PL_EINOPS_E_MISMATCH, d->span,
			"axis '%s' has the length %lld here, and %lld before",
			pl_fault_word(word, f->text, d->span), (long long)n, (long long)*known);
	*known = n;
	return 0;
}

static int take_operand(struct labels *l, const struct pl_einops_pattern *p,
	const struct side *side, const struct pl_tensor *t, const struct fault *f)
{
	int at = 0;
	int r = take_ellipsis(l, side, t, f);

	for (uint32_t i = 0; !r && i < side->n; i++) {
		if (side->ellipsis == (int)i)
			at += t->rank - ((int)side->n - 1);
		else
			r = take_name(l, p, side_dim(p, side, i), t->shape[at++], f);
	}
	return r;
}

/* The ranks of all operands; how many axes "..." stands for at most. */
static int check_ranks(struct labels *l, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, bool may_miss, const struct fault *f)
{
	l->n_ellipsis = 0;
	for (size_t i = 0; i < args->n_inputs; i++) {
		const struct pl_tensor *t = &args->inputs[i];
		struct subject s = {.rank = t->rank};
		struct lengths ranks;
		int r = pl_tensor_usable(t, may_miss, f);

		if (r)
			return r;
		memcpy(s.shape, t->shape, (size_t)t->rank * sizeof(s.shape[0]));
		r = pl_check_rank(&ranks, p, &p->sides[i], &s, f);
		if (r)
			return r;
		if (ranks.ellipsis_n > l->n_ellipsis)
			l->n_ellipsis = ranks.ellipsis_n;
	}
	return 0;
}

static int resolve(struct labels *l, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, bool may_miss, const struct fault *f)
{
	int r = check_operands(p, args, f);

	if (!r)
		r = check_ranks(l, p, args, may_miss, f);
	if (r)
		return r;
	for (int i = 0; i < PL_EINOPS_AXES_MAX; i++)
		l->name[i] = PL_UNKNOWN;
	for (int i = 0; i < PL_RANK_MAX; i++)
		l->ellipsis[i] = 1;
	for (size_t i = 0; !r && i < args->n_inputs; i++)
		r = take_operand(l, p, &p->sides[i], &args->inputs[i], f);
	if (!r && l->n_ellipsis && right_side(p)->ellipsis < 0)
		r = pl_fault(f, PL_EINOPS_E_EINSUM_OUT, right_side(p)->span,
			"'...' stands for %d axes that the right side doesn't have; einsum can't "
			"sum them, name them",
			l->n_ellipsis);
	return r;
}

/* All lengths but zeros within 2^63 bytes: no loop nest can overflow. */
static int check_size(
	const struct labels *l, const struct pl_einops_pattern *p, const struct fault *f)
{
	int64_t total = 8;

	for (uint32_t i = 0; i < p->n_axes; i++)
		if (l->name[i] > 0 && __builtin_mul_overflow(total, l->name[i], &total))
			goto error_size;
	for (int i = 0; i < PL_RANK_MAX; i++)
		if (l->ellipsis[i] > 0 && __builtin_mul_overflow(total, l->ellipsis[i], &total))
			goto error_size;
	return 0;
error_size:
	return pl_fault(f, PL_EINOPS_E_TOO_LARGE, span_all(f),
		"the lengths of all axes multiply beyond 2^63 bytes");
}

static int build_shape(struct subject *out, const struct labels *l,
	const struct pl_einops_pattern *p, const struct fault *f)
{
	const struct side *right = right_side(p);
	int rank = (int)right->n + (right->ellipsis >= 0 ? l->n_ellipsis - 1 : 0);

	if (rank > PL_RANK_MAX)
		return pl_fault(f, PL_EINOPS_E_LIMIT, right->span,
			"the result would have %d dimensions; at most %d are allowed", rank,
			PL_RANK_MAX);
	out->rank = 0;
	for (uint32_t i = 0; i < right->n; i++) {
		if (right->ellipsis == (int)i)
			for (int k = PL_RANK_MAX - l->n_ellipsis; k < PL_RANK_MAX; k++)
				out->shape[out->rank++] = l->ellipsis[k];
		else
			out->shape[out->rank++] = l->name[p->items[side_dim(p, right, i)->first]];
	}
	return 0;
}

static int shape_of(struct subject *out, struct labels *l, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f)
{
	int r = check_size(l, p, f);

	if (!r)
		r = pl_common_dtype(&out->dtype, args, f);
	return r ? r : build_shape(out, l, p, f);
}

int pl_einsum_shape(struct subject *out, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, bool may_miss, const struct fault *f)
{
	struct labels l;
	int r = resolve(&l, p, args, may_miss, f);

	return r ? r : shape_of(out, &l, p, args, f);
}

/* The bytes by which label `axis` (or axis k of the ellipsis) moves in an operand; a diagonal adds
 * up. */
static int64_t stride_of(const struct pl_einops_pattern *p, size_t operand,
	const struct pl_tensor *t, int axis, int k)
{
	const struct side *side = &p->sides[operand];
	int64_t stride = 0;
	int at = 0;
	int first;
	int n;

	ellipsis_of(side, t->rank, &first, &n);
	if (axis < 0) {
		int d = first + k - (PL_RANK_MAX - n);

		return k >= PL_RANK_MAX - n && t->shape[d] > 1 ? t->stride[d] : 0;
	}
	for (uint32_t i = 0; i < side->n; i++) {
		if (side->ellipsis == (int)i) {
			at += n;
			continue;
		}
		if (p->items[side_dim(p, side, i)->first] == axis && t->shape[at] > 1)
			stride += t->stride[at];
		at++;
	}
	return stride;
}

/* One loop under construction. */
struct label_loop {
	int64_t n;
	int64_t out;
	int axis; /* -1: of the ellipsis */
	int k;
};

static void add_loop(struct einsum *e, const struct pl_einops_plan *plan,
	const struct pl_einops_pattern *p, const struct label_loop *l)
{
	int64_t *row = e->strides + (size_t)e->n_loops * e->n_operands;

	if (l->n == 1)
		return;
	for (size_t i = 0; i < e->n_operands; i++)
		row[i] = stride_of(p, i, &plan->inputs[i], l->axis, l->k);
	e->loops[e->n_loops++] = (struct einsum_loop){.n = l->n, .out = l->out, .in = row};
}

static void add_kept(struct einsum *e, const struct pl_einops_plan *plan,
	const struct pl_einops_pattern *p, const struct labels *l)
{
	const struct side *right = right_side(p);
	const struct pl_tensor *result = &plan->results[0];
	int at = 0;

	for (uint32_t i = 0; i < right->n; i++) {
		if (right->ellipsis != (int)i) {
			add_loop(e, plan, p,
				&(struct label_loop){result->shape[at], result->stride[at],
					p->items[side_dim(p, right, i)->first], 0});
			at++;
			continue;
		}
		for (int k = PL_RANK_MAX - l->n_ellipsis; k < PL_RANK_MAX; k++, at++)
			add_loop(e, plan, p,
				&(struct label_loop){result->shape[at], result->stride[at], -1, k});
	}
	e->n_kept = e->n_loops;
}

/* Lines go along the longest loop. */
static void choose_line(struct einsum *e)
{
	e->line = -1;
	for (int i = 0; i < e->n_loops; i++)
		if (e->line < 0 || e->loops[i].n > e->loops[e->line].n)
			e->line = i;
}

void pl_einsum_destroy(struct einsum *e)
{
	if (!e)
		return;
	free(e->strides);
	free(e);
}

static int build_loops(struct einsum *e, const struct pl_einops_plan *plan,
	const struct pl_einops_pattern *p, const struct labels *l)
{
	e->dtype = plan->results[0].dtype;
	e->n_operands = plan->n_inputs;
	e->count = pl_tensor_count(&plan->results[0]);
	e->strides = calloc(PL_LABELS_MAX * e->n_operands, sizeof(*e->strides));
	if (!e->strides)
		return -ENOMEM;
	add_kept(e, plan, p, l);
	for (uint32_t i = 0; i < p->n_axes; i++) {
		if (p->axes[i].is_right || p->axes[i].kind == AXIS_ELLIPSIS)
			continue;
		if (l->name[i] == 0)
			e->is_empty_sum = true;
		add_loop(e, plan, p, &(struct label_loop){l->name[i], 0, (int)i, 0});
	}
	choose_line(e);
	return 0;
}

int pl_plan_einsum(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f)
{
	struct subject s;
	struct labels l;
	int r = resolve(&l, p, args, false, f);

	if (!r)
		r = shape_of(&s, &l, p, args, f);
	if (!r)
		r = pl_plan_add_results(plan, 1);
	if (!r)
		r = pl_tensor_init(&plan->results[0], NULL, s.dtype, s.rank, s.shape);
	if (r)
		return r;
	plan->einsum = calloc(1, sizeof(*plan->einsum));
	return plan->einsum ? build_loops(plan->einsum, plan, p, &l) : -ENOMEM;
}
