/* daemon/ops/drop.c - ends the named fields. */
#include "daemon/ops/names.h"
#include "daemon/ops/table.h"

struct drop_params {
	struct pl_param_texts fields;
};

static const struct pl_param params[] = {
	{
		.key = "fields",
		.kind = PL_PARAM_TEXTS,
		.offset = offsetof(struct drop_params, fields),
		.help = "names or globs of the fields that end here",
		.is_obvious = true,
	},
	{0},
};

static int drop_infer(struct pl_infer *io, void *data, struct pl_err *err)
{
	const struct drop_params *p = data;
	uint64_t found;
	int r = pl_names_match(io, &p->fields, &found, err);

	if (r)
		return r;
	for (int f = 0; f < io->n_fields; f++)
		if (found >> f & 1)
			io->is_live[f] = false;
	return 0;
}

const struct pl_op pl_op_drop = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "drop",
	.help = "ends the named fields",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER | PL_STAGE_POST,
	.flags = PL_OP_NO_FIELD,
	.params = params,
	.params_size = sizeof(struct drop_params),
	.infer = drop_infer,
};
