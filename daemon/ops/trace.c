/* daemon/ops/trace.c - tells whoever asked for it what passes here, and in which process. */
#include "daemon/kit/trace.h"

#include <errno.h>

#include "daemon/ops/table.h"

#define VALUE_MAX 512
#define ALL_KINDS ((1u << PL_KIND_END) - 2)

struct trace_params {
	const char *label;
};

static const struct pl_param params[] = {
	{
		.key = "label",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct trace_params, label),
		.help = "what the line begins with; the value of the first field and the pid "
			"follow",
		.is_obvious = true,
	},
	{0},
};

/* A state only says whether the value is text: samples know no kinds. */
static const char states[2];

static int trace_prepare(
	const struct pl_infer *io, const void *data, void **state, struct pl_err *err)
{
	bool is_text = io->n > 0 && io->type[io->in[0]].kind == PL_KIND_TEXT;

	*state = (void *)(uintptr_t)&states[is_text];
	return 0;
}

static int trace_run(struct pl_run *r)
{
	const struct trace_params *p = r->params;
	char value[VALUE_MAX] = "";

	if (!r->trace)
		return 0;
	if (r->n > 0)
		pl_trace_format(value, sizeof(value), &r->sample->value[r->in[0]],
			r->state == &states[true]);
	r->trace(r->trace_context, p->label, value);
	return 0;
}

const struct pl_op pl_op_trace = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "trace",
	.help = "writes \"label value pid\" for each sample to a client that asked for it",
	.class_ = "debug",
	.version = 1,
	.stages = PL_STAGE_PRE | PL_STAGE_WORKER | PL_STAGE_POST,
	.takes = ALL_KINDS,
	.params = params,
	.params_size = sizeof(struct trace_params),
	.prepare = trace_prepare,
	.run = trace_run,
};
