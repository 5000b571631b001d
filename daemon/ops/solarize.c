/* daemon/ops/solarize.c - inverts every value that is not below a threshold. */
#include "daemon/ops/colour.h"

struct solarize_params {
	double threshold;
};

static const struct pl_param params[] = {
	{.key = "threshold",
		.kind = PL_PARAM_FLOAT,
		.offset = offsetof(struct solarize_params, threshold),
		.def = "128",
		.min = 0,
		.max = PL_COLOUR_MAX + 1,
		.is_obvious = true,
		.help = "a value v from here on becomes 255 - v; alpha stays; 256 changes nothing"},
	{0},
};

static void solarize_u8(const struct solarize_params *p, const struct pl_frame *f)
{
	unsigned char table[PL_COLOUR_MAX + 1];
	int n_colours = pl_frame_n_colours(f);
	unsigned char *v = f->data;

	for (int k = 0; k <= PL_COLOUR_MAX; k++)
		table[k] = (unsigned char)(k < p->threshold ? k : PL_COLOUR_MAX - k);
	for (int64_t i = 0; i < f->n; i++, v += f->channels)
		for (int c = 0; c < n_colours; c++)
			v[c] = table[v[c]];
}

static void solarize_f32(const struct solarize_params *p, const struct pl_frame *f)
{
	int n_colours = pl_frame_n_colours(f);
	float *v = f->data;

	for (int64_t i = 0; i < f->n; i++, v += f->channels)
		for (int c = 0; c < n_colours; c++)
			v[c] = (double)v[c] < p->threshold ? v[c] : PL_COLOUR_MAX - v[c];
}

static void solarize(const void *params_, const struct pl_frame *f)
{
	if (f->dtype == PL_U8)
		solarize_u8(params_, f);
	else
		solarize_f32(params_, f);
}

static int run(struct pl_run *r)
{
	return pl_colour_run(r, solarize, r->params);
}

extern const struct pl_op pl_op_solarize;
const struct pl_op pl_op_solarize = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "solarize",
	.help = "inverts every value that is not below a threshold",
	.class_ = "photometric",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.takes = PL_KINDS_COLOUR,
	.params = params,
	.params_size = sizeof(struct solarize_params),
	.infer = pl_colour_infer,
	.run = run,
};
