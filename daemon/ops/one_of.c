/* daemon/ops/one_of.c - declares `one_of`; the planner and the runner know its lists of steps. */
#include "daemon/ops/table.h"

static const struct pl_param params[] = {
	{
		.key = "of",
		.kind = PL_PARAM_BRANCHES,
		.help = "lists of steps, or maps of weight and steps; all must leave the same "
			"types",
		.is_obvious = true,
	},
	{0},
};

const struct pl_op pl_op_one_of = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "one_of",
	.help = "runs one of several lists of steps, drawn by weight for each sample",
	.class_ = "structure",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM | PL_OP_STRUCTURE | PL_OP_NO_FIELD,
	.params = params,
};
