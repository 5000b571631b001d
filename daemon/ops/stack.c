/* daemon/ops/stack.c - several fields of one type to one field with one axis more. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/kit/op.h"

struct stack_params {
	int64_t axis;
};

static const struct pl_param params[] = {
	{.key = "axis",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct stack_params, axis),
		.def = "0",
		.min = -PL_RANK_MAX,
		.max = PL_RANK_MAX,
		.is_obvious = true,
		.help = "where the new axis stands in the result; -1 is the last; behind batch, "
			"axis 0 is the batch and stays"},
	{0},
};

/* Where the new axis stands among rank + 1; -1: nowhere. */
static int axis_of(const struct stack_params *p, int rank)
{
	int64_t axis = p->axis < 0 ? p->axis + rank + 1 : p->axis;

	return axis >= 0 && axis <= rank ? (int)axis : -1;
}

static int check_types(const struct pl_infer *io, struct pl_err *err)
{
	const struct pl_type *first = &io->type[io->in[0]];
	char a[256];
	char b[256];

	if (first->kind == PL_KIND_TEXT || first->kind == PL_KIND_BYTES ||
		first->kind == PL_KIND_LIST || first->kind == PL_KIND_JSON)
		return pl_err_set(err, -EINVAL, "field '%s' is %s, and only numbers can be stacked",
			io->name[io->in[0]], pl_type_format(a, sizeof(a), first));
	for (int i = 1; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];

		if (!pl_type_is_same(first, t))
			return pl_err_set(err, -EINVAL,
				"fields of one dtype and shape can be stacked, but '%s' is %s and "
				"'%s' is %s",
				io->name[io->in[0]], pl_type_format(a, sizeof(a), first),
				io->name[io->in[i]], pl_type_format(b, sizeof(b), t));
	}
	return 0;
}

static void insert(int64_t *shape, int rank, int axis, int64_t length)
{
	memmove(&shape[axis + 1], &shape[axis], (size_t)(rank - axis) * sizeof(*shape));
	shape[axis] = length;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct stack_params *p = params_;
	struct pl_type out = io->type[io->in[0]];
	int axis = axis_of(p, out.rank);
	char text[256];
	int rc = check_types(io, err);

	if (rc < 0)
		return rc;
	if (axis < 0 || out.rank == PL_RANK_MAX)
		return pl_err_set(err, -EINVAL,
			"axis: %" PRId64 " is no place among the axes of '%s', which is %s",
			p->axis, io->name[io->in[0]], pl_type_format(text, sizeof(text), &out));
	for (int i = 1; i < io->n; i++)
		for (int d = 0; d < out.rank; d++)
			if (out.shape[d] < 0)
				out.shape[d] = io->type[io->in[i]].shape[d];
	insert(out.shape, out.rank++, axis, io->n);
	out.kind = PL_KIND_TENSOR;
	out.link = 0;
	io->type[io->out[0]] = out;
	return 0;
}

static int check_shapes(struct pl_run *r)
{
	const struct pl_tensor *first = &r->sample->value[r->in[0]];
	char a[256];
	char b[256];

	for (int i = 1; i < r->n; i++) {
		const struct pl_tensor *t = &r->sample->value[r->in[i]];
		bool is_same = t->rank == first->rank && t->dtype == first->dtype;

		for (int d = 0; is_same && d < t->rank; d++)
			is_same = t->shape[d] == first->shape[d];
		if (!is_same)
			return pl_err_set(r->err, -EINVAL,
				"the fields to be stacked have different shapes in this sample: %s "
				"and %s",
				pl_shape_format(a, sizeof(a), first->rank, first->shape),
				pl_shape_format(b, sizeof(b), t->rank, t->shape));
	}
	return 0;
}

static int run(struct pl_run *r)
{
	const struct stack_params *p = r->params;
	struct pl_tensor in[PL_FIELDS_MAX];
	int64_t shape[PL_RANK_MAX + 1];
	int rank = r->sample->value[r->in[0]].rank;
	int axis = axis_of(p, rank);
	int rc = check_shapes(r);

	if (rc < 0)
		return rc;
	if (axis < 0 || rank == PL_RANK_MAX)
		return pl_err_set(r->err, -EINVAL, "the value has %d axes", rank);
	for (int i = 0; i < r->n; i++)
		in[i] = r->sample->value[r->in[i]];
	memcpy(shape, in[0].shape, (size_t)rank * sizeof(*shape));
	insert(shape, rank, axis, r->n);
	if (!pl_run_out(r, 0, in[0].dtype, rank + 1, shape))
		return pl_run_failed(r);
	for (int i = 0; i < r->n; i++) {
		struct pl_tensor part = r->sample->value[r->out[0]];

		part.data = (char *)part.data + i * part.stride[axis];
		memmove(&part.shape[axis], &part.shape[axis + 1],
			(size_t)(rank - axis) * sizeof(part.shape[0]));
		memmove(&part.stride[axis], &part.stride[axis + 1],
			(size_t)(rank - axis) * sizeof(part.stride[0]));
		part.rank = rank;
		rc = pl_tensor_copy(&part, &in[i]);
		if (rc < 0)
			return pl_err_set(r->err, rc, "the values can't be stacked");
	}
	return 0;
}

extern const struct pl_op pl_op_stack;
const struct pl_op pl_op_stack = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "stack",
	.help = "several fields of one type to one field with one axis more",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER | PL_STAGE_POST,
	.flags = PL_OP_JOINS,
	.takes = PL_KINDS_MEDIA,
	.params = params,
	.params_size = sizeof(struct stack_params),
	.infer = infer,
	.run = run,
};
