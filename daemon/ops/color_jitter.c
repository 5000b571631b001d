/* daemon/ops/color_jitter.c - changes brightness, contrast, saturation and hue by drawn amounts, in
 * a drawn order. */
#include <errno.h>

#include "daemon/ops/jitter.h"

/*
 * Ranges and order are those of torchvision's ColorJitter. All numbers are drawn always, so that
 * adding one change to a pipeline leaves the draws of the others as they were.
 */
struct color_jitter_params {
	struct pl_param_floats amount[PL_N_JITTERS];
	struct pl_param_range range[PL_N_JITTERS]; /* of the factor, by check */
};

#define FACTOR_MAX 1000
#define AT(what)   offsetof(struct color_jitter_params, amount[what])

static const struct pl_param params[] = {
	{.key = "brightness",
		.kind = PL_PARAM_FLOATS,
		.offset = AT(PL_JITTER_BRIGHTNESS),
		.def = "0",
		.min = 0,
		.max = FACTOR_MAX,
		.help = "a: the factor is drawn from 1 - a (at least 0) to 1 + a; [low, high]: "
			"from low to high; 1 is the picture, 0 black"},
	{.key = "contrast",
		.kind = PL_PARAM_FLOATS,
		.offset = AT(PL_JITTER_CONTRAST),
		.def = "0",
		.min = 0,
		.max = FACTOR_MAX,
		.help = "like brightness; 0 is the picture's mean grey everywhere"},
	{.key = "saturation",
		.kind = PL_PARAM_FLOATS,
		.offset = AT(PL_JITTER_SATURATION),
		.def = "0",
		.min = 0,
		.max = FACTOR_MAX,
		.help = "like brightness; 0 is a grey picture"},
	{.key = "hue",
		.kind = PL_PARAM_FLOATS,
		.offset = AT(PL_JITTER_HUE),
		.def = "0",
		.min = -0.5,
		.max = 0.5,
		.unit = "turns",
		.help = "a: drawn from -a to a; [low, high]: from low to high; 0.5 is the opposite "
			"colour"},
	{0},
};

static int check_amount(
	const struct pl_param *param, const struct pl_param_floats *amount, struct pl_err *err)
{
	if (amount->n < 1 || amount->n > 2)
		return pl_err_set(err, -EINVAL,
			"%s must be one number or [low, high], not %d numbers", param->key,
			amount->n);
	if (amount->n == 1 && amount->v[0] < 0)
		return pl_err_set(err, -EINVAL, "%s: %g is less than 0", param->key, amount->v[0]);
	if (amount->n == 2 && amount->v[0] > amount->v[1])
		return pl_err_set(err, -EINVAL, "%s: [%g, %g] must have low not above high",
			param->key, amount->v[0], amount->v[1]);
	return 0;
}

static int check(void *params_, struct pl_err *err)
{
	struct color_jitter_params *p = params_;

	for (int k = 0; k < PL_N_JITTERS; k++) {
		const struct pl_param_floats *amount = &p->amount[k];
		double neutral = k == PL_JITTER_HUE ? 0 : 1;
		double low = neutral - amount->v[0];
		int rc = check_amount(&params[k], amount, err);

		if (rc < 0)
			return rc;
		p->range[k] = (struct pl_param_range){
			k != PL_JITTER_HUE && low < 0 ? 0 : low, neutral + amount->v[0]};
		if (amount->n == 2)
			p->range[k] = (struct pl_param_range){amount->v[0], amount->v[1]};
	}
	return 0;
}

struct drawn {
	enum pl_jitter order[PL_N_JITTERS];
	double factor[PL_N_JITTERS];
};

static void draw(struct pl_rng *rng, const struct color_jitter_params *p, struct drawn *d)
{
	for (int k = 0; k < PL_N_JITTERS; k++)
		d->order[k] = (enum pl_jitter)k;
	for (uint64_t left = PL_N_JITTERS; left > 1; left--) {
		uint64_t at = pl_rng_below(rng, left);
		enum pl_jitter last = d->order[left - 1];

		d->order[left - 1] = d->order[at];
		d->order[at] = last;
	}
	for (int k = 0; k < PL_N_JITTERS; k++)
		d->factor[k] = pl_rng_range(rng, p->range[k].low, p->range[k].high);
}

static void jitter(const void *context, const struct pl_frame *f)
{
	const struct drawn *d = context;

	for (int k = 0; k < PL_N_JITTERS; k++) {
		enum pl_jitter what = d->order[k];

		if (f->dtype == PL_U8)
			pl_jitter_u8(f, what, d->factor[what]);
		else
			pl_jitter_f32(f, what, d->factor[what]);
	}
}

static int run(struct pl_run *r)
{
	struct drawn d;

	draw(&r->rng, r->params, &d);
	return pl_colour_run(r, jitter, &d);
}

extern const struct pl_op pl_op_color_jitter;
const struct pl_op pl_op_color_jitter = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "color_jitter",
	.help = "changes brightness, contrast, saturation and hue by drawn amounts",
	.class_ = "photometric",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM,
	.takes = PL_KINDS_COLOUR,
	.params = params,
	.params_size = sizeof(struct color_jitter_params),
	.check = check,
	.infer = pl_colour_infer,
	.run = run,
};
