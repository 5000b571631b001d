/* daemon/ops/pass.c - several steps in one pass over a value: read once, changed, written in order.
 */
#include "daemon/kit/pass.h"

#include "daemon/ops/affine_values.h"
#include "daemon/ops/numbers.h"
#include "daemon/ops/planes.h"
#include "proto/einops/kernels.h"

/*
 * The value is a set of lines: n_pixels times n_channels values at fixed steps on both sides. Bytes
 * that become planes of floats have kernels of their own. Everything else goes block by block
 * through two buffers that stay in the first cache: gathered, changed as often as there are
 * changes, and scattered to where it belongs.
 */
#define BLOCK          1536 /* values */
#define CHANNELS_SHORT 64   /* a last axis up to here is a pixel's channels */

struct line {
	const struct pl_course *course;
	enum pl_dtype from;
	int64_t n_pixels;
	int64_t n_channels;
	int64_t in_pixel; /* bytes from one to the next */
	int64_t in_channel;
	int64_t out_pixel;
	int64_t out_channel;
	pl_planes_fn *planes; /* NULL: by way of change_block */
	float a[PL_PLANES_MAX];
	float b[PL_PLANES_MAX];
};

/* Lines and the axes around them. */
struct lines {
	struct line line;
	int n_outer;
	int64_t n[PL_RANK_MAX];
	int64_t in[PL_RANK_MAX];
	int64_t out[PL_RANK_MAX];
};

static int log2_of(int64_t unit)
{
	return unit == 1 ? 0 : unit == 2 ? 1 : unit == 4 ? 2 : 3;
}

/* Pixels of channels from one layout to another; the kernels of proto/einops know how. */
static void copy_pixels(char *out, int64_t out_pixel, int64_t out_channel, const char *in,
	int64_t in_pixel, int64_t in_channel, const struct pl_tile *size)
{
	const struct pl_kernels *k = pl_kernels_get();
	struct pl_tile t = {
		.n = {1, size->n[1], size->n[2]},
		.out = {0, out_channel, out_pixel},
		.in = {0, in_channel, in_pixel},
		.unit = size->unit,
	};
	int index = log2_of(t.unit);
	bool is_crossing = out_pixel == t.unit && in_channel == t.unit;
	bool is_run = out_channel == t.unit && in_channel == t.unit;
	bool is_split = is_crossing && t.n[1] >= 2 && t.n[1] <= 4 && in_pixel == t.n[1] * t.unit;

	if (is_run) {
		t.unit *= t.n[1];
		t.n[1] = 1;
		k->runs(out, in, &t);
		return;
	}
	if (is_split)
		k->split[t.n[1] - 2][index](out, in, &t);
	else if (is_crossing)
		k->transpose[index](out, in, &t);
	else
		k->strided[index](out, in, &t);
}

/* n values, beginning with the first channel; not in place. */
static void change_affine(
	const struct pl_move *move, float *out, const void *in, enum pl_dtype from, int64_t n)
{
	float a[PL_PARAM_LIST_MAX];
	float b[PL_PARAM_LIST_MAX];
	struct pl_affine f = {pl_affine_period(move->n_channels), a, b};
	float wide[BLOCK];

	for (int i = 0; i < f.period; i++) {
		a[i] = move->a[i % move->n_channels];
		b[i] = move->b[i % move->n_channels];
	}
	if (from == PL_U8) {
		pl_affine_u8(&f, out, in, n);
		return;
	}
	pl_numbers_convert(wide, PL_F32, in, from, n);
	pl_affine_f32(&f, out, wide, n);
}

/* All changes on n values; the last one writes `out`. */
static void change_block(const struct line *l, char *out, const char *in, int64_t n)
{
	const struct pl_course *c = l->course;
	int64_t buffer[2][BLOCK];
	enum pl_dtype from = l->from;

	for (int i = 0; i < c->n_changes; i++) {
		const struct pl_move *move = c->change[i];
		void *to = i + 1 == c->n_changes ? (void *)out : buffer[i % 2];

		if (move->kind == PL_MOVE_CAST)
			pl_numbers_convert(to, move->dtype, in, from, n);
		else
			change_affine(move, to, in, from, n);
		from = move->kind == PL_MOVE_CAST ? move->dtype : PL_F32;
		in = to;
	}
}

