/* daemon/ops/colour.c - takes the fields of colour steps, and walks through their frames. */
#include "daemon/ops/colour.h"

#include <errno.h>
#include <inttypes.h>

#define CHANNELS_MAX 4

int pl_frame_n_colours(const struct pl_frame *f)
{
	return f->channels < 3 ? 1 : 3;
}

static int check_kind(const struct pl_type *t, const char *name, struct pl_err *err)
{
	bool is_image = t->kind == PL_KIND_IMAGE && t->rank == 3;
	bool is_video = t->kind == PL_KIND_VIDEO && t->rank == 4;
	char text[256];

	if (is_image || is_video)
		return 0;
	return pl_err_set(err, -EINVAL,
		"field '%s' is %s, but colour steps take image [h, w, c] and video [t, h, w, c]%s",
		name, pl_type_format(text, sizeof(text), t),
		t->kind == PL_KIND_BYTES ? " (put decode_image before it)"
					 : " (put it before the step that changed the layout, or "
					   "name other fields with field:)");
}

static int check_values(const struct pl_type *t, const char *name, struct pl_err *err)
{
	int64_t channels = t->shape[t->rank - 1];
	char text[256];

	if (t->dtype != PL_U8 && t->dtype != PL_F32)
		return pl_err_set(err, -EINVAL,
			"field '%s' is %s, but colours are changed in u8 or f32 on a scale of 0 to "
			"255 only (set depth: 8 in decode_image, or use cast)",
			name, pl_type_format(text, sizeof(text), t));
	if (channels == 0 || channels > CHANNELS_MAX)
		return pl_err_set(err, -EINVAL,
			"field '%s' is %s, but colour steps know grey, grey and alpha, rgb, rgb "
			"and alpha: 1 to 4 channels",
			name, pl_type_format(text, sizeof(text), t));
	return 0;
}

int pl_colour_infer(struct pl_infer *io, void *params, struct pl_err *err)
{
	(void)params;
	for (int i = 0; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];
		int rc = check_kind(t, io->name[io->in[i]], err);

		if (rc == 0)
			rc = check_values(t, io->name[io->in[i]], err);
		if (rc < 0)
			return rc;
		io->type[io->out[i]] = *t;
	}
	return 0;
}

int pl_colour_in(struct pl_run *r, int i, struct pl_picture *p)
{
	const struct pl_tensor *t = &r->sample->value[r->in[i]];
	int rc = pl_picture_in(r, i, t->rank == 4 ? PL_KIND_VIDEO : PL_KIND_IMAGE, p);

	if (rc < 0 || (p->channels >= 1 && p->channels <= CHANNELS_MAX))
		return rc;
	return pl_err_set(r->err, -EINVAL,
		"the picture has %" PRId64
		" channels, but colour steps take 1 to 4 (set channels: in decode_image)",
		p->channels);
}

static void copy_frame(unsigned char *to, const struct pl_picture *p, int64_t frame)
{
	const unsigned char *from = p->data + frame * p->frame_stride;
	size_t row = (size_t)(p->width * p->pixel);

	for (int64_t y = 0; y < p->height; y++, to += row, from += p->row_stride)
		memcpy(to, from, row);
}

int pl_colour_run(struct pl_run *r,
	void (*change)(const void *context, const struct pl_frame *frame), const void *context)
{
	for (int i = 0; i < r->n; i++) {
		const struct pl_tensor *t = &r->sample->value[r->in[i]];
		struct pl_picture in;
		struct pl_frame f;
		int rc = pl_colour_in(r, i, &in);

		if (rc < 0)
			return rc;
		f = (struct pl_frame){
			.dtype = in.dtype, .n = in.height * in.width, .channels = (int)in.channels};
		f.data = pl_run_out(r, i, in.dtype, t->rank, t->shape);
		if (!f.data)
			return pl_run_failed(r);
		for (int64_t k = 0; k < in.n_frames; k++) {
			copy_frame(f.data, &in, k);
			change(context, &f);
			f.data = (char *)f.data + f.n * in.pixel;
		}
	}
	return 0;
}
