/* proto/einops/shape.c - the length of every axis, or why there is none. */
#include "proto/einops/room.h"

static int64_t clamp(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : v < -INT64_MAX ? -INT64_MAX : (int64_t)v;
}

int pl_tensor_usable(const struct pl_tensor *t, bool may_miss, const struct fault *f)
{
	int64_t bytes = (int64_t)pl_dtype_size(t->dtype);

	if (bytes == 0 && !(may_miss && t->dtype == 0))
		return pl_fault(f, PL_EINOPS_E_DTYPE, span_all(f),
			"a tensor of no known dtype (%d)", (int)t->dtype);
	if (t->rank < 0 || t->rank > PL_RANK_MAX)
		return pl_fault(f, PL_EINOPS_E_LIMIT, span_all(f),
			"a tensor of %d dimensions; at most %d are allowed", t->rank, PL_RANK_MAX);
	bytes += bytes == 0;
	for (int d = 0; d < t->rank; d++) {
		if (t->shape[d] < (may_miss ? -1 : 0))
			return pl_fault(f, PL_EINOPS_E_ARGUMENT, span_all(f),
				"a tensor with the negative length %lld", (long long)t->shape[d]);
		if (t->shape[d] > 0 && __builtin_mul_overflow(bytes, t->shape[d], &bytes))
			return pl_fault(f, PL_EINOPS_E_TOO_LARGE, span_all(f),
				"a tensor of more than 2^63 bytes");
	}
	return 0;
}

/* Tells `into` what `t` knows; false when they differ. */
static bool merge_shapes(struct subject *into, const struct pl_tensor *t)
{
	if (into->rank - 1 != t->rank)
		return false;
	for (int d = 0; d < t->rank; d++) {
		int64_t *known = &into->shape[d + 1];

		if (t->shape[d] < 0)
			continue;
		if (*known != PL_UNKNOWN && *known != t->shape[d])
			return false;
		*known = t->shape[d];
	}
	return true;
}

static int stack_list(
	struct subject *s, const struct pl_einops_args *args, bool may_miss, const struct fault *f)
{
	if (args->n_inputs > PL_EINOPS_INPUTS_MAX)
		return pl_fault(f, PL_EINOPS_E_LIMIT, span_all(f),
			"a list of %zu tensors; at most %d are allowed", args->n_inputs,
			PL_EINOPS_INPUTS_MAX);
	s->rank = args->inputs[0].rank + 1;
	s->shape[0] = (int64_t)args->n_inputs;
	for (int d = 1; d < s->rank; d++)
		s->shape[d] = PL_UNKNOWN;
	for (size_t i = 0; i < args->n_inputs; i++) {
		const struct pl_tensor *t = &args->inputs[i];
		int r = pl_tensor_usable(t, may_miss, f);

		if (r)
			return r;
		if (!merge_shapes(s, t))
			return pl_fault(f, PL_EINOPS_E_STACK, span_all(f),
				"tensor %zu of the list has another shape than those before; a "
				"list is stacked, so all shapes must be equal",
				i);
		if (t->dtype && s->dtype && t->dtype != s->dtype)
			return pl_fault(f, PL_EINOPS_E_DTYPE, span_all(f),
				"tensor %zu of the list is %s, those before are %s; make them "
				"equal first",
				i, pl_dtype_name(t->dtype), pl_dtype_name(s->dtype));
		s->dtype = t->dtype ? t->dtype : s->dtype;
	}
	return 0;
}

int pl_subject_init(
	struct subject *s, const struct pl_einops_args *args, bool may_miss, const struct fault *f)
{
	const struct pl_tensor *t = args->inputs;
	int r;

