/* tests/unit/plugin_twice.c - a plugin: the step `twice` and the source `countdown`; with other
 * definitions, one that must be refused. */
#include <errno.h>
#include <stdio.h>

#include "daemon/kit/listing.h"
#include "daemon/kit/plugin.h"

#ifndef PLUGIN_ABI
#define PLUGIN_ABI PL_PLUGIN_ABI
#endif
#ifndef PLUGIN_TABLE
#define PLUGIN_TABLE pl_plugin
#endif
#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(struct pl_plugin)
#endif
#ifndef PLUGIN_OP_SIZE
#define PLUGIN_OP_SIZE sizeof(struct pl_op)
#endif
#ifndef PLUGIN_STEP
#define PLUGIN_STEP "twice"
#endif
#ifndef PLUGIN_STAGES
#define PLUGIN_STAGES PL_STAGE_WORKER
#endif

static int twice_infer(struct pl_infer *io, void *params, struct pl_err *err)
{
	for (int i = 0; i < io->n; i++)
		if (io->type[io->in[i]].dtype != PL_I64)
			return pl_err_set(err, -EINVAL,
				"field '%s' must be i64: put cast: i64 before",
				io->name[io->in[i]]);
	return 0;
}

static int twice_run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		const struct pl_tensor *in = &r->sample->value[r->in[i]];
		int64_t n = pl_tensor_count(in);
		const int64_t *from = pl_run_contiguous(r, i);
		int64_t *to = from ? pl_run_out(r, i, PL_I64, in->rank, in->shape) : NULL;

		if (!to)
			return pl_run_failed(r);
		for (int64_t k = 0; k < n; k++)
			to[k] = (int64_t)(2 * (uint64_t)from[k]);
	}
	return 0;
}

static const struct pl_op op_twice = {
	.abi = PL_OP_ABI,
	.size = PLUGIN_OP_SIZE,
	.name = PLUGIN_STEP,
	.help = "doubles whole numbers",
	.class_ = "tensor",
	.version = 1,
	.stages = PLUGIN_STAGES,
	.takes = PL_KIND_BIT(PL_KIND_SCALAR) | PL_KIND_BIT(PL_KIND_TENSOR),
	.infer = twice_infer,
	.run = twice_run,
};

struct countdown_params {
	int64_t from;
};

static const struct pl_param params[] = {
	{
		.key = "from",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct countdown_params, from),
		.min = 1,
		.max = 1e6,
		.help = "value of the first record",
		.is_obvious = true,
	},
	{0},
};

static int countdown_fields(const void *data, const char *dir, struct pl_source_field *fields,
	int *n, struct pl_err *err)
{
	fields[0] = (struct pl_source_field){.name = "value", .type = pl_type_scalar(PL_I64)};
	*n = 1;
	return 0;
}

static int countdown_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	w->n_records = (uint64_t)((const struct countdown_params *)data)->from;
	return 0;
}

static int countdown_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	int64_t *value = pl_scratch_alloc(sample->scratch, sizeof(*value));

	if (!value)
		return pl_err_set(err, -ENOMEM, "no memory for a value");
	*value = ((const struct countdown_params *)data)->from - (int64_t)index;
	if (field[0] >= 0 && !known_only)
		sample->value[field[0]] = (struct pl_tensor){.data = value, .dtype = PL_I64};
	return 0;
}

static void countdown_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	snprintf(out, n, "step %llu", (unsigned long long)index);
}

static const struct pl_source_op source_countdown = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "countdown",
	.help = "the numbers from one down to 1",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct countdown_params),
	.fields = countdown_fields,
	.list = countdown_list,
	.read = countdown_read,
	.describe = countdown_describe,
};

PL_EXPORT extern const uint32_t pl_plugin_abi;
const uint32_t pl_plugin_abi = PLUGIN_ABI;

static const struct pl_op *const ops[] = {&op_twice};
static const struct pl_source_op *const sources[] = {&source_countdown};

PL_EXPORT extern const struct pl_plugin PLUGIN_TABLE;
const struct pl_plugin PLUGIN_TABLE = {
	.size = PLUGIN_SIZE,
	.name = "twice",
	.ops = ops,
	.n_ops = 1,
	.sources = sources,
	.n_sources = 1,
};
