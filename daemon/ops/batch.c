/* daemon/ops/batch.c - declares `batch`, which the planner and the gatherer know. */
#include "daemon/kit/batch.h"

#include <errno.h>

#include "daemon/ops/table.h"

#define ONE_SIZE_KINDS                                                                             \
	(PL_KIND_BIT(PL_KIND_IMAGE) | PL_KIND_BIT(PL_KIND_MASK) | PL_KIND_BIT(PL_KIND_VIDEO))

static const struct pl_param params[] = {
	{
		.key = "size",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct pl_batch_params, size),
		.min = 1,
		.max = 0x1p24,
		.unit = "samples",
		.help = "samples in a batch",
		.is_obvious = true,
	},
	{
		.key = "drop_last",
		.kind = PL_PARAM_BOOL,
		.offset = offsetof(struct pl_batch_params, drop_last),
		.def = "false",
		.help = "leave out the short batch at the end of an epoch",
	},
	{0},
};

/* Only judges what comes in (LANGUAGE rule 10): the types of a sample are needed for its row. */
static int batch_infer(struct pl_infer *io, void *data, struct pl_err *err)
{
	char type[512];

	for (int f = 0; f < io->n_fields; f++) {
		if (!io->is_live[f] || !(PL_KIND_BIT(io->type[f].kind) & ONE_SIZE_KINDS) ||
			pl_type_is_fixed(&io->type[f]))
			continue;
		return pl_err_set(err, -EINVAL,
			"field '%s' is %s: its size varies from sample to sample, so samples can't "
			"be "
			"stacked (resize or crop it to one size in workers, or drop it)",
			io->name[f], pl_type_format(type, sizeof(type), &io->type[f]));
	}
	return 0;
}

const struct pl_op pl_op_batch = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "batch",
	.help = "stacks samples: equal shapes along a new first axis, others as values and offsets",
	.class_ = "batch",
	.version = 1,
	.stages = PL_STAGE_POST,
	.flags = PL_OP_WHOLE | PL_OP_NO_FIELD,
	.whole_reason = "it must see the whole stream to fill batches in its order",
	.params = params,
	.params_size = sizeof(struct pl_batch_params),
	.infer = batch_infer,
};
