/* proto/einops/pack.c - pack joins tensors along the star axis, unpack takes them apart again. */
#include "proto/einops/plan.h"

#include <errno.h>

static int check_pack_rank(
	const struct pl_einops_pattern *p, size_t i, int rank, const struct fault *f)
{
	int named = (int)(p->n_before + p->n_after);

	if (rank >= named)
		return 0;
	return pl_fault(f, PL_EINOPS_E_RANK, span_all(f),
		"tensor %zu has %d dimension%s, the pattern names %d", i, rank,
		rank == 1 ? "" : "s", named);
}

/* Takes one length of a named axis into the result; false if it differs from another tensor's. */
static bool agree(int64_t *known, int64_t length)
{
	if (length < 0)
		return true;
	if (*known != PL_UNKNOWN && *known != length)
		return false;
	*known = length;
	return true;
}

/* What the star stands for in a tensor. */
static struct pl_einops_shape star_shape(
	const struct pl_einops_pattern *p, const struct pl_tensor *t)
{
	struct pl_einops_shape s = {.rank = t->rank - (int)(p->n_before + p->n_after)};

	memcpy(s.length, t->shape + p->n_before, (size_t)s.rank * sizeof(s.length[0]));
	return s;
}

static int64_t shape_product(const struct pl_einops_shape *s)
{
	int64_t product = 1;
	bool is_unknown = false;

	for (int d = 0; d < s->rank; d++) {
		if (s->length[d] == 0)
			return 0;
		if (s->length[d] < 0)
			is_unknown = true;
		else
			product = mul_saturated(product, s->length[d]);
	}
	return is_unknown ? PL_UNKNOWN : product;
}

/* Adds what tensor i says to the result's shape. */
static int join_shape(struct subject *out, const struct pl_einops_pattern *p,
	const struct pl_tensor *t, size_t i, const struct fault *f)
{
	struct pl_einops_shape star = star_shape(p, t);
	int64_t *total = &out->shape[p->n_before];
	int64_t product = shape_product(&star);

	for (int d = 0; d < out->rank; d++) {
		int from = d < (int)p->n_before ? d : d + star.rank - 1;

		if (d != (int)p->n_before && !agree(&out->shape[d], t->shape[from]))
			return pl_fault(f, PL_EINOPS_E_CONCAT, span_all(f),
				"tensor %zu has the length %lld in dimension %d, those before have "
				"%lld; named axes must be equal",
				i, (long long)t->shape[from], from, (long long)out->shape[d]);
	}
	if (product == PL_UNKNOWN || *total == PL_UNKNOWN)
		*total = PL_UNKNOWN;
	else if (__builtin_add_overflow(*total, product, total))
		return pl_fault(
			f, PL_EINOPS_E_TOO_LARGE, p->star, "the packed lengths add up beyond 2^63");
	return 0;
}

static int check_pack_inputs(const struct pl_einops_pattern *p, const struct pl_einops_args *args,
	bool may_miss, const struct fault *f)
{
	int r = 0;

	if (args->n_inputs == 0)
		return pl_fault(f, PL_EINOPS_E_EMPTY_LIST, span_all(f),
			"an empty list; there must be at least one tensor to pack");
	if (args->n_inputs > PL_EINOPS_INPUTS_MAX)
		return pl_fault(f, PL_EINOPS_E_LIMIT, span_all(f),
			"%zu tensors; at most %d are allowed", args->n_inputs,
			PL_EINOPS_INPUTS_MAX);
	for (size_t i = 0; !r && i < args->n_inputs; i++) {
		r = pl_tensor_usable(&args->inputs[i], may_miss, f);
		if (!r)
			r = check_pack_rank(p, i, args->inputs[i].rank, f);
	}
	return r;
}

/* The one dtype of all inputs, or 0 if none is known. */
int pl_common_dtype(enum pl_dtype *out, const struct pl_einops_args *args, const struct fault *f)
{
	enum pl_dtype dtype = (enum pl_dtype)0;

	for (size_t i = 0; i < args->n_inputs; i++) {
		enum pl_dtype other = args->inputs[i].dtype;

		if (dtype && other && dtype != other)
			return pl_fault(f, PL_EINOPS_E_DTYPE, span_all(f),
				"tensor %zu is %s, those before are %s; make them equal first", i,
				pl_dtype_name(other), pl_dtype_name(dtype));
		dtype = other ? other : dtype;
	}
	*out = dtype;
	return 0;
}

int pl_size_check(const struct subject *s, const struct fault *f)
{
	int64_t bytes = 8;

	for (int d = 0; d < s->rank; d++)
		if (s->shape[d] > 0 && __builtin_mul_overflow(bytes, s->shape[d], &bytes))
			return pl_fault(f, PL_EINOPS_E_TOO_LARGE, span_all(f),
				"the result's lengths multiply beyond 2^63 bytes");
	return 0;
}