	s->dtype = (enum pl_dtype)0;
	if (args->is_list && args->n_inputs == 0)
		return pl_fault(f, PL_EINOPS_E_EMPTY_LIST, span_all(f),
			"an empty list; there must be at least one tensor to stack");
	if (args->is_list) {
		r = pl_tensor_usable(t, may_miss, f);
		return r ? r : stack_list(s, args, may_miss, f);
	}
	if (args->n_inputs != 1)
		return pl_fault(f, PL_EINOPS_E_ARGUMENT, span_all(f),
			"%zu tensors that are no list; give one, or say that they are a list",
			args->n_inputs);
	r = pl_tensor_usable(t, may_miss, f);
	if (r)
		return r;
	s->dtype = t->dtype;
	s->rank = t->rank;
	for (int d = 0; d < t->rank; d++)
		s->shape[d] = t->shape[d] < 0 ? PL_UNKNOWN : t->shape[d];
	return 0;
}

static bool axis_has_name(const struct pl_einops_pattern *p, uint32_t axis, const char *name)
{
	return p->axes[axis].kind == AXIS_NAME && strcmp(p->names + p->axes[axis].name, name) == 0;
}

/* Axes that only repeat's right side has need a length. */
static int check_sizes(
	const struct pl_einops_pattern *p, const struct pl_einops_args *args, const struct fault *f)
{
	char word[48];

	for (uint32_t i = 0; p->op == PL_EINOPS_REPEAT && i < p->n_axes; i++) {
		bool is_given = p->axes[i].is_left || p->axes[i].kind != AXIS_NAME;

		for (size_t k = 0; k < args->n_axes && !is_given; k++)
			is_given = args->axes[k].name && axis_has_name(p, i, args->axes[k].name);
		if (!is_given)
			return pl_fault(f, PL_EINOPS_E_REPEAT_SIZE, p->axes[i].span,
				"the new axis '%s' has no length; give one, or write a number",
				pl_fault_word(word, f->text, p->axes[i].span));
	}
	return 0;
}

int pl_check_rank(struct lengths *l, const struct pl_einops_pattern *p, const struct side *side,
	const struct subject *s, const struct fault *f)
{
	int wanted = (int)side->n - (side->ellipsis >= 0);
	char shape[256];

	if (side->ellipsis >= 0 ? s->rank >= wanted : s->rank == wanted) {
		l->ellipsis_first = side->ellipsis;
		l->ellipsis_n = side->ellipsis >= 0 ? s->rank - wanted : 0;
		return 0;
	}
	return pl_fault(f, PL_EINOPS_E_RANK, side->span,
		"the pattern wants %s%d dimension%s, the tensor has %d: %s",
		side->ellipsis >= 0 ? "at least " : "", wanted, wanted == 1 ? "" : "s", s->rank,
		pl_shape_format(shape, sizeof(shape), s->rank, s->shape));
}

/* Takes the caller's lengths, in their order. */
static int take_given(struct lengths *l, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f)
{
	char word[48];

	for (uint32_t i = 0; i < p->n_axes; i++)
		l->length[i] = p->axes[i].length;
	for (size_t k = 0; k < args->n_axes; k++) {
		const char *name = args->axes[k].name ? args->axes[k].name : "";
		struct span all = {0, (uint32_t)strnlen(name, 4096)};
		uint32_t i = 0;

		pl_fault_word(word, name, all);
		if (!pl_is_name(name, strlen(name)))
			return pl_fault(f, PL_EINOPS_E_AXIS_NAME, span_all(f),
				"a length is given for '%s', which is no axis name", word);
		while (i < p->n_axes && !axis_has_name(p, i, name))
			i++;
		if (i == p->n_axes)
			return pl_fault(f, PL_EINOPS_E_AXIS_UNUSED, span_all(f),
				"a length is given for '%s', which the pattern doesn't have", word);
		if (l->length[i] != PL_UNKNOWN)
			return pl_fault(f, PL_EINOPS_E_AXIS_NAME, p->axes[i].span,
				"two lengths are given for '%s'", word);
		l->length[i] = clamp(args->axes[k].length);
	}
	return 0;
}

static bool is_ellipsis(const struct side *side, uint32_t dim)
{
	return side->ellipsis >= 0 && (uint32_t)side->ellipsis == dim;
}

