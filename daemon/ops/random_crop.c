/* daemon/ops/random_crop.c - cuts a window of fixed size out of pictures at a drawn place. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "daemon/ops/geometry.h"

/*
 * With pad_if_needed a side that is too short is padded by what is missing at both ends before the
 * draw, as torchvision does, so the picture lies anywhere inside the window.
 *
 * min_iou is SSD's way to crops that show something: one of its thresholds is drawn, then places
 * are drawn until the window's overlap with some box, intersection over union, reaches it. After
 * TRIES places the best of them is taken. Without a box any place will do.
 */
struct random_crop_params {
	struct pl_param_size size;
	bool pad_if_needed;
	struct pl_param_map fill;
	struct pl_param_floats min_iou;
	double fill_image; /* from `fill`, by check */
	double fill_mask;
};

#define TRIES      50
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
	{.key = "min_iou",
		.kind = PL_PARAM_FLOATS,
		.offset = AT(min_iou),
		.def = "[]",
		.min = 0,
		.max = 1,
		.help = "thresholds of which one is drawn: the window must overlap some box as "
			"much, "
			"intersection over union; 0 is any place"},
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

/* The boxes of the step's fields as they were before it, for all fields' windows are planned from
 * them. */
struct boxes {
	int n_fields;
	const float *rows[PL_FIELDS_MAX];
	int64_t n[PL_FIELDS_MAX];
};

static double overlap(const struct pl_window *w, const float *box)
{
	double left = fmax((double)w->left, (double)box[0]);
	double top = fmax((double)w->top, (double)box[1]);
	double right = fmin((double)(w->left + w->width), (double)box[2]);
	double bottom = fmin((double)(w->top + w->height), (double)box[3]);
	double shared = right > left && bottom > top ? (right - left) * (bottom - top) : 0;
	double box_area = ((double)box[2] - (double)box[0]) * ((double)box[3] - (double)box[1]);

	return shared / ((double)w->height * (double)w->width + box_area - shared);
}

/* Of the box that overlaps most. */
static double largest_overlap(const struct boxes *boxes, const struct pl_window *w)
{
	double largest = 0;

	for (int k = 0; k < boxes->n_fields; k++)
		for (int64_t i = 0; i < boxes->n[k]; i++)
			largest = fmax(largest, overlap(w, boxes->rows[k] + 4 * i));
	return largest;
}

static void draw_window(const struct random_crop_params *p, struct pl_rng *rng,
	const struct pl_change *c, struct pl_window *w)
{
	w->top = draw_start(rng, c->height, p->size.height);
	w->left = draw_start(rng, c->width, p->size.width);
	w->height = p->size.height;
	w->width = p->size.width;
}

static void draw_overlapping(const struct random_crop_params *p, struct pl_rng *rng,
	const struct pl_change *c, struct pl_window *best)
{
	double wanted = p->min_iou.v[pl_rng_below(rng, (uint64_t)p->min_iou.n)];
	double found;

	draw_window(p, rng, c, best);
	found = largest_overlap(c->context, best);
	for (int i = 1; i < TRIES && found < wanted; i++) {
		struct pl_window w;
		double overlapping;

		draw_window(p, rng, c, &w);
		overlapping = largest_overlap(c->context, &w);
		if (overlapping <= found)
			continue;
		*best = w;
		found = overlapping;
	}
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
	if (p->min_iou.n > 0)
		draw_overlapping(p, rng, c, &c->window);
	else
		draw_window(p, rng, c, &c->window);
	c->height = p->size.height;
	c->width = p->size.width;
	return 0;
}

static void size_at_load(const void *params_, int64_t *height, int64_t *width)
{
	const struct random_crop_params *p = params_;

	*height = p->size.height;
	*width = p->size.width;
}

static int check_boxes(const struct pl_infer *io, struct pl_err *err)
{
	for (int i = 0; i < io->n; i++)
		if (io->type[io->in[i]].kind == PL_KIND_BOXES)
			return 0;
	return pl_err_set(err, -EINVAL,
		"min_iou needs boxes beside the image (declare them by boxes:, and name them in "
		"field: when it is given)");
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
	rc = p->min_iou.n > 0 ? check_boxes(io, err) : 0;
	if (rc == 0)
		rc = pl_geometry_infer(io, p, size_at_load, false, err);
	return rc < 0 ? rc : pl_geometry_check_fill(io, p->fill_image, p->fill_mask, err);
}

/* A value that is no [n, 4] is refused by the change itself. */
static int find_boxes(struct pl_run *r, struct boxes *boxes)
{
	for (int i = 0; i < r->n; i++) {
		const struct pl_tensor *t = &r->sample->value[r->in[i]];
		bool is_box = pl_geometry_kind(r, i) == PL_KIND_BOXES && t->rank == 2 &&
			      t->shape[1] == 4 && t->dtype == PL_F32;

		if (!is_box || t->shape[0] == 0)
			continue;
		boxes->rows[boxes->n_fields] = pl_run_contiguous(r, i);
		boxes->n[boxes->n_fields] = t->shape[0];
		if (!boxes->rows[boxes->n_fields++])
			return pl_run_failed(r);
	}
	return 0;
}

static int run(struct pl_run *r)
{
	const struct random_crop_params *p = r->params;
	struct boxes boxes = {0};
	struct pl_geometry g = {.plan = plan,
		.context = &boxes,
		.fill_image = p->fill_image,
		.fill_mask = p->fill_mask};
	int rc = p->min_iou.n > 0 ? find_boxes(r, &boxes) : 0;

	if (rc < 0)
		return rc;
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
