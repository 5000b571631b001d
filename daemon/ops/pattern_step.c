/* daemon/ops/pattern_step.c - what the steps that are a tensor pattern (rearrange, reduce, repeat)
 * share. */
#include "daemon/ops/pattern_step.h"

#include <errno.h>

#include "daemon/kit/pass.h"

/* Shapes that a process keeps plans for: each field, and a few where shapes vary. */
#define N_PLANS 8

struct known_plan {
	struct pl_tensor input; /* its dtype, shape and strides */
	struct pl_einops_plan *plan;
};

struct pattern_state {
	struct pl_einops_pattern *pattern;
	struct pl_einops_axis axis[PL_PARAM_LIST_MAX];
	size_t n_axes;
	struct known_plan known[N_PLANS];
	unsigned next; /* the place that the next unknown shape takes */
};

const char *const pl_pattern_reductions[] = {
	"min", "max", "sum", "mean", "prod", "any", "all", NULL};

/* At the character of the pattern, or at the lengths when they are to blame. */
static int report(struct pl_err *err, int code, const struct pl_einops_error *error)
{
	bool is_length = error->code == PL_EINOPS_E_AXIS_NAME ||
			 error->code == PL_EINOPS_E_AXIS_UNUSED ||
			 error->code == PL_EINOPS_E_NEGATIVE;

	(void)pl_err_set(err, code, "%s", error->reason);
	(void)pl_err_at(err, is_length ? "axes" : "pattern", is_length ? 0 : error->column);
	return code;
}

static int parse(enum pl_einops_op op, const struct pl_pattern_params *p,
	struct pl_einops_pattern **out, struct pl_err *err)
{
	struct pl_einops_spec spec = {
		.op = op,
		.pattern = p->pattern,
		.n_pattern = strlen(p->pattern),
		.reduction = pl_pattern_reductions[p->reduction],
	};
	struct pl_einops_error error;
	int r = pl_einops_parse(&spec, out, &error);

	return r ? report(err, r, &error) : 0;
}

static size_t collect_axes(const struct pl_param_map *map, struct pl_einops_axis *axis)
{
	for (int i = 0; i < map->n; i++)
		axis[i] = (struct pl_einops_axis){map->v[i].key, (int64_t)map->v[i].value};
	return (size_t)map->n;
}

int pl_pattern_check(enum pl_einops_op op, const struct pl_pattern_params *p, struct pl_err *err)
{
	struct pl_einops_pattern *pattern = NULL;
	int r;

	for (int i = 0; i < p->axes.n; i++) {
		double v = p->axes.v[i].value;

		if (!(v >= 0 && v <= 0x1p53) || v != (double)(int64_t)v)
			return pl_err_set(err, -EINVAL,
				"axes: the length of '%s' must be an integer", p->axes.v[i].key);
	}
	r = parse(op, p, &pattern, err);
	pl_einops_pattern_destroy(pattern);
	return r;
}

/* True when both sides of the arrow name the same axes in the same order, whatever the spaces. */
static bool keeps_layout(const char *pattern)
{
	const char *arrow = strstr(pattern, "->");
	const char *a = pattern;
	const char *b = arrow ? arrow + 2 : "";

	while (arrow && (a < arrow || *b)) {
		size_t gap_a = strspn(a, " ");
		size_t gap_b = strspn(b, " ");
		bool is_end_a = a + gap_a >= arrow;
		bool is_end_b = b[gap_b] == '\0';

		if (is_end_a || is_end_b)
			return is_end_a && is_end_b;
		if ((gap_a > 0) != (gap_b > 0) && a != pattern && b != arrow + 2)
			return false;
		a += gap_a;
		b += gap_b;
		if (*a++ != *b++)
			return false;
	}
	return arrow != NULL;
}

static int infer_pair(const struct pl_einops_pattern *pattern, const struct pl_einops_args *args,
	struct pl_type *out, struct pl_err *err)
{
	struct pl_einops_error error;
	struct pl_tensor result;
	int r = pl_einops_infer(pattern, args, &result, &error);

	if (r)
		return report(err, r, &error);
	out->dtype = result.dtype;
	out->rank = result.rank;
	memcpy(out->shape, result.shape, sizeof(out->shape));
	return 0;
}

int pl_pattern_infer(enum pl_einops_op op, struct pl_infer *io, const struct pl_pattern_params *p,
	struct pl_err *err)
{
	struct pl_einops_pattern *pattern = NULL;
	struct pl_einops_axis axis[PL_PARAM_LIST_MAX];
	struct pl_einops_args args = {
		.n_inputs = 1, .axes = axis, .n_axes = collect_axes(&p->axes, axis)};
	bool keeps_kind = keeps_layout(p->pattern);
	int r = parse(op, p, &pattern, err);

