/* daemon/ops/decode_webp.c - WebP by libwebp, one picture a file. */
#include <errno.h>

#include <webp/decode.h>

#include "daemon/ops/decode_image.h"
#include "daemon/ops/exif.h"

/*
 * A RIFF container: a head that says how long the file is, then chunks, each a name of four
 * letters, a length, and bytes padded to an even number. The head's length is believed: what lies
 * behind it is ignored, and a file that is shorter is truncated, as libwebp itself has it. libwebp
 * decodes to RGB or RGBA of 8 bits, straight into the output where that is wanted.
 */
#define RIFF_HEAD_BYTES  12
#define CHUNK_HEAD_BYTES 8
#define FORMAT_LOSSY     1

struct webp {
	struct pl_decode *decode;
	WebPDecoderConfig config;
	int orientation;
};

static uint32_t read_u32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int fail(const struct webp *w, VP8StatusCode status)
{
	const struct pl_decode *d = w->decode;

	switch (status) {
	case VP8_STATUS_OUT_OF_MEMORY:
		return pl_err_set(d->r->err, -ENOMEM, "out of memory for a WebP");
	case VP8_STATUS_NOT_ENOUGH_DATA:
	case VP8_STATUS_SUSPENDED:
		return pl_err_set(d->r->err, -EBADMSG, "truncated WebP: premature end of data%s",
			d->accepts_truncated ? ""
					     : " (set truncated: accept to keep what there is)");
	case VP8_STATUS_UNSUPPORTED_FEATURE:
		return pl_err_set(
			d->r->err, -EBADMSG, "the WebP uses a feature that libwebp doesn't decode");
	default:
		return pl_err_set(d->r->err, -EBADMSG, "damaged WebP: not a valid bit stream");
	}
}

/* The payload of the first chunk of that name, NULL when there is none before the data end. */
static const unsigned char *find_chunk(const struct pl_decode *d, const char *name, size_t *n)
{
	size_t at = RIFF_HEAD_BYTES;

	while (d->n - at >= CHUNK_HEAD_BYTES) {
		const unsigned char *chunk = d->data + at;
		size_t length = read_u32(chunk + 4);
		size_t padded = length + length % 2;

		at += CHUNK_HEAD_BYTES;
		if (length > d->n - at)
			return NULL;
		if (memcmp(chunk, name, 4) == 0) {
			*n = length;
			return d->data + at;
		}
		at += padded < d->n - at ? padded : d->n - at;
	}
	return NULL;
}

/* Some writers put the mark of JPEG's segment before the block. */
static int orientation_of(const struct pl_decode *d)
{
	static const char mark[6] = "Exif\0";
	size_t n = 0;
	const unsigned char *exif = find_chunk(d, "EXIF", &n);

	if (!exif)
		return 1;
	if (n >= sizeof(mark) && memcmp(exif, mark, sizeof(mark)) == 0)
		return pl_exif_orientation(exif + sizeof(mark), n - sizeof(mark));
	return pl_exif_orientation(exif, n);
}

static int read_head(struct webp *w)
{
	const struct pl_decode *d = w->decode;
	VP8StatusCode status = WebPGetFeatures(d->data, d->n, &w->config.input);

	if (status != VP8_STATUS_OK)
		return fail(w, status);
	if (w->config.input.has_animation)
		return pl_err_set(d->r->err, -EBADMSG,
			"the WebP is an animation, and only single pictures are decoded (extract "
			"the frames before)");
	if (!d->accepts_truncated && read_u32(d->data + 4) > d->n - CHUNK_HEAD_BYTES)
		return fail(w, VP8_STATUS_NOT_ENOUGH_DATA);
	if (d->is_mask && d->channels != PL_CHANNELS_GREY)
		return pl_err_set(d->r->err, -EBADMSG,
			"a mask needs one channel, but a WebP is always in colour (set channels: "
			"grey)");
	w->orientation = d->is_oriented ? orientation_of(d) : 1;
	return 0;
}

