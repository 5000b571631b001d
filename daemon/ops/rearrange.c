/* daemon/ops/rearrange.c - transposes, splits and merges axes by a pattern. */
#include "daemon/ops/pattern_step.h"
#include "daemon/ops/table.h"

static const struct pl_param params[] = {
	PL_PATTERN_PARAM("h w c -> c h w"),
	PL_PATTERN_AXES("axes that the shape doesn't tell", "{p: 16}"),
	{0},
};

static int rearrange_check(void *data, struct pl_err *err)
{
	return pl_pattern_check(PL_EINOPS_REARRANGE, data, err);
}

static int rearrange_infer(struct pl_infer *io, void *data, struct pl_err *err)
{
	return pl_pattern_infer(PL_EINOPS_REARRANGE, io, data, err);
}

static int rearrange_prepare(
	const struct pl_infer *io, const void *data, void **state, struct pl_err *err)
{
	return pl_pattern_prepare(PL_EINOPS_REARRANGE, data, state, err);
}

static bool rearrange_move(const void *data, struct pl_move *move)
{
	return pl_pattern_move(PL_EINOPS_REARRANGE, data, move);
}

const struct pl_op pl_op_rearrange = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "rearrange",
	.help = "transposes, splits and merges axes by an einops pattern",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER | PL_STAGE_POST,
	.takes = PL_KINDS_MEDIA,
	.params = params,
	.params_size = sizeof(struct pl_pattern_params),
	.check = rearrange_check,
	.infer = rearrange_infer,
	.prepare = rearrange_prepare,
	.destroy = pl_pattern_destroy,
	.run = pl_pattern_run,
	.move = rearrange_move,
};
