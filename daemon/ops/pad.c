/* daemon/ops/pad.c - makes pictures larger by pixels of one value at the right and bottom. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/ops/geometry.h"

/* The picture stays at the top left, so boxes and points keep their coordinates. */
struct pad_params {
	struct pl_param_size size;
	int64_t to_multiple;
	struct pl_param_map fill;
	double fill_image; /* from `fill`, by check */
	double fill_mask;
};

#define AT(member) offsetof(struct pad_params, member)

static const struct pl_param params[] = {
	{.key = "size",
		.kind = PL_PARAM_SIZE,
		.offset = AT(size),
		.def = "",
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.is_obvious = true,
		.help = "of the result: one number, or [height, width]; may be left out with "
			"to_multiple"},
	{.key = "to_multiple",
		.kind = PL_PARAM_INT,
		.offset = AT(to_multiple),
		.def = "1",
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.help = "round both sides up to a multiple of this"},
	{.key = "fill",
		.kind = PL_PARAM_MAP,
		.offset = AT(fill),
		.def = "{image: 0, mask: 255}",
		.help = "what padding consists of, by kind; image is for video too"},
	{0},
};

static int check(void *params_, struct pl_err *err)
{
	struct pad_params *p = params_;

	if (!p->size.is_given && p->to_multiple == 1)
		return pl_err_set(err, -EINVAL, "size or to_multiple is needed");
	p->fill_image = 0;
	p->fill_mask = 255;
	return pl_geometry_fill(&p->fill, &p->fill_image, &p->fill_mask, err);
}

static int64_t padded(const struct pad_params *p, int64_t length, int64_t size)
{
	int64_t to = p->size.is_given ? size : length;

	return to < 0 ? -1 : (int64_t)pl_align_up((uint64_t)to, (uint64_t)p->to_multiple);
}

static int plan(const struct pl_run *r, struct pl_rng *rng, struct pl_change *c)
{
	const struct pad_params *p = r->params;
	int64_t height = padded(p, c->height, p->size.height);
	int64_t width = padded(p, c->width, p->size.width);

	(void)rng;
	if (c->height > height || c->width > width)
		return pl_err_set(r->err, -EINVAL,
			"the picture is %" PRId64 "x%" PRId64
			" (width x height), larger than the padded "
			"size %" PRId64 "x%" PRId64 " (resize or crop before)",
			c->width, c->height, width, height);
	c->window.height = c->height = height;
	c->window.width = c->width = width;
	return 0;
}

static void size_at_load(const void *params_, int64_t *height, int64_t *width)
{
	const struct pad_params *p = params_;

	*height = padded(p, *height, p->size.height);
	*width = padded(p, *width, p->size.width);
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct pad_params *p = params_;
	int rc = pl_geometry_infer(io, p, size_at_load, false, err);

	return rc < 0 ? rc : pl_geometry_check_fill(io, p->fill_image, p->fill_mask, err);
}

static int run(struct pl_run *r)
{
	const struct pad_params *p = r->params;
	struct pl_geometry g = {
		.plan = plan, .fill_image = p->fill_image, .fill_mask = p->fill_mask};

	return pl_geometry_run(r, &g);
}

extern const struct pl_op pl_op_pad;
const struct pl_op pl_op_pad = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "pad",
	.help = "makes pictures larger by pixels of one value at the right and bottom",
	.class_ = "geometry",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.takes = PL_KINDS_GEOMETRY,
	.params = params,
	.params_size = sizeof(struct pad_params),
	.check = check,
	.infer = infer,
	.prepare = pl_geometry_prepare,
	.destroy = pl_geometry_destroy,
	.run = run,
};
