/* daemon/ops/resize.c - changes the size of pictures by filtering, as Pillow and torchvision do. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/ops/geometry.h"

/*
 * Sizes are torchvision's: the side that follows from the other one is cut to an integer (427 of
 * 640x427 to 224 makes 640 into 335), and is at least 1. With `antialias: false` the filter keeps
 * its width when shrinking, as OpenCV's. Every channel is filtered alike: alpha is not multiplied
 * in before.
 */
struct resize_params {
	struct pl_param_ints shorter;
	int64_t longer;
	struct pl_param_size size;
	int64_t max_long;
	int filter;
	bool antialias;
};

#define AT(member) offsetof(struct resize_params, member)

static const struct pl_param params[] = {
	{.key = "short",
		.kind = PL_PARAM_INTS,
		.offset = AT(shorter),
		.def = "",
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.is_obvious = true,
		.help = "the shorter side's new length; of a list one is drawn for each sample"},
	{.key = "long",
		.kind = PL_PARAM_INT,
		.offset = AT(longer),
		.def = "",
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.help = "the longer side's new length"},
	{.key = "size",
		.kind = PL_PARAM_SIZE,
		.offset = AT(size),
		.def = "",
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.help = "both sides: one number, or [height, width]; proportions may change"},
	{.key = "max_long",
		.kind = PL_PARAM_INT,
		.offset = AT(max_long),
		.def = "",
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.help = "with short: the longer side is no longer than this, and the shorter less "
			"then"},
	{.key = "filter",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(filter),
		.def = "bilinear",
		.choices = pl_filter_names,
		.help = "for images and video, alpha like any other channel; masks are always "
			"nearest"},
	{.key = "antialias",
		.kind = PL_PARAM_BOOL,
		.offset = AT(antialias),
		.def = "true",
		.help = "widen the filter when shrinking, as Pillow does"},
	{0},
};

static int check(void *params_, struct pl_err *err)
{
	const struct resize_params *p = params_;
	int n_given = (p->shorter.n > 0) + (p->longer > 0) + p->size.is_given;

	if (n_given == 0)
		return pl_err_set(err, -EINVAL, "one of short, long and size is needed");
	if (n_given > 1)
		return pl_err_set(err, -EINVAL, "only one of short, long and size can be given");
	if (p->max_long && p->shorter.n == 0)
		return pl_err_set(err, -EINVAL, "max_long goes with short only");
	for (int i = 0; i < p->shorter.n; i++)
		if (p->max_long && p->max_long < p->shorter.v[i])
			return pl_err_set(err, -EINVAL,
				"max_long %" PRId64 " is less than short %" PRId64, p->max_long,
				p->shorter.v[i]);
	return 0;
}

static int64_t cut(int64_t a, int64_t b, int64_t divisor)
{
	int64_t v = (int64_t)((double)(a * b) / (double)divisor);

	return v < 1 ? 1 : v;
}

static void by_short(int64_t to, int64_t max_long, int64_t *height, int64_t *width)
{
	int64_t *shorter = *width <= *height ? width : height;
	int64_t *longer = shorter == width ? height : width;

	*longer = cut(to, *longer, *shorter);
	*shorter = to;
	if (max_long && *longer > max_long) {
		*shorter = cut(max_long, *shorter, *longer);
		*longer = max_long;
	}
}

static void by_long(int64_t to, int64_t *height, int64_t *width)
{
	int64_t *longer = *width > *height ? width : height;
	int64_t *shorter = longer == width ? height : width;

	*shorter = cut(to, *shorter, *longer);
	*longer = to;
}

static void resized(const struct resize_params *p, int64_t shorter, int64_t *height, int64_t *width)
{
	if (p->size.is_given) {
		*height = p->size.height;
		*width = p->size.width;
	} else if (p->longer) {
		by_long(p->longer, height, width);
	} else {
		by_short(shorter, p->max_long, height, width);
	}
}

static int plan(const struct pl_run *r, struct pl_rng *rng, struct pl_change *c)
{
	const struct resize_params *p = r->params;
	uint64_t n = (uint64_t)p->shorter.n;

	resized(p, p->shorter.v[n > 1 ? pl_rng_below(rng, n) : 0], &c->height, &c->width);
	return 0;
}

static void size_at_load(const void *params_, int64_t *height, int64_t *width)
{
	const struct resize_params *p = params_;

	if (!p->size.is_given && (*height < 1 || *width < 1 || p->shorter.n > 1)) {
		*height = -1;
		*width = -1;
		return;
	}
	resized(p, p->shorter.v[0], height, width);
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct resize_params *p = params_;

	return pl_geometry_infer(io, p, size_at_load, p->filter != PL_FILTER_NEAREST, err);
}

static int run(struct pl_run *r)
{
	const struct resize_params *p = r->params;
	struct pl_geometry g = {
		.plan = plan, .filter = (enum pl_filter)p->filter, .is_antialiased = p->antialias};

	return pl_geometry_run(r, &g);
}

extern const struct pl_op pl_op_resize;
const struct pl_op pl_op_resize = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "resize",
	.help = "changes the size of pictures, by the shorter side, the longer side or both",
	.class_ = "geometry",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM,
	.takes = PL_KINDS_GEOMETRY,
	.params = params,
	.params_size = sizeof(struct resize_params),
	.check = check,
	.infer = infer,
	.prepare = pl_geometry_prepare,
	.destroy = pl_geometry_destroy,
	.run = run,
};
