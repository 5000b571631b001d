/* daemon/ops/select.c - ends every field but the named ones. */
#include "daemon/ops/names.h"
#include "daemon/ops/table.h"

struct select_params {
	struct pl_param_texts fields;
};

static const struct pl_param params[] = {
	{
		.key = "fields",
		.kind = PL_PARAM_TEXTS,
		.offset = offsetof(struct select_params, fields),
		.help = "names or globs of the fields that stay; also _index, _key and _source",
		.is_obvious = true,
	},
	{0},
};

static int select_infer(struct pl_infer *io, void *data, struct pl_err *err)
{
	const struct select_params *p = data;
	uint64_t found;
	int r = pl_names_match(io, &p->fields, &found, err);

	if (r)
		return r;
	for (int f = 0; f < io->n_fields; f++)
		if (!(found >> f & 1) && !pl_is_standing_field(io->name[f]))
			io->is_live[f] = false;
	return 0;
}

const struct pl_op pl_op_select = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "select",
	.help = "keeps only the named fields",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER | PL_STAGE_POST,
	.flags = PL_OP_NO_FIELD,
	.params = params,
	.params_size = sizeof(struct select_params),
	.infer = select_infer,
};