/* Packed pixels of bytes to planes. */
static void run_planes(const struct line *l, char *out, const char *in, int64_t n_pixels)
{
	l->planes(&(struct pl_planes){
		.out = out,
		.stride = l->out_channel,
		.in = (const unsigned char *)in,
		.n = n_pixels,
		.channels = (int)l->n_channels,
		.a = l->a,
		.b = l->b,
	});
}

/* Packed pixels, a block of them at most. */
static void run_block(const struct line *l, char *out, const char *in, int64_t n_pixels)
{
	int64_t size = (int64_t)pl_dtype_size(l->course->dtype);
	struct pl_tile t = {.n = {1, l->n_channels, n_pixels}, .unit = size};
	bool is_even = l->out_channel == size && l->out_pixel == l->n_channels * size;
	int64_t changed[BLOCK];

	if (l->planes) {
		run_planes(l, out, in, n_pixels);
	} else if (is_even) {
		change_block(l, out, in, n_pixels * l->n_channels);
	} else {
		change_block(l, (char *)changed, in, n_pixels * l->n_channels);
		copy_pixels(out, l->out_pixel, l->out_channel, (const char *)changed,
			l->n_channels * size, size, &t);
	}
}

static void run_line(const struct line *l, char *out, const char *in)
{
	int64_t size = (int64_t)pl_dtype_size(l->from);
	bool is_packed = l->in_channel == size && l->in_pixel == l->n_channels * size;
	int64_t block = BLOCK / l->n_channels;
	int64_t gathered[BLOCK];

	if (is_packed && l->planes) {
		run_planes(l, out, in, l->n_pixels);
		return;
	}
	for (int64_t at = 0; at < l->n_pixels; at += block) {
		int64_t n = l->n_pixels - at < block ? l->n_pixels - at : block;
		struct pl_tile t = {.n = {1, l->n_channels, n}, .unit = size};
		const char *from = in + at * l->in_pixel;

		if (!is_packed) {
			copy_pixels((char *)gathered, l->n_channels * size, size, from, l->in_pixel,
				l->in_channel, &t);
			from = (const char *)gathered;
		}
		run_block(l, out + at * l->out_pixel, from, n);
	}
}

static void run_lines(const struct lines *s, char *out, const char *in)
{
	int64_t at[PL_RANK_MAX] = {0};
	int d;

	do {
		run_line(&s->line, out, in);
		for (d = s->n_outer - 1; d >= 0; d--) {
			out += s->out[d];
			in += s->in[d];
			if (++at[d] < s->n[d])
				break;
			out -= s->out[d] * s->n[d];
			in -= s->in[d] * s->n[d];
			at[d] = 0;
		}
	} while (d >= 0);
}

/* Bytes that are cast or made floats once, and become planes: their function and constants. */
static void find_planes(struct line *l)
{
	const struct pl_course *c = l->course;
	const struct pl_move *first = c->change[0];
	bool is_affine = first->kind == PL_MOVE_AFFINE;
	bool is_one_cast = is_affine && c->n_changes == 2 && c->change[1]->kind == PL_MOVE_CAST;

	if (l->from != PL_U8 || (c->n_changes != 1 && !is_one_cast) ||
		l->n_channels > PL_PLANES_MAX || l->out_pixel != (int64_t)pl_dtype_size(c->dtype))
		return;
	for (int i = 0; i < l->n_channels; i++) {
		int channel = first->n_channels == 1 ? 0 : i;

		l->a[i] = is_affine ? first->a[channel] : 1;
		l->b[i] = is_affine ? first->b[channel] : 0;
	}
	l->planes = pl_planes_find(c->dtype);
}

/* Takes the last outer axis. */
static void take_axis(struct lines *s, int64_t *n, int64_t *in, int64_t *out)
{
	int d = --s->n_outer;

	*n = s->n[d];
	*in = s->in[d];
	*out = s->out[d];
}

/* Outer axes that only continue the pixels are pixels. */
static void merge_pixels(struct lines *s)
{
	struct line *l = &s->line;

	while (s->n_outer > 0) {
		int d = s->n_outer - 1;

		if (s->n[d] != 1 && (s->in[d] != l->in_pixel * l->n_pixels ||
					    s->out[d] != l->out_pixel * l->n_pixels))
			return;
		l->n_pixels *= s->n[d];
		s->n_outer--;
	}
}

