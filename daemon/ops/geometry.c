/* daemon/ops/geometry.c - applies one change to every field of a sample. */
#include "daemon/ops/geometry.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#define PIXEL_MAX_BYTES 4096

struct geometry_state {
	unsigned char kind[PL_FIELDS_MAX]; /* enum pl_kind by field number */
};

int64_t pl_round_half_even(double v)
{
	double down = floor(v);
	double rest = v - down;
	int64_t n = (int64_t)down;

	return rest > 0.5 || (rest == 0.5 && n % 2 != 0) ? n + 1 : n;
}

int pl_geometry_prepare(
	const struct pl_infer *io, const void *params, void **state, struct pl_err *err)
{
	struct geometry_state *s = calloc(1, sizeof(*s));

	(void)params;
	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < io->n; i++)
		s->kind[io->out[i]] = (unsigned char)io->type[io->out[i]].kind;
	*state = s;
	return 0;
}

void pl_geometry_destroy(void *state)
{
	free(state);
}

enum pl_kind pl_geometry_kind(const struct pl_run *r, int i)
{
	const struct geometry_state *s = r->state;

	return (enum pl_kind)s->kind[r->out[i]];
}

static bool is_picture(enum pl_kind kind)
{
	return kind == PL_KIND_IMAGE || kind == PL_KIND_MASK || kind == PL_KIND_VIDEO;
}

static int plan_for(const struct pl_run *r, const struct pl_geometry *g, int64_t height,
	int64_t width, struct pl_change *c)
{
	struct pl_rng rng = r->rng;

	*c = (struct pl_change){.context = g->context,
		.window = {0, 0, height, width},
		.height = height,
		.width = width};
	return g->plan(r, &rng, c);
}

static bool is_resampled(const struct pl_change *c)
{
	return c->window.height != c->height || c->window.width != c->width;
}

static bool is_within(const struct pl_window *w, const struct pl_picture *p)
{
	return w->top >= 0 && w->left >= 0 && w->height <= p->height - w->top &&
	       w->width <= p->width - w->left;
}

