/* daemon/ops/skip.c - leaves out the first records of an epoch. */
#include "daemon/ops/table.h"

struct skip_params {
	int64_t count;
};

static const struct pl_param params[] = {
	{
		.key = "count",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct skip_params, count),
		.min = 0,
		.max = 0x1p53,
		.help = "how many are left out; as many as there are, or more, leaves none",
		.is_obvious = true,
	},
	{0},
};

static int skip_order(const void *data, struct pl_order *o, struct pl_err *err)
{
	const struct skip_params *p = data;

	o->n_out = o->n_in - pl_min_u64(o->n_in, (uint64_t)p->count);
	return 0;
}

static uint64_t skip_at(const void *data, const struct pl_order *o, uint64_t i)
{
	const struct skip_params *p = data;

	return i + (uint64_t)p->count;
}

const struct pl_op pl_op_skip = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "skip",
	.help = "leaves out the first n of the order it stands in",
	.class_ = "order",
	.version = 1,
	.stages = PL_STAGE_PRE | PL_STAGE_POST,
	.flags = PL_OP_WHOLE | PL_OP_NO_FIELD,
	.whole_reason = "it must see the whole stream to count it",
	.params = params,
	.params_size = sizeof(struct skip_params),
	.order = skip_order,
	.at = skip_at,
};
