/* daemon/ops/group.c - declares `group`; the planner and the runner know its list of steps. */
#include "daemon/ops/table.h"

static const struct pl_param params[] = {
	{
		.key = "steps",
		.kind = PL_PARAM_STEPS,
		.help = "steps that run one after the other; with p, all of them or none, by one "
			"draw",
		.is_obvious = true,
	},
	{0},
};

const struct pl_op pl_op_group = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "group",
	.help = "a list of steps as one: with p, the whole list or nothing",
	.class_ = "structure",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_STRUCTURE | PL_OP_NO_FIELD,
	.params = params,
};
