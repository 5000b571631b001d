/* daemon/ops/cast.c - changes the element type of a field. */
#include <errno.h>

#include "daemon/kit/pass.h"
#include "daemon/ops/numbers.h"

/* The rules are those of numbers.h: integers wrap, floats are cut and limited, NaN becomes 0. The
 * kind stays. */
struct cast_params {
	enum pl_dtype dtype;
};

static const struct pl_param params[] = {
	{.key = "dtype",
		.kind = PL_PARAM_DTYPE,
		.offset = offsetof(struct cast_params, dtype),
		.is_obvious = true,
		.help = "integers keep their low bits; floats to integers are cut towards zero and "
			"limited, "
			"NaN is 0; to bool is: not zero"},
	{0},
};

static bool is_numeric(enum pl_kind kind)
{
	return kind != PL_KIND_TEXT && kind != PL_KIND_LIST && kind != PL_KIND_JSON &&
	       kind != PL_KIND_BYTES;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct cast_params *p = params_;
	char text[256];

	for (int i = 0; i < io->n; i++) {
		struct pl_type t = io->type[io->in[i]];

		if (!is_numeric(t.kind))
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, and only numbers can be cast (name other "
				"fields with field:)",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), &t));
		t.dtype = p->dtype;
		io->type[io->out[i]] = t;
	}
	return 0;
}

static int cast_field(struct pl_run *r, enum pl_dtype dtype, int i)
{
	struct pl_tensor in = r->sample->value[r->in[i]];
	const void *from;
	void *to;

	if (in.dtype == dtype && !(r->writes_row && r->writes_row[i])) {
		r->sample->value[r->out[i]] = in;
		return 0;
	}
	from = pl_run_contiguous(r, i);
	if (!from && pl_tensor_count(&in) > 0)
		return pl_run_failed(r);
	to = pl_run_out(r, i, dtype, in.rank, in.shape);
	if (!to)
		return pl_run_failed(r);
	pl_numbers_convert(to, dtype, from, in.dtype, pl_tensor_count(&in));
	return 0;
}

static int run(struct pl_run *r)
{
	const struct cast_params *p = r->params;

	for (int i = 0; i < r->n; i++) {
		int rc = cast_field(r, p->dtype, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool move(const void *params_, struct pl_move *out)
{
	const struct cast_params *p = params_;

	*out = (struct pl_move){.kind = PL_MOVE_CAST, .dtype = p->dtype};
	return true;
}

extern const struct pl_op pl_op_cast;
const struct pl_op pl_op_cast = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "cast",
	.help = "changes the element type",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER | PL_STAGE_POST,
	.takes = PL_KINDS_MEDIA | PL_KIND_BIT(PL_KIND_TOKENS),
	.params = params,
	.params_size = sizeof(struct cast_params),
	.infer = infer,
	.run = run,
	.move = move,
};