static int check_determined(
	const struct lengths *l, const struct pl_einops_pattern *p, const struct fault *f)
{
	const struct side *left = &p->sides[0];

	for (uint32_t i = 0; i < left->n; i++) {
		const struct dim *d = side_dim(p, left, i);
		int n_unknown = 0;

		for (uint32_t k = 0; k < d->n && !is_ellipsis(left, i); k++)
			n_unknown += l->length[p->items[d->first + k]] == PL_UNKNOWN;
		if (n_unknown > 1)
			return pl_fault(f, PL_EINOPS_E_UNDERDETERMINED, d->span,
				"%d lengths of this group are unknown; give all but one",
				n_unknown);
	}
	return 0;
}

/* One dimension of the left against its length n, or PL_UNKNOWN. */
static int resolve_dim(struct lengths *l, const struct pl_einops_pattern *p, const struct dim *d,
	int64_t n, const struct fault *f)
{
	int64_t product = 1;
	int64_t *unknown = NULL;

	for (uint32_t k = 0; k < d->n; k++) {
		int64_t *length = &l->length[p->items[d->first + k]];

		if (*length == PL_UNKNOWN)
			unknown = length;
		else
			product = clamp((__int128)product * *length);
	}
	if (!unknown) {
		if (n == PL_UNKNOWN || n == product)
			return 0;
		return pl_fault(f, PL_EINOPS_E_MISMATCH, d->span,
			"this dimension has the length %lld, the pattern and the lengths given say "
			"%lld",
			(long long)n, (long long)product);
	}
	if (product == 0)
		return pl_fault(f, PL_EINOPS_E_ZERO_DIVISOR, d->span,
			"a length of 0 is given in this group, so the other length can't be found; "
			"give it too");
	if (n != PL_UNKNOWN && n % product)
		return pl_fault(f, PL_EINOPS_E_DIVIDE, d->span,
			"the length %lld of this dimension is not divisible by %lld", (long long)n,
			(long long)product);
	*unknown = n == PL_UNKNOWN ? n : n / product;
	return 0;
}

int pl_lengths_resolve(struct lengths *l, const struct pl_einops_pattern *p,
	const struct subject *s, const struct pl_einops_args *args, const struct fault *f)
{
	const struct side *left = &p->sides[0];
	int at = 0;
	int r = check_sizes(p, args, f);

	if (!r)
		r = pl_check_rank(l, p, left, s, f);
	if (!r)
		r = take_given(l, p, args, f);
	if (!r)
		r = check_determined(l, p, f);
	for (uint32_t i = 0; !r && i < left->n; i++) {
		if (is_ellipsis(left, i))
			at += l->ellipsis_n;
		else
			r = resolve_dim(l, p, side_dim(p, left, i), s->shape[at++], f);
	}
	return r;
}

bool pl_is_reduced(const struct pl_einops_pattern *p, const struct lengths *l, uint32_t axis)
{
	const struct axis *a = &p->axes[axis];

	return !a->is_right && (a->kind != AXIS_ELLIPSIS || l->ellipsis_n > 0);
}

bool pl_reduces(const struct pl_einops_pattern *p, const struct lengths *l)
{
	for (uint32_t i = 0; i < p->n_axes; i++)
		if (pl_is_reduced(p, l, i))
			return true;
	return false;
}

/* Multiplies a length (or an unknown one) into a product; 0 beats unknown. */
static void multiply(int64_t *product, int64_t length)
{
	if (*product == 0 || length == 0)
		*product = 0;
	else if (*product == PL_UNKNOWN || length == PL_UNKNOWN)
		*product = PL_UNKNOWN;
	else
		*product = mul_saturated(*product, length);
}

/* Length of axis i, with "..." as the product of what it stands for. */
static int64_t axis_length(const struct pl_einops_pattern *p, const struct subject *s,
	const struct lengths *l, uint32_t i)
{
	int64_t product = 1;

	if (p->axes[i].kind != AXIS_ELLIPSIS)
		return l->length[i];
	for (int d = 0; d < l->ellipsis_n; d++)
		multiply(&product, s->shape[l->ellipsis_first + d]);
	return product;
}