static int most_channels(const struct pl_course *c)
{
	int most = 1;

	for (int i = 0; i < c->n_changes; i++)
		if (c->change[i]->kind == PL_MOVE_AFFINE && c->change[i]->n_channels > most)
			most = c->change[i]->n_channels;
	return most;
}

/* out_step: bytes in the result from one to the next, by axis of the value. */
static void cut_lines(struct lines *s, const struct pl_course *c, const struct pl_tensor *in,
	const int64_t *out_step)
{
	struct line *l = &s->line;
	int rank = in->rank;
	bool has_channels =
		rank > 0 &&
		(most_channels(c) > 1 || (rank > 1 && in->shape[rank - 1] <= CHANNELS_SHORT));

	*s = (struct lines){.n_outer = rank};
	for (int d = 0; d < rank; d++) {
		s->n[d] = in->shape[d];
		s->in[d] = in->stride[d];
		s->out[d] = out_step[d];
	}
	l->course = c;
	l->from = in->dtype;
	l->n_pixels = l->n_channels = 1;
	l->in_channel = (int64_t)pl_dtype_size(in->dtype);
	l->out_channel = (int64_t)pl_dtype_size(c->dtype);
	if (has_channels)
		take_axis(s, &l->n_channels, &l->in_channel, &l->out_channel);
	l->in_pixel = l->n_channels * (int64_t)pl_dtype_size(in->dtype);
	l->out_pixel = l->n_channels * (int64_t)pl_dtype_size(c->dtype);
	if (s->n_outer > 0)
		take_axis(s, &l->n_pixels, &l->in_pixel, &l->out_pixel);
	merge_pixels(s);
	find_planes(l);
}

/* Lengths that fit the moves; what doesn't is told by the steps themselves. A long last axis that
 * moves is a transpose, which they do better. */
static bool fits(const struct pl_course *c, const struct pl_tensor *in)
{
	int most = most_channels(c);
	int last = in->rank - 1;

	for (int i = 0; i < c->n_changes; i++)
		if (c->change[i]->kind == PL_MOVE_AFFINE && c->change[i]->n_channels > 1 &&
			c->change[i]->n_channels != most)
			return false;
	if (last >= 0 && c->laid[last] != last && in->shape[last] > CHANNELS_SHORT)
		return false;
	return most == 1 || (last >= 0 && in->shape[last] == most);
}

static int run_pair(struct pl_run *r, int i, const struct pl_course *c, const struct pl_tensor *in)
{
	struct pl_tensor *value = &r->sample->value[r->out[i]];
	int64_t shape[PL_RANK_MAX];
	int64_t out_step[PL_RANK_MAX];
	struct pl_tensor laid;
	struct lines s;
	char *out;

	for (int d = 0; d < c->rank; d++)
		shape[d] = in->shape[c->laid[d]];
	out = pl_run_out(r, i, c->dtype, c->rank, shape);
	if (!out)
		return PL_PASS_APART;
	laid = *value;
	for (int d = 0; d < c->rank; d++)
		out_step[c->laid[d]] = laid.stride[d];
	if (pl_tensor_count(in) > 0) {
		cut_lines(&s, c, in, out_step);
		run_lines(&s, out, in->data);
	}
	for (int d = 0; d < c->rank; d++) {
		value->shape[d] = laid.shape[c->shown[d]];
		value->stride[d] = laid.stride[c->shown[d]];
	}
	return 0;
}

static bool compose_pair(
	const struct pl_run *r, int i, const struct pl_pass *pass, struct pl_course *c)
{
	const struct pl_tensor *in = &r->sample->value[r->in[i]];

	return pl_pass_compose(pass, in->dtype, in->rank, r->writes_row && r->writes_row[i], c) &&
	       c->n_changes > 0 && fits(c, in);
}

int pl_pass_run(struct pl_run *r, const struct pl_pass *pass)
{
	struct pl_run quiet = *r;
	struct pl_tensor before[PL_FIELDS_MAX]; /* what the steps apart must find again */
	struct pl_course course;

	quiet.err = NULL;
	for (int i = 0; i < r->n; i++) {
		struct pl_tensor in = r->sample->value[r->in[i]];

		before[i] = r->sample->value[r->out[i]];
		if (compose_pair(r, i, pass, &course) && run_pair(&quiet, i, &course, &in) == 0)
			continue;
		for (; i >= 0; i--)
			r->sample->value[r->out[i]] = before[i];
		return PL_PASS_APART;
	}
	return 0;
}
