/* daemon/ops/grayscale.c - makes pictures grey, as three equal channels. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "daemon/ops/colour.h"
#include "daemon/ops/decode_image.h"

static int refuse_alpha(const char *name, int64_t channels, struct pl_err *err)
{
	return pl_err_set(err, -EINVAL,
		"%s has %" PRId64
		" channels: grayscale makes 3 of grey or rgb, and would lose its alpha (set "
		"channels: rgb in decode_image)",
		name, channels);
}

static int infer(struct pl_infer *io, void *params, struct pl_err *err)
{
	int rc = pl_colour_infer(io, params, err);
	char name[160];

	for (int i = 0; rc == 0 && i < io->n; i++) {
		struct pl_type *t = &io->type[io->out[i]];
		int64_t *channels = &t->shape[t->rank - 1];

		(void)snprintf(name, sizeof(name), "field '%s'", io->name[io->in[i]]);
		if (*channels == 2 || *channels == 4)
			return refuse_alpha(name, *channels, err);
		*channels = 3;
	}
	return rc;
}

static void grey_row_u8(unsigned char *out, const unsigned char *in, int64_t n, bool is_grey)
{
	for (int64_t x = 0; x < n; x++, out += 3) {
		unsigned char grey = in[x];

		if (!is_grey)
			pl_grey_of_rgb8(&grey, in + 3 * x, 1, 3);
		memset(out, grey, 3);
	}
}

/* The same weights without rounding. */
static void grey_row_f32(float *out, const float *in, int64_t n, bool is_grey)
{
	for (int64_t x = 0; x < n; x++, out += 3) {
		const float *v = in + (is_grey ? x : 3 * x);
		float grey = v[0];

		if (!is_grey)
			grey = (19595.0f * v[0] + 38470.0f * v[1] + 7471.0f * v[2]) / 65536.0f;
		out[0] = out[1] = out[2] = grey;
	}
}

static void grey_row(unsigned char *out, const unsigned char *in, const struct pl_picture *p)
{
	if (p->dtype == PL_U8)
		grey_row_u8(out, in, p->width, p->channels == 1);
	else
		grey_row_f32((float *)(void *)out, (const float *)(const void *)in, p->width,
			p->channels == 1);
}

static int grey_field(struct pl_run *r, int i)
{
	struct pl_tensor t = r->sample->value[r->in[i]];
	struct pl_picture in;
	unsigned char *out;
	int rc = pl_colour_in(r, i, &in);

	if (rc < 0)
		return rc;
	if (in.channels == 2 || in.channels == 4)
		return refuse_alpha("the picture", in.channels, r->err);
	t.shape[t.rank - 1] = 3;
	out = pl_run_out(r, i, t.dtype, t.rank, t.shape);
	if (!out)
		return pl_run_failed(r);
	for (int64_t f = 0; f < in.n_frames; f++) {
		for (int64_t y = 0; y < in.height; y++) {
			grey_row(out, in.data + f * in.frame_stride + y * in.row_stride, &in);
			out += in.width * 3 * (int64_t)pl_dtype_size(in.dtype);
		}
	}
	return 0;
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = grey_field(r, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_grayscale;
const struct pl_op pl_op_grayscale = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "grayscale",
	.help = "makes pictures grey, as three equal channels",
	.class_ = "photometric",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.takes = PL_KINDS_COLOUR,
	.infer = infer,
	.run = run,
};
