/* daemon/ops/random_erasing.c - overwrites a rectangle of drawn place and size with one value. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "daemon/ops/numbers.h"
#include "daemon/ops/picture.h"

/*
 * The draw is torchvision's RandomErasing: ten tries of an area uniform in `scale` and a ratio
 * whose logarithm is uniform; a rectangle must be smaller than the picture in both directions, and
 * when none is, nothing happens. Fields of one size get one rectangle.
 */
struct random_erasing_params {
	struct pl_param_range scale;
	struct pl_param_range ratio;
	double value;
};

#define TRIES           10
#define PIXEL_MAX_BYTES 4096
#define AT(member)      offsetof(struct random_erasing_params, member)

static const struct pl_param params[] = {
	{.key = "scale",
		.kind = PL_PARAM_RANGE,
		.offset = AT(scale),
		.def = "[0.02, 0.33]",
		.min = 0,
		.max = 1,
		.help = "the rectangle's area as a share of the picture's"},
	{.key = "ratio",
		.kind = PL_PARAM_RANGE,
		.offset = AT(ratio),
		.def = "[0.3, 3.3]",
		.help = "the rectangle's height divided by its width, greater than 0"},
	{.key = "value",
		.kind = PL_PARAM_FLOAT,
		.offset = AT(value),
		.def = "0",
		.help = "what every channel becomes, in the picture's own numbers: 0 behind "
			"normalize is the mean"},
	{0},
};

static int check(void *params_, struct pl_err *err)
{
	const struct random_erasing_params *p = params_;

	if (p->ratio.low > 0)
		return 0;
	return pl_err_set(err, -EINVAL, "ratio: [%g, %g] is not a range of numbers greater than 0",
		p->ratio.low, p->ratio.high);
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct random_erasing_params *p = params_;

	for (int i = 0; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];
		const char *name = io->name[io->in[i]];
		char text[256];

		if (!(t->kind == PL_KIND_IMAGE && t->rank == 3) &&
			!(t->kind == PL_KIND_VIDEO && t->rank == 4))
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, but this step takes image [h, w, c] and video "
				"[t, h, w, c] (put it before the step that changed the layout)",
				name, pl_type_format(text, sizeof(text), t));
		if (!pl_number_fits(t->dtype, p->value))
			return pl_err_set(err, -EINVAL, "value: %g does not fit field '%s' of %s",
				p->value, name, pl_dtype_name(t->dtype));
		io->type[io->out[i]] = *t;
	}
	return 0;
}

/* One try: fills *w and returns true when the drawn rectangle is smaller than height x width. */
static bool draw_window(const struct random_erasing_params *p, struct pl_rng *rng, int64_t height,
	int64_t width, struct pl_window *w)
{
	double area =
		(double)height * (double)width * pl_rng_range(rng, p->scale.low, p->scale.high);
	double ratio = exp(pl_rng_range(rng, log(p->ratio.low), log(p->ratio.high)));
	double h = rint(sqrt(area * ratio));
	double wide = rint(sqrt(area / ratio));

	if (!(h < (double)height && wide < (double)width))
		return false;
	w->height = (int64_t)h;
	w->width = (int64_t)wide;
	w->top = (int64_t)pl_rng_below(rng, (uint64_t)(height - w->height) + 1);
	w->left = (int64_t)pl_rng_below(rng, (uint64_t)(width - w->width) + 1);
	return true;
}

static void erase(unsigned char *frame, const struct pl_picture *p, const struct pl_window *w,
	const unsigned char *pixel)
{
	for (int64_t y = 0; y < w->height; y++) {
		unsigned char *to = frame + ((w->top + y) * p->width + w->left) * p->pixel;

		for (int64_t x = 0; x < w->width; x++, to += p->pixel)
			memcpy(to, pixel, (size_t)p->pixel);
	}
}

static int erase_field(struct pl_run *r, const struct random_erasing_params *p, int i)
{
	struct pl_tensor t = r->sample->value[r->in[i]];
	unsigned char pixel[PIXEL_MAX_BYTES];
	struct pl_rng rng = r->rng;
	struct pl_window w = {0};
	struct pl_picture in, out;
	int rc = pl_picture_in(r, i, t.rank == 4 ? PL_KIND_VIDEO : PL_KIND_IMAGE, &in);

	if (rc < 0)
		return rc;
	if (in.pixel > PIXEL_MAX_BYTES)
		return pl_err_set(r->err, -EINVAL, "pixels of %" PRId64 " channels can't be erased",
			in.channels);
	out = in;
	out.data = pl_run_out(r, i, t.dtype, t.rank, t.shape);
	if (!out.data)
		return pl_run_failed(r);
	out.row_stride = in.width * in.pixel;
	out.frame_stride = in.height * out.row_stride;
	pl_picture_fill_pixel(&in, p->value, pixel);
	pl_picture_copy_window(&out, &in, (struct pl_window){0, 0, in.height, in.width}, pixel);
	for (int k = 0; k < TRIES; k++)
		if (draw_window(p, &rng, in.height, in.width, &w))
			break;
	for (int64_t f = 0; f < in.n_frames; f++)
		erase(out.data + f * out.frame_stride, &in, &w, pixel);
	return 0;
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = erase_field(r, r->params, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_random_erasing;
const struct pl_op pl_op_random_erasing = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "random_erasing",
	.help = "overwrites a rectangle of drawn place and size with one value",
	.class_ = "photometric",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM,
	.takes = PL_KINDS_COLOUR,
	.default_p = 0.5,
	.params = params,
	.params_size = sizeof(struct random_erasing_params),
	.check = check,
	.infer = infer,
	.run = run,
};