/* `job` says how; the sizes come from the window of src and from dst. */
static int resample_frames(struct pl_run *r, struct pl_resample job, const struct pl_window *w,
	const struct pl_picture *src, const struct pl_picture *dst)
{
	int64_t begin = w->top * src->row_stride + w->left * src->pixel;

	job.src_height = w->height;
	job.src_width = w->width;
	job.src_stride = src->row_stride;
	job.dst_height = dst->height;
	job.dst_width = dst->width;
	job.dst_stride = dst->row_stride;
	job.channels = src->channels;
	job.dtype = src->dtype;
	for (int64_t f = 0; f < src->n_frames; f++) {
		int rc;

		job.src = src->data + f * src->frame_stride + begin;
		job.dst = dst->data + f * dst->frame_stride;
		rc = pl_resample(r, &job);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int copy_filled(struct pl_run *r, const struct pl_picture *src, const struct pl_picture *dst,
	const struct pl_window *w, double fill)
{
	unsigned char pixel[PIXEL_MAX_BYTES];

	if (src->pixel > PIXEL_MAX_BYTES)
		return pl_err_set(r->err, -EINVAL,
			"an image of %" PRId64 " channels can't be padded or cropped",
			src->channels);
	pl_picture_fill_pixel(src, fill, pixel);
	pl_picture_copy_window(dst, src, *w, pixel);
	return 0;
}

/* Pixels that have changed and need memory of their own. */
static int move_pixels(struct pl_run *r, const struct pl_geometry *g, const struct pl_change *c,
	int i, const struct pl_picture *src)
{
	enum pl_kind kind = pl_geometry_kind(r, i);
	bool is_mask = kind == PL_KIND_MASK;
	struct pl_resample job = {.filter = is_mask ? PL_FILTER_NEAREST : g->filter,
		.is_antialiased = g->is_antialiased};
	struct pl_picture dst;
	int rc = pl_picture_out(
		r, i, kind, (struct pl_window){.height = c->height, .width = c->width}, &dst);

	if (rc < 0)
		return rc;
	if (is_resampled(c))
		return resample_frames(r, job, &c->window, src, &dst);
	if (!c->is_flipped_x && !c->is_flipped_y)
		return copy_filled(
			r, src, &dst, &c->window, is_mask ? g->fill_mask : g->fill_image);
	pl_picture_flip(&dst, src, c->is_flipped_x, c->is_flipped_y);
	return 0;
}

static int change_picture(struct pl_run *r, const struct pl_geometry *g, int i)
{
	enum pl_kind kind = pl_geometry_kind(r, i);
	struct pl_picture src;
	struct pl_change c;
	int rc = pl_picture_in(r, i, kind, &src);

	if (rc == 0)
		rc = plan_for(r, g, src.height, src.width, &c);
	if (rc < 0)
		return rc;
	if (is_resampled(&c) || c.is_flipped_x || c.is_flipped_y || !is_within(&c.window, &src) ||
		(r->writes_row && r->writes_row[i]))
		return move_pixels(r, g, &c, i, &src);
	pl_picture_out_view(r, i, kind, &src, c.window);
	return 0;
}

/* The size that all pictures of the step have in common. */
static int common_size(struct pl_run *r, int64_t *height, int64_t *width)
{
	struct pl_picture p;
	bool is_found = false;

	for (int i = 0; i < r->n; i++) {
		int rc = is_picture(pl_geometry_kind(r, i))
				 ? pl_picture_in(r, i, pl_geometry_kind(r, i), &p)
				 : 0;

		if (rc < 0)
			return rc;
		if (!is_picture(pl_geometry_kind(r, i)))
			continue;
		if (is_found && (p.height != *height || p.width != *width))
			return pl_err_set(r->err, -EINVAL,
				"boxes and points can't follow pictures of two sizes, %" PRId64
				"x%" PRId64 " and %" PRId64 "x%" PRId64
				" (name the fields that belong together with field:)",
				*width, *height, p.width, p.height);
		*height = p.height;
		*width = p.width;
		is_found = true;
	}
	if (!is_found)
		return pl_err_set(r->err, -EINVAL,
			"boxes and points need the size of their picture: name it in field: beside "
			"them");
	return 0;
}

/* A NaN fails both comparisons and stays. */
static float limit(double v, double high)
{
	return (float)(v < 0.0 ? 0.0 : v > high ? high : v);
}

struct line {
	double origin;
	double scale;
	double high;
	bool is_flipped;
};

static double move(const struct line *l, float v)
{
	double at = ((double)v - l->origin) * l->scale;

	return l->is_flipped ? l->high - at : at;
}

/* How coordinates of one field go. */
struct motion {
	struct line x;
	struct line y;
	int64_t n; /* coordinates */
	bool is_box;
};

static void move_rows(const struct motion *m, const float *in, float *out, bool is_limited)
{
	for (int64_t k = 0; k < m->n; k += 2) {
		double x = move(&m->x, in[k]);
		double y = move(&m->y, in[k + 1]);

		out[k] = is_limited ? limit(x, m->x.high) : (float)x;
		out[k + 1] = is_limited ? limit(y, m->y.high) : (float)y;
	}
}

/* A mirrored box has its corners the wrong way round. */
static void sort_corners(const struct motion *m, float *box)
{
	for (int64_t k = 0; m->is_box && k < m->n; k += 4, box += 4) {
		for (int axis = 0; axis < 2; axis++) {
			float first = box[axis];

			if (axis == 0 ? !m->x.is_flipped : !m->y.is_flipped)
				continue;
			box[axis] = box[axis + 2];
			box[axis + 2] = first;
		}
	}
}

/* Found by the address of the value: a value that some other step writes has none. */
struct uncut {
	struct uncut *next;
	const void *of;
	const float *rows;
};

const float *pl_geometry_uncut(const struct pl_sample *sample, const struct pl_tensor *boxes)
{
	const struct uncut *u = sample->scratch->notes;

	for (; u && boxes->data; u = u->next)
		if (u->of == boxes->data)
			return u->rows;
	return NULL;
}

int pl_geometry_note_uncut(struct pl_run *r, const void *of, const float *rows)
{
	struct uncut *u = pl_run_scratch(r, sizeof(*u));

	if (!u)
		return pl_run_failed(r);
	*u = (struct uncut){r->sample->scratch->notes, of, rows};
	r->sample->scratch->notes = u;
	return 0;
}

static int move_uncut(struct pl_run *r, const struct motion *m, const float *from, const void *of)
{
	float *rows = pl_run_scratch(r, (size_t)m->n * sizeof(*rows));

	if (!rows)
		return pl_run_failed(r);
	move_rows(m, from, rows, false);
	sort_corners(m, rows);
	return pl_geometry_note_uncut(r, of, rows);
}

static struct motion motion_of(const struct pl_change *c, int64_t n, bool is_box)
{
	const struct pl_window *w = &c->window;

	return (struct motion){
		.x = {(double)w->left, (double)c->width / (double)w->width, (double)c->width,
			c->is_flipped_x},
		.y = {(double)w->top, (double)c->height / (double)w->height, (double)c->height,
			c->is_flipped_y},
		.n = n,
		.is_box = is_box,
	};
}

static int change_coordinates(struct pl_run *r, const struct pl_change *c, int i)
{
	struct pl_tensor in = r->sample->value[r->in[i]];
	const float *uncut = pl_geometry_uncut(r->sample, &in);
	bool is_box = pl_geometry_kind(r, i) == PL_KIND_BOXES;
	int64_t n_columns = is_box ? 4 : 2;
	struct motion m;
	const float *from;
	float *to;

	if (in.rank != 2 || in.shape[1] != n_columns || in.dtype != PL_F32)
		return pl_err_set(r->err, -EINVAL,
			"%s must be f32 [n, %" PRId64 "], not %s of rank %d",
			pl_kind_name(pl_geometry_kind(r, i)), n_columns, pl_dtype_name(in.dtype),
			in.rank);
	m = motion_of(c, pl_tensor_count(&in), is_box);
	from = pl_run_contiguous(r, i);
	if (!from && m.n > 0)
		return pl_run_failed(r);
	to = pl_run_out(r, i, PL_F32, in.rank, in.shape);
	if (!to)
		return pl_run_failed(r);
	move_rows(&m, from, to, true);
	sort_corners(&m, to);
	return is_box && m.n > 0 ? move_uncut(r, &m, uncut ? uncut : from, to) : 0;
}

int pl_geometry_run(struct pl_run *r, const struct pl_geometry *g)
{
	struct pl_change c;
	bool is_planned = false;

	/* Coordinates first: in place, the pictures have their old size only until they are
	 * changed. */
	for (int i = 0; i < r->n; i++) {
		int64_t height = 0;
		int64_t width = 0;
		int rc = 0;

		if (is_picture(pl_geometry_kind(r, i)))
			continue;
		if (!is_planned)
			rc = common_size(r, &height, &width);
		if (rc == 0 && !is_planned)
			rc = plan_for(r, g, height, width, &c);
		if (rc == 0)
			rc = change_coordinates(r, &c, i);
		if (rc < 0)
			return rc;
		is_planned = true;
	}
	for (int i = 0; i < r->n; i++) {
		int rc = is_picture(pl_geometry_kind(r, i)) ? change_picture(r, g, i) : 0;

		if (rc < 0)
			return rc;
	}
	return 0;
}
