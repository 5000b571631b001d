/* daemon/ops/random_resized_crop.c - cuts out a window of drawn area and proportions and gives it
 * one size. */
#include <errno.h>
#include <math.h>

#include "daemon/ops/geometry.h"

/*
 * The draw is torchvision's RandomResizedCrop: ten tries of an area uniform in `scale` and a ratio
 * whose logarithm is uniform; then the middle, as large as `ratio` allows. The crop comes before
 * the resize: the filter sees nothing outside the window.
 */
struct random_resized_crop_params {
	struct pl_param_size size;
	struct pl_param_range scale;
	struct pl_param_range ratio;
	int filter;
};

#define TRIES      10
#define AT(member) offsetof(struct random_resized_crop_params, member)

static const struct pl_param params[] = {
	{.key = "size",
		.kind = PL_PARAM_SIZE,
		.offset = AT(size),
		.min = 1,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.is_obvious = true,
		.help = "of the result: one number, or [height, width]"},
	{.key = "scale",
		.kind = PL_PARAM_RANGE,
		.offset = AT(scale),
		.def = "[0.08, 1]",
		.help = "the window's area as a share of the picture's, greater than 0"},
	{.key = "ratio",
		.kind = PL_PARAM_RANGE,
		.offset = AT(ratio),
		.def = "[3/4, 4/3]",
		.help = "the window's width divided by its height, greater than 0"},
	{.key = "filter",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(filter),
		.def = "bilinear",
		.choices = pl_filter_names,
		.help = "for images and video; masks are always nearest"},
	{0},
};

static int check_range(const char *key, const struct pl_param_range *range, struct pl_err *err)
{
	if (range->low > 0 && range->low <= range->high)
		return 0;
	return pl_err_set(err, -EINVAL, "%s: [%g, %g] is not a range of numbers greater than 0",
		key, range->low, range->high);
}

static int check(void *params_, struct pl_err *err)
{
	const struct random_resized_crop_params *p = params_;
	int rc = check_range("scale", &p->scale, err);

	return rc < 0 ? rc : check_range("ratio", &p->ratio, err);
}

/* One try: fills *w and returns true when the drawn window fits into height x width. */
static bool draw_window(const struct random_resized_crop_params *p, struct pl_rng *rng,
	int64_t height, int64_t width, struct pl_window *w)
{
	double share = pl_rng_range(rng, p->scale.low, p->scale.high);
	double ratio = exp(pl_rng_range(rng, log(p->ratio.low), log(p->ratio.high)));
	double area = (double)height * (double)width * share;
	double w_drawn = rint(sqrt(area * ratio));
	double h_drawn = rint(sqrt(area / ratio));

	if (!(w_drawn >= 1 && w_drawn <= (double)width && h_drawn >= 1 &&
		    h_drawn <= (double)height))
		return false;
	w->height = (int64_t)h_drawn;
	w->width = (int64_t)w_drawn;
	w->top = (int64_t)pl_rng_below(rng, (uint64_t)(height - w->height) + 1);
	w->left = (int64_t)pl_rng_below(rng, (uint64_t)(width - w->width) + 1);
	return true;
}

/* As much of the middle as the ratio allows. */
static void middle(const struct random_resized_crop_params *p, int64_t height, int64_t width,
	struct pl_window *w)
{
	double ratio = (double)width / (double)height;

	*w = (struct pl_window){.height = height, .width = width};
	if (ratio < p->ratio.low)
		w->height = pl_round_half_even((double)width / p->ratio.low);
	else if (ratio > p->ratio.high)
		w->width = pl_round_half_even((double)height * p->ratio.high);
	w->height = w->height < 1 ? 1 : w->height > height ? height : w->height;
	w->width = w->width < 1 ? 1 : w->width > width ? width : w->width;
	w->top = (height - w->height) / 2;
	w->left = (width - w->width) / 2;
}

static int plan(const struct pl_run *r, struct pl_rng *rng, struct pl_change *c)
{
	const struct random_resized_crop_params *p = r->params;
	bool is_drawn = false;

	for (int i = 0; i < TRIES && !is_drawn; i++)
		is_drawn = draw_window(p, rng, c->height, c->width, &c->window);
	if (!is_drawn)
		middle(p, c->height, c->width, &c->window);
	c->height = p->size.height;
	c->width = p->size.width;
	return 0;
}

static void size_at_load(const void *params_, int64_t *height, int64_t *width)
{
	const struct random_resized_crop_params *p = params_;

	*height = p->size.height;
	*width = p->size.width;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct random_resized_crop_params *p = params_;

	return pl_geometry_infer(io, p, size_at_load, p->filter != PL_FILTER_NEAREST, err);
}

static int run(struct pl_run *r)
{
	const struct random_resized_crop_params *p = r->params;
	struct pl_geometry g = {
		.plan = plan, .filter = (enum pl_filter)p->filter, .is_antialiased = true};

	return pl_geometry_run(r, &g);
}

extern const struct pl_op pl_op_random_resized_crop;
const struct pl_op pl_op_random_resized_crop = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "random_resized_crop",
	.help = "cuts out a window of drawn area and proportions and resizes it",
	.class_ = "geometry",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM,
	.takes = PL_KINDS_GEOMETRY,
	.params = params,
	.params_size = sizeof(struct random_resized_crop_params),
	.check = check,
	.infer = infer,
	.prepare = pl_geometry_prepare,
	.destroy = pl_geometry_destroy,
	.run = run,
};
