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

/* The copies of one view stand together, in the order of the originals, which begin again with each
 * view. Fields that were linked are so in each view apart. */
static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	int begin = 0;

	(void)params_;
	(void)err;
	for (int i = 0; i < io->n; i++) {
		int link = io->type[io->in[i]].link;

		begin = io->in[i] == io->in[0] ? i : begin;
		for (int k = i; link && k >= begin; k--)
			if (io->type[io->in[k]].link == link)
				io->type[io->out[i]].link = 1 + io->out[k];
	}
	return 0;
}

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
	.infer = infer,
};
