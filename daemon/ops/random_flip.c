/* daemon/ops/random_flip.c - mirrors pictures, boxes and points; `p` says how often. */
#include "daemon/ops/geometry.h"

/* The step itself always mirrors: the runner has drawn `p` before. */
struct random_flip_params {
	int axis;
};

static const char *const axes[] = {"horizontal", "vertical", NULL};

enum {
	AXIS_HORIZONTAL,
	AXIS_VERTICAL,
};

static const struct pl_param params[] = {
	{.key = "axis",
		.kind = PL_PARAM_CHOICE,
		.offset = offsetof(struct random_flip_params, axis),
		.def = "horizontal",
		.choices = axes,
		.help = "horizontal: left and right change places; vertical: top and bottom"},
	{0},
};

static int plan(const struct pl_run *r, struct pl_rng *rng, struct pl_change *c)
{
	const struct random_flip_params *p = r->params;

	(void)rng;
	c->is_flipped_x = p->axis == AXIS_HORIZONTAL;
	c->is_flipped_y = p->axis == AXIS_VERTICAL;
	return 0;
}

static void size_at_load(const void *params_, int64_t *height, int64_t *width)
{
	(void)params_;
	(void)height;
	(void)width;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	return pl_geometry_infer(io, params_, size_at_load, false, err);
}

static int run(struct pl_run *r)
{
	struct pl_geometry g = {.plan = plan};

	return pl_geometry_run(r, &g);
}

extern const struct pl_op pl_op_random_flip;
const struct pl_op pl_op_random_flip = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "random_flip",
	.help = "mirrors pictures with probability p",
	.class_ = "geometry",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM,
	.takes = PL_KINDS_GEOMETRY,
	.default_p = 0.5,
	.params = params,
	.params_size = sizeof(struct random_flip_params),
	.infer = infer,
	.prepare = pl_geometry_prepare,
	.destroy = pl_geometry_destroy,
	.run = run,
};
