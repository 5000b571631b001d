/* daemon/ops/reduce.c - takes the minimum, sum, mean and so on along axes by a pattern. */
#include "daemon/ops/pattern_step.h"
#include "daemon/ops/table.h"

static const struct pl_param params[] = {
	PL_PATTERN_PARAM("(h 2) (w 2) c -> h w c"),
	{
		.key = "op",
		.kind = PL_PARAM_CHOICE,
		.offset = offsetof(struct pl_pattern_params, reduction),
		.choices = pl_pattern_reductions,
		.help = "mean takes floats only; sum and prod of integers give i64 or u64; any and "
			"all give bool",
	},
	PL_PATTERN_AXES("axes that the shape doesn't tell", "{p: 16}"),
	{0},
};

static int reduce_check(void *data, struct pl_err *err)
{
	return pl_pattern_check(PL_EINOPS_REDUCE, data, err);
}

static int reduce_infer(struct pl_infer *io, void *data, struct pl_err *err)
{
	return pl_pattern_infer(PL_EINOPS_REDUCE, io, data, err);
}

static int reduce_prepare(
	const struct pl_infer *io, const void *data, void **state, struct pl_err *err)
{
	return pl_pattern_prepare(PL_EINOPS_REDUCE, data, state, err);
}

const struct pl_op pl_op_reduce = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "reduce",
	.help = "takes min, max, sum, mean, prod, any or all along axes by an einops pattern",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER | PL_STAGE_POST,
	.takes = PL_KINDS_MEDIA,
	.params = params,
	.params_size = sizeof(struct pl_pattern_params),
	.check = reduce_check,
	.infer = reduce_infer,
	.prepare = reduce_prepare,
	.destroy = pl_pattern_destroy,
	.run = pl_pattern_run,
};