/* No negative length, and all the lengths but zeros together within INT64_MAX bytes of 8. */
static int check_sizes_sane(const struct pl_einops_pattern *p, const struct subject *s,
	const struct lengths *l, const struct fault *f)
{
	int64_t total = 8;

	for (uint32_t i = 0; i < p->n_axes; i++) {
		int64_t n = axis_length(p, s, l, i);

		if (n < 0 && n != PL_UNKNOWN)
			return pl_fault(f, PL_EINOPS_E_NEGATIVE, p->axes[i].span,
				"this axis would have the length %lld; lengths are 0 or more",
				(long long)n);
	}
	for (uint32_t i = 0; i < p->n_axes; i++) {
		int64_t n = axis_length(p, s, l, i);

		if (n > 0 && __builtin_mul_overflow(total, n, &total))
			return pl_fault(f, PL_EINOPS_E_TOO_LARGE, p->axes[i].span,
				"the lengths of the axes up to this one multiply beyond 2^63 "
				"bytes");
	}
	return 0;
}

static enum pl_dtype reduced_dtype(enum reduction reduction, enum pl_dtype dtype)
{
	if (reduction == REDUCE_ANY || reduction == REDUCE_ALL)
		return PL_BOOL;
	if (reduction != REDUCE_SUM && reduction != REDUCE_PROD)
		return dtype;
	if (dtype == PL_BOOL || (dtype >= PL_I8 && dtype <= PL_I64))
		return PL_I64;
	return dtype >= PL_U8 && dtype <= PL_U64 ? PL_U64 : dtype;
}

static int check_reduction(const struct pl_einops_pattern *p, const struct subject *s,
	const struct lengths *l, const struct fault *f)
{
	if (p->reduction == REDUCE_MEAN && s->dtype && !pl_dtype_is_float(s->dtype))
		return pl_fault(f, PL_EINOPS_E_MEAN_DTYPE, span_all(f),
			"mean of %s; only floats have a mean, cast to f32 first",
			pl_dtype_name(s->dtype));
	if (p->reduction != REDUCE_MIN && p->reduction != REDUCE_MAX)
		return 0;
	for (uint32_t i = 0; i < p->n_axes; i++)
		if (pl_is_reduced(p, l, i) && axis_length(p, s, l, i) == 0)
			return pl_fault(f, PL_EINOPS_E_EMPTY_REDUCE, p->axes[i].span,
				"this axis has the length 0, and min and max of nothing do not "
				"exist");
	return 0;
}

/* Adds one dimension to the result; false when there is no room. */
static bool add_dim(struct subject *out, int64_t length)
{
	if (out->rank == PL_RANK_MAX)
		return false;
	out->shape[out->rank++] = length;
	return true;
}

static int build_result(struct subject *out, const struct pl_einops_pattern *p,
	const struct subject *s, const struct lengths *l, const struct fault *f)
{
	const struct side *right = &p->sides[1];
	bool has_room = true;

	for (uint32_t i = 0; i < right->n && has_room; i++) {
		const struct dim *d = side_dim(p, right, i);
		int64_t product = 1;

		if (is_ellipsis(right, i) && !d->is_group) {
			for (int k = 0; k < l->ellipsis_n && has_room; k++)
				has_room = add_dim(out, s->shape[l->ellipsis_first + k]);
			continue;
		}
		for (uint32_t k = 0; k < d->n; k++)
			multiply(&product, axis_length(p, s, l, p->items[d->first + k]));
		has_room = add_dim(out, product);
	}
	return has_room ? 0
			: pl_fault(f, PL_EINOPS_E_LIMIT, right->span,
				  "the result would have more than %d dimensions", PL_RANK_MAX);
}

int pl_result_shape(struct subject *out, const struct pl_einops_pattern *p, const struct subject *s,
	const struct lengths *l, const struct fault *f)
{
	int r = check_sizes_sane(p, s, l, f);

	out->rank = 0;
	out->dtype = s->dtype;
	if (!r && pl_reduces(p, l)) {
		out->dtype = reduced_dtype(p->reduction, s->dtype);
		r = check_reduction(p, s, l, f);
	}
	return r ? r : build_result(out, p, s, l, f);
}
