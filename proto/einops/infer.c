/* proto/einops/infer.c - results when only a part of the shapes is known, and parse_shape. */
#include "proto/einops/plan.h"

static int infer_arrow(const struct pl_einops_pattern *p, const struct pl_einops_args *args,
	struct subject *out, const struct fault *f)
{
	struct subject s;
	struct lengths l;
	int r = pl_subject_init(&s, args, true, f);

	if (!r)
		r = pl_lengths_resolve(&l, p, &s, args, f);
	return r ? r : pl_result_shape(out, p, &s, &l, f);
}

PL_EXPORT int pl_einops_infer(const struct pl_einops_pattern *pattern,
	const struct pl_einops_args *args, struct pl_tensor *result, struct pl_einops_error *error)
{
	struct fault f = fault_of(pattern, error);
	struct subject out;
	int r;

	switch (pattern->op) {
	case PL_EINOPS_REARRANGE:
	case PL_EINOPS_REDUCE:
	case PL_EINOPS_REPEAT:
		r = infer_arrow(pattern, args, &out, &f);
		break;
	case PL_EINOPS_PACK:
		r = pl_pack_shape(&out, pattern, args, true, &f);
		break;
	case PL_EINOPS_EINSUM:
		r = pl_einsum_shape(&out, pattern, args, true, &f);
		break;
	default:
		return pl_fault(&f, PL_EINOPS_E_ARGUMENT, span_all(&f), "%s has no result to infer",
			pl_einops_op_name(pattern->op));
	}
	if (r)
		return r;
	*result = (struct pl_tensor){.dtype = out.dtype, .rank = out.rank};
	for (int d = 0; d < out.rank; d++)
		result->shape[d] = out.shape[d] == PL_UNKNOWN ? -1 : out.shape[d];
	return 0;
}

/* A dimension of parse_shape against its length. */
static int check_found(const struct dim *d, const struct axis *a, int64_t n, const struct fault *f)
{
	int64_t wanted = a ? a->length : 1;

	if ((a && a->kind == AXIS_NAME) || n == wanted)
		return 0;
	return pl_fault(f, PL_EINOPS_E_MISMATCH, d->span,
		"this dimension has the length %lld, the pattern says %lld", (long long)n,
		(long long)wanted);
}

static bool is_blank(const char *name)
{
	return name[0] == '_' && name[1] == '\0';
}

/* The one name of a dimension, as a number; -1: it is something else. */
static int lone_name(const struct pl_einops_pattern *p, const struct side *side, uint32_t i)
{
	const struct dim *d = side_dim(p, side, i);

	return d->n == 1 && dim_axis(p, d, 0)->kind == AXIS_NAME ? p->items[d->first] : -1;
}

PL_EXPORT bool pl_einops_is_permutation(
	const struct pl_einops_pattern *pattern, int axis[PL_RANK_MAX], int *rank)
{
	const struct side *from = &pattern->sides[0];
	const struct side *to = &pattern->sides[1];

	if (pattern->op != PL_EINOPS_REARRANGE || from->n != to->n || from->n > PL_RANK_MAX)
		return false;
	for (uint32_t i = 0; i < to->n; i++) {
		int name = lone_name(pattern, to, i);
		uint32_t k = 0;

		while (k < from->n && lone_name(pattern, from, k) != name)
			k++;
		if (name < 0 || k == from->n)
			return false;
		axis[i] = (int)k;
	}
	*rank = (int)to->n;
	return true;
}

PL_EXPORT int pl_einops_parse_shape(const struct pl_einops_pattern *pattern,
	const struct pl_tensor *tensor, struct pl_einops_axis *found, size_t *n_found,
	struct pl_einops_error *error)
{
	const struct side *side = &pattern->sides[0];
	struct pl_einops_args args = {.inputs = tensor, .n_inputs = 1};
	struct fault f = fault_of(pattern, error);
	struct pl_einops_axis pairs[PL_RANK_MAX];
	struct subject s;
	struct lengths l;
	size_t n = 0;
	int at = 0;
	int r;

	if (pattern->op != PL_EINOPS_PARSE_SHAPE)
		return pl_fault(
			&f, PL_EINOPS_E_ARGUMENT, span_all(&f), "no pattern of parse_shape");
	r = pl_subject_init(&s, &args, false, &f);
	if (!r)
		r = pl_check_rank(&l, pattern, side, &s, &f);
	for (uint32_t i = 0; !r && i < side->n; i++) {
		const struct dim *d = side_dim(pattern, side, i);
		const struct axis *a = d->n ? dim_axis(pattern, d, 0) : NULL;

		if (a && a->kind == AXIS_ELLIPSIS) {
			at += l.ellipsis_n;
			continue;
		}
		r = check_found(d, a, s.shape[at], &f);
		if (!r && a && a->kind == AXIS_NAME && !is_blank(pattern->names + a->name))
			pairs[n++] = (struct pl_einops_axis){pattern->names + a->name, s.shape[at]};
		at++;
	}
	if (r)
		return r;
	memcpy(found, pairs, n * sizeof(*pairs));
	*n_found = n;
	return 0;
}
