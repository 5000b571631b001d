/* daemon/ops/center_crop.c - cuts out the middle of pictures, as torchvision does. */
#include "daemon/ops/geometry.h"

/*
 * An odd difference is halved to the even neighbour (7 to 4 begins at 2, 9 to 6 at 2). A side
 * shorter than the crop is padded with 0 (masks with 255), the odd pixel at the right or bottom.
 */
struct center_crop_params {
	struct pl_param_size size;
};

static const struct pl_param params[] = {
	{.key = "size",
		.kind = PL_PARAM_SIZE,
		.offset = offsetof(struct center_crop_params, size),
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.is_obvious = true,
		.help = "one number, or [height, width]; smaller pictures are padded"},
	{0},
};

static int64_t middle(int64_t length, int64_t crop)
{
	return length >= crop ? pl_round_half_even((double)(length - crop) / 2.0)
			      : -((crop - length) / 2);
}

static int plan(const struct pl_run *r, struct pl_rng *rng, struct pl_change *c)
{
	const struct center_crop_params *p = r->params;

	(void)rng;
	c->window.top = middle(c->height, p->size.height);
	c->window.left = middle(c->width, p->size.width);
	c->window.height = c->height = p->size.height;
	c->window.width = c->width = p->size.width;
	return 0;
}

static void size_at_load(const void *params_, int64_t *height, int64_t *width)
{
	const struct center_crop_params *p = params_;

	*height = p->size.height;
	*width = p->size.width;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	return pl_geometry_infer(io, params_, size_at_load, false, err);
}

static int run(struct pl_run *r)
{
	struct pl_geometry g = {.plan = plan, .fill_image = 0, .fill_mask = 255};

	return pl_geometry_run(r, &g);
}

extern const struct pl_op pl_op_center_crop;
const struct pl_op pl_op_center_crop = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "center_crop",
	.help = "cuts out the middle of pictures",
	.class_ = "geometry",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.takes = PL_KINDS_GEOMETRY,
	.params = params,
	.params_size = sizeof(struct center_crop_params),
	.infer = infer,
	.prepare = pl_geometry_prepare,
	.destroy = pl_geometry_destroy,
	.run = run,
};
