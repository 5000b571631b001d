/* daemon/ops/repeat.c - repeats values along new axes by a pattern. */
#include "daemon/ops/pattern_step.h"
#include "daemon/ops/table.h"

static const struct pl_param params[] = {
	PL_PATTERN_PARAM("h w -> h w 3"),
	PL_PATTERN_AXES("new axes, and of those that the shape doesn't tell", "{n: 2}"),
	{0},
};

static int repeat_check(void *data, struct pl_err *err)
{
	return pl_pattern_check(PL_EINOPS_REPEAT, data, err);
}

static int repeat_infer(struct pl_infer *io, void *data, struct pl_err *err)
{
	return pl_pattern_infer(PL_EINOPS_REPEAT, io, data, err);
}

static int repeat_prepare(
	const struct pl_infer *io, const void *data, void **state, struct pl_err *err)
{
	return pl_pattern_prepare(PL_EINOPS_REPEAT, data, state, err);
}

const struct pl_op pl_op_repeat = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "repeat",
	.help = "repeats values along new axes by an einops pattern",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER | PL_STAGE_POST,
	.takes = PL_KINDS_MEDIA,
	.params = params,
	.params_size = sizeof(struct pl_pattern_params),
	.check = repeat_check,
	.infer = repeat_infer,
	.prepare = repeat_prepare,
	.destroy = pl_pattern_destroy,
	.run = pl_pattern_run,
};
