/* daemon/ops/random_crop.c - cuts a window of fixed size out of pictures at a drawn place. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/ops/geometry.h"

/*
 * With pad_if_needed a side that is too short is padded by what is missing at both ends before the
 * draw, as torchvision does, so the picture lies anywhere inside the window.
 */
struct random_crop_params {
	struct pl_param_size size;
	bool pad_if_needed;
	struct pl_param_map fill;
	double fill_image; /* from `fill`, by check */
	double fill_mask;
};

#define AT(member) offsetof(struct random_crop_params, member)

static const struct pl_param params[] = {
	{.key = "size",
		.kind = PL_PARAM_SIZE,
		.offset = AT(size),
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.is_obvious = true,
		.help = "one number, or [height, width]"},
	{.key = "pad_if_needed",
		.kind = PL_PARAM_BOOL,
		.offset = AT(pad_if_needed),
		.def = "false",
		.help = "pad pictures that are smaller than the crop; else they are an error"},
	{.key = "fill",
		.kind = PL_PARAM_MAP,
		.offset = AT(fill),
		.def = "{image: 0, mask: 255}",
		.help = "what padding consists of, by kind; image is for video too"},
	{0},
};

static int check(void *params_, struct pl_err *err)
{
	struct random_crop_params *p = params_;

	p->fill_image = 0;
	p->fill_mask = 255;
	return pl_geometry_fill(&p->fill, &p->fill_image, &p->fill_mask, err);
}

static int64_t draw_start(struct pl_rng *rng, int64_t length, int64_t crop)
{
	int64_t room = length > crop ? length - crop : crop - length;
	int64_t at = (int64_t)pl_rng_below(rng, (uint64_t)room + 1);

	return length > crop ? at : at - room;
}

static int plan(const struct pl_run *r, struct pl_rng *rng, struct pl_change *c)
{
	const struct random_crop_params *p = r->params;

	if (!p->pad_if_needed && (c->height < p->size.height || c->width < p->size.width))
		return pl_err_set(r->err, -EINVAL,
			"the picture is %" PRId64 "x%" PRId64
			" (width x height), smaller than the crop of "
			"%" PRId64 "x%" PRId64 " (set pad_if_needed: true, or resize before)",
			c->width, c->height, p->size.width, p->size.height);
	c->window.top = draw_start(rng, c->height, p->size.height);
	c->window.left = draw_start(rng, c->width, p->size.width);
	c->window.height = c->height = p->size.height;
	c->window.width = c->width = p->size.width;
	return 0;
}

static void size_at_load(const void *params_, int64_t *height, int64_t *width)
{
	const struct random_crop_params *p = params_;

	*height = p->size.height;
	*width = p->size.width;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct random_crop_params *p = params_;
	int rc;

	for (int i = 0; i < io->n && !p->pad_if_needed; i++) {
		const struct pl_type *t = &io->type[io->in[i]];
		const int64_t *size = t->shape;

		if (t->kind == PL_KIND_IMAGE && t->rank == 3 && size[0] >= 0 && size[1] >= 0 &&
			(size[0] < p->size.height || size[1] < p->size.width))
			return pl_err_set(err, -EINVAL,
				"field '%s' is %" PRId64 "x%" PRId64
				" (width x height), smaller than the "
				"crop of %" PRId64 "x%" PRId64
				" (set pad_if_needed: true, or resize before)",
				io->name[io->in[i]], size[1], size[0], p->size.width,
				p->size.height);
	}
	rc = pl_geometry_infer(io, p, size_at_load, false, err);
	return rc < 0 ? rc : pl_geometry_check_fill(io, p->fill_image, p->fill_mask, err);
}

static int run(struct pl_run *r)
{
	const struct random_crop_params *p = r->params;
	struct pl_geometry g = {
		.plan = plan, .fill_image = p->fill_image, .fill_mask = p->fill_mask};

	return pl_geometry_run(r, &g);
}

extern const struct pl_op pl_op_random_crop;
const struct pl_op pl_op_random_crop = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "random_crop",
	.help = "cuts a window of fixed size out of pictures at a drawn place",
	.class_ = "geometry",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM,
	.takes = PL_KINDS_GEOMETRY,
	.params = params,
	.params_size = sizeof(struct random_crop_params),
	.check = check,
	.infer = infer,
	.prepare = pl_geometry_prepare,
	.destroy = pl_geometry_destroy,
	.run = run,
};
