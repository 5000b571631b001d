/* daemon/ops/decode_image.c - the bytes of a JPEG, PNG or WebP file to pixels. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/ops/decode_image.h"
#include "daemon/ops/exif.h"
#include "daemon/ops/image_format.h"
#include "daemon/ops/picture.h"

/*
 * The format is found in the bytes, never in the name. Pixels equal Pillow's: for JPEG those of
 * libjpeg's accurate integer DCT with smooth chroma upsampling; CMYK goes to RGB without colour
 * management; grey of a colour picture is (19595 r + 38470 g + 7471 b) / 2^16. Palettes and colour
 * keys are expanded; `rgb` drops alpha without blending; 16-bit values lose their low byte at depth
 * 8, and 8-bit ones are multiplied by 257 at depth 16. A mask has one channel, and with as_is it
 * keeps the file's numbers: palette indices, and grey of few bits unscaled.
 */
struct decode_image_params {
	int kind;
	int channels;
	int depth;
	int orient;
	int truncated;
	bool exact;
	int64_t max_pixels;
};

enum {
	KIND_IMAGE,
	KIND_MASK,
};

enum {
	DEPTH_8,
	DEPTH_16,
};

enum {
	ORIENT_DEFAULT,
	ORIENT_TRUE,
	ORIENT_FALSE,
};

enum {
	TRUNCATED_ERROR,
	TRUNCATED_ACCEPT,
};

#define AT(member) offsetof(struct decode_image_params, member)

static const char *const kinds[] = {"image", "mask", NULL};
static const char *const channel_names[] = {"default", "rgb", "rgba", "grey", "as_is", NULL};
static const char *const depths[] = {"8", "16", NULL};
static const char *const orients[] = {"default", "true", "false", NULL};
static const char *const truncations[] = {"error", "accept", NULL};

static const struct pl_param params[] = {
	{.key = "kind",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(kind),
		.def = "image",
		.choices = kinds,
		.help = "image: u8 [h, w, c]; mask: [h, w], resized nearest and padded with 255 "
			"later"},
	{.key = "channels",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(channels),
		.def = "default",
		.choices = channel_names,
		.help = "default is rgb for an image and as_is for a mask; rgb drops alpha without "
			"blending; as_is is what the file has, 1 to 4, palettes expanded, but a "
			"mask keeps its indices"},
	{.key = "depth",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(depth),
		.def = "8",
		.choices = depths,
		.unit = "bits",
		.help = "8: 16-bit values lose their low byte; 16: u16, where 8-bit values are "
			"multiplied by 257, but a mask keeps its numbers"},
	{.key = "orient",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(orient),
		.def = "default",
		.choices = orients,
		.help = "turn the picture upright as its EXIF data says; default is true for an "
			"image and false for a mask"},
	{.key = "truncated",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(truncated),
		.def = "error",
		.choices = truncations,
		.help = "error: a file that is cut off or damaged is refused, unless only its end "
			"mark is missing or odd bytes stand between segments; accept: keep what "
			"can be read, the rest is grey or black"},
	{.key = "exact",
		.kind = PL_PARAM_BOOL,
		.offset = AT(exact),
		.def = "false",
		.help = "never decode at reduced size or with faster arithmetic; no step does so "
			"yet"},
	{.key = "max_pixels",
		.kind = PL_PARAM_INT,
		.offset = AT(max_pixels),
		.def = "178956970",
		.min = 1,
		.max = (double)PL_SIDE_MAX * PL_SIDE_MAX,
		.unit = "pixels",
		.help = "larger pictures are refused before memory is taken"},
	{0},
};

static enum pl_channels channels_of(const struct decode_image_params *p)
{
	if (p->channels != PL_CHANNELS_DEFAULT)
		return (enum pl_channels)p->channels;
	return p->kind == KIND_MASK ? PL_CHANNELS_AS_IS : PL_CHANNELS_RGB;
}

static int check(void *params_, struct pl_err *err)
{
	const struct decode_image_params *p = params_;
	enum pl_channels channels = channels_of(p);

	if (p->kind == KIND_MASK && channels != PL_CHANNELS_AS_IS && channels != PL_CHANNELS_GREY)
		return pl_err_set(err, -EINVAL,
			"a mask has one channel: channels must be as_is or grey, not %s",
			channel_names[p->channels]);
	return 0;
}

static const char *output(const void *params_, enum pl_kind kind)
{
	const struct decode_image_params *p = params_;

	(void)kind;
	return p->kind == KIND_MASK ? "mask" : "image";
}

static struct pl_type type_of(const struct decode_image_params *p)
{
	static const int64_t n_channels[] = {
		[PL_CHANNELS_RGB] = 3,
		[PL_CHANNELS_RGBA] = 4,
		[PL_CHANNELS_GREY] = 1,
		[PL_CHANNELS_AS_IS] = -1,
	};
	struct pl_type t = pl_type_image(-1, -1, n_channels[channels_of(p)]);

	if (p->kind == KIND_MASK) {
		t.kind = PL_KIND_MASK;
		t.rank = 2;
	}
	t.dtype = p->depth == DEPTH_16 ? PL_U16 : PL_U8;
	return t;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	char text[256];

	for (int i = 0; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];

		if (t->kind != PL_KIND_BYTES || t->dtype != PL_U8 || t->rank != 1)
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, but decode_image takes the bytes of a file, u8 "
				"[n]%s",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), t),
				t->kind == PL_KIND_IMAGE ? " (it is decoded already)" : "");
		io->type[io->out[i]] = type_of(params_);
	}
	return 0;
}