	for (int i = 0; i < io->n && !r; i++) {
		struct pl_type *type = &io->type[io->in[i]];
		struct pl_type *out = &io->type[io->out[i]];
		struct pl_tensor input = {.dtype = type->dtype, .rank = type->rank};
		char text[512];

		memcpy(input.shape, type->shape, sizeof(input.shape));
		args.inputs = &input;
		pl_type_format(text, sizeof(text), type);
		r = infer_pair(pattern, &args, out, err);
		if (r)
			pl_err_prefix(err, "field '%s' (%s): ", io->name[io->in[i]], text);
		else if (!keeps_kind)
			out->kind = out->rank == 0 ? PL_KIND_SCALAR : PL_KIND_TENSOR;
	}
	pl_einops_pattern_destroy(pattern);
	return r;
}

/* Lengths that are given must be checked, which a pass doesn't. */
bool pl_pattern_move(enum pl_einops_op op, const struct pl_pattern_params *p, struct pl_move *move)
{
	struct pl_einops_pattern *pattern = NULL;
	bool is_order;

	*move = (struct pl_move){.kind = PL_MOVE_ORDER};
	if (p->axes.n > 0 || parse(op, p, &pattern, NULL))
		return false;
	is_order = pl_einops_is_permutation(pattern, move->axis, &move->rank);
	pl_einops_pattern_destroy(pattern);
	return is_order;
}

void pl_pattern_destroy(void *state)
{
	struct pattern_state *s = state;

	if (!s)
		return;
	for (int i = 0; i < N_PLANS; i++)
		pl_einops_plan_release(s->known[i].plan);
	pl_einops_pattern_destroy(s->pattern);
	free(s);
}

int pl_pattern_prepare(
	enum pl_einops_op op, const struct pl_pattern_params *p, void **state, struct pl_err *err)
{
	struct pattern_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	s->n_axes = collect_axes(&p->axes, s->axis);
	r = parse(op, p, &s->pattern, err);
	if (r)
		pl_pattern_destroy(s);
	else
		*state = s;
	return r;
}

static bool is_alike(const struct pl_tensor *a, const struct pl_tensor *b)
{
	size_t n = (size_t)a->rank * sizeof(a->shape[0]);

	return a->dtype == b->dtype && a->rank == b->rank && !memcmp(a->shape, b->shape, n) &&
	       !memcmp(a->stride, b->stride, n);
}

/* The plan for tensors like `input`; NULL with err set. */
static const struct pl_einops_plan *plan_for(
	struct pattern_state *s, const struct pl_tensor *input, struct pl_err *err)
{
	struct pl_einops_args args = {
		.inputs = input, .n_inputs = 1, .axes = s->axis, .n_axes = s->n_axes};
	struct pl_einops_plan *plan;
	struct pl_einops_error error;
	struct known_plan *k;
	int r;

	for (int i = 0; i < N_PLANS; i++)
		if (s->known[i].plan && is_alike(&s->known[i].input, input))
			return s->known[i].plan;
	r = pl_einops_plan_create(s->pattern, &args, &plan, &error);
	if (r) {
		char shape[512];

		pl_err_set(err, r, "shape %s: %s",
			pl_shape_format(shape, sizeof(shape), input->rank, input->shape),
			error.reason);
		return NULL;
	}
	k = &s->known[s->next++ % N_PLANS];
	pl_einops_plan_release(k->plan);
	*k = (struct known_plan){.input = *input, .plan = plan};
	return plan;
}

static int run_pair(struct pl_run *r, int i)
{
	struct pl_tensor input = r->sample->value[r->in[i]];
	const struct pl_einops_plan *plan = plan_for(r->state, &input, r->err);
	struct pl_tensor output;

	if (!plan)
		return r->err && r->err->code ? r->err->code : -EINVAL;
	if (!r->writes_row[i] && pl_einops_plan_view(plan, 0, &input, &output)) {
		r->sample->value[r->out[i]] = output;
		return 0;
	}
	output = *pl_einops_plan_result(plan, 0);
	output.data = pl_run_out(r, i, output.dtype, output.rank, output.shape);
	if (!output.data)
		return pl_run_failed(r);
	if (pl_einops_run(plan, &input, &output))
		return pl_err_set(r->err, -EINVAL, "the value is not as it was planned");
	return 0;
}

int pl_pattern_run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = run_pair(r, i);

		if (rc)
			return rc;
	}
	return 0;
}
