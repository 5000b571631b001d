/* daemon/ops/views.c - declares `views`, which the planner spells out. */
#include "daemon/ops/table.h"

static const struct pl_param params[] = {
	{
		.key = "into",
		.kind = PL_PARAM_BRANCHES,
		.help = "name: steps for each view; name_{1..8} makes eight",
		.is_obvious = true,
	},
	{0},
};

const struct pl_op pl_op_views = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "views",
	.help = "makes several versions of a field, each by its own steps on its own copy",
	.class_ = "structure",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_STRUCTURE,
	.takes = PL_KINDS_MEDIA,
	.params = params,
};