static int too_large(struct pl_decode *d, int64_t height, int64_t width)
{
	if (height > PL_SIDE_MAX || width > PL_SIDE_MAX)
		return pl_err_set(d->r->err, -EMSGSIZE,
			"the %s is %" PRId64 "x%" PRId64
			" pixels, but no side may be longer than %d",
			d->format, width, height, PL_SIDE_MAX);
	return pl_err_set(d->r->err, -EMSGSIZE,
		"the %s is %" PRId64 "x%" PRId64 " pixels, more than max_pixels: %" PRId64
		" (raise it if this "
		"is no bomb)",
		d->format, width, height, d->max_pixels);
}

static void *out_room(struct pl_decode *d, int64_t height, int64_t width)
{
	int64_t shape[3] = {height, width, d->n_channels};

	return pl_run_out(d->r, d->i, d->is_16_bit ? PL_U16 : PL_U8, d->is_mask ? 2 : 3, shape);
}

int pl_decode_begin(
	struct pl_decode *d, int64_t height, int64_t width, int64_t n_channels, int orientation)
{
	size_t bytes = (size_t)n_channels * (d->is_16_bit ? 2 : 1);

	if (height > PL_SIDE_MAX || width > PL_SIDE_MAX || height * width > d->max_pixels)
		return too_large(d, height, width);
	if (height < 1 || width < 1)
		return pl_err_set(d->r->err, -EBADMSG, "the %s has no pixels: %" PRId64 "x%" PRId64,
			d->format, width, height);
	bytes *= (size_t)height * (size_t)width;
	d->height = height;
	d->width = width;
	d->n_channels = n_channels;
	d->pixels = orientation == 1 ? out_room(d, height, width) : pl_run_scratch(d->r, bytes);
	if (!d->pixels)
		return pl_run_failed(d->r);
	if (d->accepts_truncated)
		memset(d->pixels, 0, bytes);
	return 0;
}

/* An orientation that was found only after the pixels were written to the output. */
static int move_to_scratch(struct pl_decode *d, size_t bytes)
{
	void *copy;

	if (d->pixels != d->r->sample->value[d->r->out[d->i]].data)
		return 0;
	copy = pl_run_scratch(d->r, bytes);
	if (!copy)
		return pl_run_failed(d->r);
	memcpy(copy, d->pixels, bytes);
	d->pixels = copy;
	return 0;
}

int pl_decode_end(struct pl_decode *d, int orientation)
{
	struct pl_exif_picture p = {.height = d->height,
		.width = d->width,
		.pixel = (size_t)d->n_channels * (d->is_16_bit ? 2 : 1)};
	bool is_transposed = pl_exif_is_transposed(orientation);
	int rc;

	if (orientation == 1)
		return 0;
	rc = move_to_scratch(d, (size_t)d->height * (size_t)d->width * p.pixel);
	if (rc < 0)
		return rc;
	p.src = d->pixels;
	p.dst = out_room(
		d, is_transposed ? d->width : d->height, is_transposed ? d->height : d->width);
	if (!p.dst)
		return pl_run_failed(d->r);
	pl_exif_apply(&p, orientation);
	return 0;
}

void pl_grey_of_rgb8(unsigned char *out, const unsigned char *rgb, int64_t n, int step)
{
	for (int64_t i = 0; i < n; i++, rgb += step)
		out[i] = (unsigned char)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u +
						 0x8000u) >>
					 16);
}

void pl_grey_of_rgb16(uint16_t *out, const uint16_t *rgb, int64_t n, int step)
{
	for (int64_t i = 0; i < n; i++, rgb += step)
		out[i] =
			(uint16_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >>
				   16);
}

static int decode_file(struct pl_decode *d)
{
	struct pl_image_format format;
	int rc = pl_image_format_of(d->data, d->n, &format, d->r->err);

	if (rc < 0)
		return rc;
	d->format = format.name;
	return format.decode(d);
}

static int decode_field(struct pl_run *r, const struct decode_image_params *p, int i)
{
	struct pl_decode d = {
		.r = r,
		.i = i,
		.n = (size_t)pl_tensor_bytes(&r->sample->value[r->in[i]]),
		.channels = channels_of(p),
		.is_mask = p->kind == KIND_MASK,
		.is_16_bit = p->depth == DEPTH_16,
		.accepts_truncated = p->truncated == TRUNCATED_ACCEPT,
		.max_pixels = p->max_pixels,
	};

	d.is_oriented = p->orient == ORIENT_DEFAULT ? !d.is_mask : p->orient == ORIENT_TRUE;
	d.data = pl_run_contiguous(r, i);
	if (!d.data && d.n > 0)
		return pl_run_failed(r);
	return decode_file(&d);
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = decode_field(r, r->params, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_decode_image;
const struct pl_op pl_op_decode_image = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "decode_image",
	.help = "the bytes of a JPEG, PNG or WebP file to pixels",
	.class_ = "decode",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_ONE_FIELD | PL_OP_CONSUMES,
	.takes = PL_KIND_BIT(PL_KIND_BYTES),
	.to = "image",
	.params = params,
	.params_size = sizeof(struct decode_image_params),
	.check = check,
	.output = output,
	.infer = infer,
	.run = run,
};