/* libwebp itself holds a lossless picture, or a lossy one's alpha, as four bytes a pixel. */
static int check_memory(const struct webp *w)
{
	const struct pl_decode *d = w->decode;
	const struct pl_scratch *s = d->r->sample->scratch;
	size_t bytes = 4 * (size_t)d->height * (size_t)d->width;

	if (w->config.input.format == FORMAT_LOSSY && !w->config.input.has_alpha)
		return 0;
	if (bytes <= s->limit - s->taken)
		return 0;
	return pl_err_set(d->r->err, -EMSGSIZE,
		"the WebP of %dx%d pixels needs %zu bytes to decode, more than a sample may take",
		w->config.input.width, w->config.input.height, bytes);
}

static int64_t n_channels_of(const struct webp *w)
{
	switch (w->decode->channels) {
	case PL_CHANNELS_GREY:
		return 1;
	case PL_CHANNELS_RGBA:
		return 4;
	case PL_CHANNELS_AS_IS:
		return w->config.input.has_alpha ? 4 : 3;
	default:
		return 3;
	}
}

/* What there is of a file that is cut off: rows that were not reached stay as they are. */
static VP8StatusCode decode_what_there_is(struct webp *w)
{
	WebPIDecoder *decoder = WebPIDecode(NULL, 0, &w->config);
	VP8StatusCode status;

	if (!decoder)
		return VP8_STATUS_OUT_OF_MEMORY;
	status = WebPIUpdate(decoder, w->decode->data, w->decode->n);
	WebPIDelete(decoder);
	return status == VP8_STATUS_OUT_OF_MEMORY ? status : VP8_STATUS_OK;
}

static int decode_pixels(struct webp *w, unsigned char *pixels, int64_t n_channels)
{
	const struct pl_decode *d = w->decode;
	WebPDecBuffer *out = &w->config.output;
	VP8StatusCode status;

	out->colorspace = n_channels == 4 ? MODE_RGBA : MODE_RGB;
	out->is_external_memory = 1;
	out->u.RGBA.rgba = pixels;
	out->u.RGBA.stride = (int)(d->width * n_channels);
	out->u.RGBA.size = (size_t)(d->height * d->width * n_channels);
	status = d->accepts_truncated ? decode_what_there_is(w)
				      : WebPDecode(d->data, d->n, &w->config);
	WebPFreeDecBuffer(out);
	return status == VP8_STATUS_OK ? 0 : fail(w, status);
}

/* Through 8 bits of rgb or rgba to grey or to 16 bits. */
static int convert(struct webp *w)
{
	const struct pl_decode *d = w->decode;
	int64_t n = d->height * d->width;
	int64_t n_values = n * d->n_channels;
	int64_t n_decoded = d->n_channels == 4 ? 4 : 3;
	unsigned char *pixels = pl_run_scratch(d->r, (size_t)(n * n_decoded));
	int rc;

	if (!pixels)
		return pl_run_failed(d->r);
	if (d->accepts_truncated)
		memset(pixels, 0, (size_t)(n * n_decoded));
	rc = decode_pixels(w, pixels, n_decoded);
	if (rc < 0)
		return rc;
	if (d->n_channels == 1)
		pl_grey_of_rgb8(d->is_16_bit ? pixels : d->pixels, pixels, n, 3);
	for (int64_t i = 0; d->is_16_bit && i < n_values; i++)
		((uint16_t *)d->pixels)[i] = (uint16_t)(pixels[i] * 257);
	return 0;
}

static int decode(struct webp *w)
{
	struct pl_decode *d = w->decode;
	int rc = read_head(w);

	if (rc == 0)
		rc = pl_decode_begin(d, w->config.input.height, w->config.input.width,
			n_channels_of(w), w->orientation);
	if (rc == 0)
		rc = check_memory(w);
	if (rc < 0)
		return rc;
	if (d->n_channels == 1 || d->is_16_bit)
		rc = convert(w);
	else
		rc = decode_pixels(w, d->pixels, d->n_channels);
	return rc < 0 ? rc : pl_decode_end(d, w->orientation);
}

int pl_decode_webp(struct pl_decode *d)
{
	struct webp w = {.decode = d, .orientation = 1};

	if (!WebPInitDecoderConfig(&w.config))
		return pl_err_set(d->r->err, -EINVAL,
			"the installed libwebp is not the one this program was built for");
	return decode(&w);
}