int pl_pack_shape(struct subject *out, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, bool may_miss, const struct fault *f)
{
	int r = check_pack_inputs(p, args, may_miss, f);

	if (r)
		return r;
	/* A rank is at least that of the names, so the result's is at most one more than
	 * PL_RANK_MAX. */
	out->rank = (int)(p->n_before + p->n_after) + 1;
	if (out->rank > PL_RANK_MAX)
		return pl_fault(f, PL_EINOPS_E_LIMIT, span_all(f),
			"the result would have more than %d dimensions", PL_RANK_MAX);
	for (int d = 0; d < out->rank; d++)
		out->shape[d] = d == (int)p->n_before ? 0 : PL_UNKNOWN;
	for (size_t i = 0; !r && i < args->n_inputs; i++)
		r = join_shape(out, p, &args->inputs[i], i, f);
	if (!r)
		r = pl_common_dtype(&out->dtype, args, f);
	return r ? r : pl_size_check(out, f);
}

/* The loops of a copy between two tensors of one shape. */
static void pair_loops(struct nest *nest, const struct pl_tensor *out, const struct pl_tensor *in)
{
	nest->n = in->rank;
	for (int d = 0; d < in->rank; d++)
		nest->loop[d] = (struct loop){.n = in->shape[d],
			.out = out->stride[d],
			.in = in->shape[d] > 1 ? in->stride[d] : 0};
}

static int add_job(struct pl_einops_plan *plan, const struct job *job, struct nest *nest)
{
	struct copy *copy = &plan->copies[plan->n_copies];
	int r = pl_copy_init(copy, nest, pl_dtype_size(plan->inputs[0].dtype));

	if (r)
		return r;
	plan->n_copies++;
	plan->jobs[plan->n_jobs] = *job;
	plan->jobs[plan->n_jobs++].copy = copy;
	return 0;
}

int pl_plan_pack(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f)
{
	struct subject s;
	struct pl_tensor *result;
	struct job job = {0};
	int r = pl_pack_shape(&s, p, args, false, f);

	if (!r)
		r = pl_plan_add_results(plan, 1);
	if (!r)
		r = pl_plan_add_jobs(plan, args->n_inputs);
	if (r)
		return r;
	plan->packed = calloc(args->n_inputs, sizeof(*plan->packed));
	result = &plan->results[0];
	r = plan->packed ? pl_tensor_init(result, NULL, s.dtype, s.rank, s.shape) : -ENOMEM;
	for (size_t i = 0; !r && i < args->n_inputs; i++) {
		const struct pl_tensor *t = &plan->inputs[i];
		struct pl_tensor place;
		struct nest nest;

		plan->packed[i] = star_shape(p, t);
		if (pl_tensor_count(t) == 0)
			continue;
		r = pl_tensor_init(&place, NULL, t->dtype, t->rank, t->shape);
		if (r)
			break;
		/* Before the star the result's own strides; from there on the tensor is one run. */
		memcpy(place.stride, result->stride, p->n_before * sizeof(place.stride[0]));
		pair_loops(&nest, &place, t);
		job.input = i;
		r = add_job(plan, &job, &nest);
		job.out_offset += shape_product(&plan->packed[i]) * result->stride[p->n_before];
	}
	return r;
}

static int split_fault(const struct pl_einops_pattern *p, int64_t length, const struct fault *f)
{
	return pl_fault(f, PL_EINOPS_E_UNPACK_SPLIT, p->star,
		"the axis of length %lld can't be split exactly into the packed shapes given",
		(long long)length);
}

/* Counts the -1 of all packed shapes; *which is the shape that has one. */
static int check_missing(const struct pl_einops_pattern *p, const struct pl_einops_args *args,
	size_t *which, const struct fault *f)
{
	size_t n_shapes = 0;
	bool is_bad = false;

	for (size_t i = 0; i < args->n_packed; i++) {
		int n = 0;

		for (int d = 0; d < args->packed[i].rank; d++) {
			n += args->packed[i].length[d] == -1;
			is_bad |= args->packed[i].length[d] < -1;
		}
		if (n)
			*which = i;
		n_shapes += n > 0;
		is_bad |= n > 1;
	}
	if (n_shapes > 1)
		return pl_fault(f, PL_EINOPS_E_UNPACK_MULTI, p->star,
			"-1 in more than one packed shape; only one length can be left open");
	if (is_bad)
		return pl_fault(f, PL_EINOPS_E_UNPACK_SPLIT, p->star,
			"a packed shape with two lengths of -1, or one below");
	return 0;
}

/* Finds the length that was given as -1: what is left over of the axis. */
static bool fill_missing(struct pl_einops_shape *s, int64_t rest)
{
	int64_t product = 1;
	int at = -1;

	for (int d = 0; d < s->rank; d++) {
		if (s->length[d] == -1)
			at = d;
		else
			product = mul_saturated(product, s->length[d]);
	}
	if (product == 0 || rest < 0 || rest % product)
		return false;
	s->length[at] = rest / product;
	return true;
}

