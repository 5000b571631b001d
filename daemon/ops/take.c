/* daemon/ops/take.c - keeps the first records of an epoch. */
#include "daemon/ops/table.h"

struct take_params {
	int64_t count;
};

static const struct pl_param params[] = {
	{
		.key = "count",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct take_params, count),
		.min = 1,
		.max = 0x1p53,
		.help = "how many are kept; more than there are keeps all",
		.is_obvious = true,
	},
	{0},
};

static int take_order(const void *data, struct pl_order *o, struct pl_err *err)
{
	const struct take_params *p = data;

	o->n_out = pl_min_u64(o->n_in, (uint64_t)p->count);
	return 0;
}

static uint64_t take_at(const void *data, const struct pl_order *o, uint64_t i)
{
	return i;
}

const struct pl_op pl_op_take = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "take",
	.help = "keeps the first n of the order it stands in",
	.class_ = "order",
	.version = 1,
	.stages = PL_STAGE_PRE | PL_STAGE_POST,
	.flags = PL_OP_WHOLE | PL_OP_NO_FIELD,
	.whole_reason = "it must see the whole stream to count it",
	.params = params,
	.params_size = sizeof(struct take_params),
	.order = take_order,
	.at = take_at,
};