/* Fills plan->packed with the shapes, the open length found. */
static int resolve_packed(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f)
{
	int64_t length = args->inputs[0].shape[p->n_before];
	int64_t known = 0;
	size_t which = args->n_packed;
	int r = check_missing(p, args, &which, f);

	if (r)
		return r;
	plan->packed = calloc(args->n_packed + 1, sizeof(*plan->packed));
	if (!plan->packed)
		return -ENOMEM;
	memcpy(plan->packed, args->packed, args->n_packed * sizeof(*plan->packed));
	for (size_t i = 0; i < args->n_packed; i++)
		if (i != which &&
			__builtin_add_overflow(known, shape_product(&plan->packed[i]), &known))
			return split_fault(p, length, f);
	if (which < args->n_packed ? !fill_missing(&plan->packed[which], length - known)
				   : known != length)
		return split_fault(p, length, f);
	return 0;
}

/* Result i begins at `first` of the star axis: its shape, view and job. */
static int add_piece(
	struct pl_einops_plan *plan, const struct pl_einops_pattern *p, size_t i, int64_t first)
{
	const struct pl_tensor *t = &plan->inputs[0];
	const struct pl_einops_shape *star = &plan->packed[i];
	struct pl_tensor *result = &plan->results[i];
	struct view *view = &plan->views[i];
	int64_t shape[PL_RANK_MAX];
	int rank = t->rank - 1 + star->rank;
	int64_t stride = t->stride[p->n_before];
	struct pl_tensor source;
	struct nest nest;
	int r;

	memcpy(shape, t->shape, p->n_before * sizeof(*shape));
	memcpy(shape + p->n_before, star->length, (size_t)star->rank * sizeof(*shape));
	memcpy(shape + p->n_before + star->rank, t->shape + p->n_before + 1,
		p->n_after * sizeof(*shape));
	r = pl_tensor_init(result, NULL, t->dtype, rank, shape);
	if (r)
		return r;
	source = *result;
	memcpy(source.stride, t->stride, p->n_before * sizeof(*shape));
	memcpy(source.stride + p->n_before + star->rank, t->stride + p->n_before + 1,
		p->n_after * sizeof(*shape));
	for (int d = star->rank - 1; d >= 0; d--) {
		source.stride[(int)p->n_before + d] = stride;
		stride = mul_wrapping(stride, star->length[d]);
	}
	view->is_view = true;
	view->offset = pl_tensor_count(result) ? mul_wrapping(first, t->stride[p->n_before]) : 0;
	memcpy(view->stride, source.stride, sizeof(view->stride));
	if (pl_tensor_count(result) == 0)
		return 0;
	pair_loops(&nest, result, &source);
	return add_job(plan, &(struct job){.result = i, .in_offset = view->offset}, &nest);
}

static int check_unpack(
	const struct pl_einops_pattern *p, const struct pl_einops_args *args, const struct fault *f)
{
	int named = (int)(p->n_before + p->n_after);

	if (args->n_inputs != 1 || args->n_packed > PL_EINOPS_INPUTS_MAX)
		return pl_fault(f, PL_EINOPS_E_ARGUMENT, span_all(f),
			"unpack takes one tensor, and at most %d packed shapes",
			PL_EINOPS_INPUTS_MAX);
	if (args->inputs[0].rank != named + 1)
		return pl_fault(f, PL_EINOPS_E_RANK, span_all(f),
			"the pattern wants %d dimension%s, the tensor has %d", named + 1,
			named ? "s" : "", args->inputs[0].rank);
	for (size_t i = 0; i < args->n_packed; i++)
		if (args->packed[i].rank < 0 || args->packed[i].rank + named > PL_RANK_MAX)
			return pl_fault(f, PL_EINOPS_E_LIMIT, p->star,
				"packed shape %zu would give a result of more than %d dimensions",
				i, PL_RANK_MAX);
	return 0;
}

int pl_plan_unpack(struct pl_einops_plan *plan, const struct pl_einops_pattern *p,
	const struct pl_einops_args *args, const struct fault *f)
{
	int64_t first = 0;
	int r = check_unpack(p, args, f);

	if (!r)
		r = resolve_packed(plan, p, args, f);
	if (!r)
		r = pl_plan_add_results(plan, args->n_packed);
	if (!r)
		r = pl_plan_add_jobs(plan, args->n_packed);
	for (size_t i = 0; !r && i < args->n_packed; i++) {
		r = add_piece(plan, p, i, first);
		if (r == -EOVERFLOW)
			r = pl_fault(f, PL_EINOPS_E_TOO_LARGE, p->star,
				"the lengths of result %zu multiply beyond 2^63 bytes", i);
		first += shape_product(&plan->packed[i]);
	}
	return r;
}
