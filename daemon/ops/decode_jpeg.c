/* daemon/ops/decode_jpeg.c - JPEG by libjpeg, with damage found instead of painted grey. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>

#include <jerror.h>
#include <jpeglib.h>

#include "daemon/ops/decode_image.h"
#include "daemon/ops/exif.h"

/*
 * libjpeg ends the data of a short file with an EOI marker of its own and goes on with grey; what
 * it says on the way is a warning. Here every warning that may mean wrong pixels is an error,
 * unless `truncated: accept`. No warning that means only odd bytes between segments is one, and
 * neither is a missing EOI after the last complete row of a file with a single scan. A decompressor
 * lives for one file: tables left by one file must never decode the next.
 */

/* More scans than this are an attack on time: each one is a pass over the whole picture. */
#define SCANS_MAX 500

/* Coefficients of a picture with several scans are all in memory: 2 bytes a value. */
#define COEFFICIENT_BYTES 2

struct jpeg {
	struct jpeg_decompress_struct info;
	struct jpeg_error_mgr errors;
	struct jpeg_source_mgr source;
	struct jpeg_progress_mgr progress;
	jmp_buf escape;
	struct pl_decode *decode;
	unsigned char *line; /* one row in libjpeg's colours, when they differ from the output's */
	bool is_exhausted;   /* all bytes were asked for, and more */
	bool is_ended;       /* truncated data are taken as complete from here on */
	bool is_out_of_scans;
	char warning[JMSG_LENGTH_MAX]; /* the first that may mean wrong pixels; "" = none */
	int orientation;
	int rc; /* kept here, for a local would not survive a jump */
};

static struct jpeg *jpeg_of(j_common_ptr info)
{
	return info->client_data;
}

static void lower_first(char *text)
{
	if (text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z'))
		text[0] = (char)(text[0] - 'A' + 'a');
}

static void on_error(j_common_ptr info)
{
	longjmp(jpeg_of(info)->escape, 1);
}

static bool is_harmless(int code)
{
	return code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR ||
	       code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_ICC;
}

static void on_message(j_common_ptr info, int level)
{
	static const char corrupt[] = "Corrupt JPEG data: ";
	struct jpeg *j = jpeg_of(info);
	char text[JMSG_LENGTH_MAX];

	if (level >= 0 || is_harmless(info->err->msg_code) || j->warning[0])
		return;
	info->err->format_message(info, text);
	(void)snprintf(j->warning, sizeof(j->warning), "%s",
		strncmp(text, corrupt, strlen(corrupt)) == 0 ? text + strlen(corrupt) : text);
	lower_first(j->warning);
}

static void source_init(j_decompress_ptr info)
{
	(void)info;
}

static void give_end_marker(struct jpeg *j)
{
	static const JOCTET end[] = {0xff, JPEG_EOI};

	j->source.next_input_byte = end;
	j->source.bytes_in_buffer = sizeof(end);
}

/* FALSE suspends libjpeg, which goes back to the last complete unit: there end_data lets it go on.
 */
static boolean source_fill(j_decompress_ptr info)
{
	struct jpeg *j = jpeg_of((j_common_ptr)info);

	j->is_exhausted = true;
	if (j->decode->accepts_truncated && !j->is_ended)
		return FALSE;
	give_end_marker(j);
	return TRUE;
}

/* After a suspension: half a segment or half a block counts as if it weren't there. False when that
 * was done before. */
static bool end_data(struct jpeg *j)
{
	if (j->is_ended)
		return false;
	j->is_ended = true;
	j->info.unread_marker = JPEG_EOI;
	give_end_marker(j);
	return true;
}

static void source_skip(j_decompress_ptr info, long n)
{
	struct jpeg_source_mgr *source = info->src;

	if (n <= 0)
		return;
	if ((size_t)n > source->bytes_in_buffer)
		n = (long)source->bytes_in_buffer;
	source->next_input_byte += n;
	source->bytes_in_buffer -= (size_t)n;
}

static void on_progress(j_common_ptr info)
{
	struct jpeg *j = jpeg_of(info);

	if (!info->is_decompressor || j->info.input_scan_number <= SCANS_MAX)
		return;
	j->is_out_of_scans = true;
	longjmp(j->escape, 1);
}

static void jpeg_begin(struct jpeg *j)
{
	const struct pl_decode *d = j->decode;

	j->info.err = jpeg_std_error(&j->errors);
	j->errors.error_exit = on_error;
	j->errors.emit_message = on_message;
	j->info.client_data = j;
	jpeg_create_decompress(&j->info);
	j->source = (struct jpeg_source_mgr){
		.next_input_byte = d->data,
		.bytes_in_buffer = d->n,
		.init_source = source_init,
		.fill_input_buffer = source_fill,
		.skip_input_data = source_skip,
		.resync_to_restart = jpeg_resync_to_restart,
		.term_source = source_init,
	};
	j->info.src = &j->source;
	j->progress.progress_monitor = on_progress;
	j->info.progress = &j->progress;
	if (d->is_oriented)
		jpeg_save_markers(&j->info, JPEG_APP0 + 1, 0xffff);
}

static int orientation_of(const struct jpeg *j)
{
	for (jpeg_saved_marker_ptr m = j->info.marker_list; m; m = m->next)
		if (m->data_length > 6 && memcmp(m->data, "Exif\0\0", 6) == 0)
			return pl_exif_orientation(m->data + 6, m->data_length - 6);
	return 1;
}

/* What libjpeg shall deliver, and the channels that become of it; 0 for a colour space that isn't
 * handled. */
static int choose_colours(struct jpeg *j)
{
	struct jpeg_decompress_struct *info = &j->info;
	enum pl_channels wanted = j->decode->channels;
	bool is_grey = info->jpeg_color_space == JCS_GRAYSCALE;

	if (info->jpeg_color_space == JCS_UNKNOWN)
		return 0;
	if (info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK)
		info->out_color_space = JCS_CMYK;
	else if (is_grey && (wanted == PL_CHANNELS_GREY || wanted == PL_CHANNELS_AS_IS))
		info->out_color_space = JCS_GRAYSCALE;
	else
		info->out_color_space = wanted == PL_CHANNELS_RGBA ? JCS_EXT_RGBA : JCS_RGB;
	if (wanted == PL_CHANNELS_AS_IS)
		return is_grey ? 1 : 3;
	return wanted == PL_CHANNELS_GREY ? 1 : wanted == PL_CHANNELS_RGBA ? 4 : 3;
}

/* Pillow's arithmetic for inverted (Adobe) CMYK, which is how practically all such files are
 * stored. */
static void cmyk_to_rgb(unsigned char *pixel, int64_t n)
{
	unsigned char *rgb = pixel;

	for (int64_t i = 0; i < n; i++, pixel += 4, rgb += 3) {
		int key = pixel[3];

		for (int c = 0; c < 3; c++) {
			int t = (255 - pixel[c]) * key + 128;
			int v = key - ((t + (t >> 8)) >> 8);

			rgb[c] = (unsigned char)(v < 0 ? 0 : v);
		}
	}
}

static void rgb_to_rgba(unsigned char *out, const unsigned char *rgb, int64_t n)
{
	for (int64_t i = 0; i < n; i++, out += 4, rgb += 3) {
		memcpy(out, rgb, 3);
		out[3] = 255;
	}
}

/* From libjpeg's row, j->line, to the output's channels at u8. */
static void convert_line(struct jpeg *j, unsigned char *out, int64_t n_channels)
{
	int64_t n = j->info.output_width;

	if (j->info.out_color_space == JCS_CMYK)
		cmyk_to_rgb(j->line, n);
	if (n_channels == 1 && j->info.out_color_space != JCS_GRAYSCALE)
		pl_grey_of_rgb8(out, j->line, n, 3);
	else if (n_channels == 4 && j->info.out_color_space == JCS_CMYK)
		rgb_to_rgba(out, j->line, n);
	else
		memcpy(out, j->line, (size_t)(n * n_channels));
}

/* u8 values at the front of a row spread out to u16, last first. */
static void widen_line(void *row, int64_t n)
{
	const unsigned char *from = row;
	uint16_t *to = row;

	for (int64_t i = n - 1; i >= 0; i--)
		to[i] = (uint16_t)(from[i] * 257);
}

/* A mask keeps its numbers. */
static void widen_mask_line(void *row, int64_t n)
{
	const unsigned char *from = row;
	uint16_t *to = row;

	for (int64_t i = n - 1; i >= 0; i--)
		to[i] = from[i];
}

static void read_lines(struct jpeg *j)
{
	struct pl_decode *d = j->decode;
	int64_t n = d->width * d->n_channels;
	int64_t row_bytes = n * (d->is_16_bit ? 2 : 1);

	while (j->info.output_scanline < j->info.output_height) {
		unsigned char *row =
			(unsigned char *)d->pixels + j->info.output_scanline * row_bytes;
		JSAMPROW target = j->line ? j->line : row;

		if (jpeg_read_scanlines(&j->info, &target, 1) != 1) {
			if (!end_data(j))
				return;
			continue;
		}
		if (j->line)
			convert_line(j, row, d->n_channels);
		if (d->is_16_bit && d->is_mask && d->channels == PL_CHANNELS_AS_IS)
			widen_mask_line(row, n);
		else if (d->is_16_bit)
			widen_line(row, n);
	}
}

/* The pixels are all there, but some of them may be wrong. */
static int fail(const struct jpeg *j)
{
	struct pl_err *err = j->decode->r->err;

	if (j->is_exhausted)
		return pl_err_set(err, -EBADMSG,
			"truncated JPEG: premature end of data (set truncated: accept to keep what "
			"there is)");
	return pl_err_set(err, -EBADMSG,
		"damaged JPEG: %s (set truncated: accept to keep what there is)", j->warning);
}

/* There is nothing to keep. */
static int fail_fatally(struct jpeg *j)
{
	char reason[JMSG_LENGTH_MAX];
	struct pl_err *err = j->decode->r->err;

	if (j->is_out_of_scans)
		return pl_err_set(err, -EBADMSG,
			"the JPEG has more than %d scans, which only an attack has", SCANS_MAX);
	j->errors.format_message((j_common_ptr)&j->info, reason);
	lower_first(reason);
	if (j->is_exhausted)
		return pl_err_set(
			err, -EBADMSG, "truncated JPEG: premature end of data (%s)", reason);
	return pl_err_set(err, -EBADMSG, "the JPEG can't be decoded: %s", reason);
}

/* Several scans take the memory of all coefficients at once, which libjpeg allocates itself. */
static int check_coefficients(const struct jpeg *j)
{
	const struct pl_decode *d = j->decode;
	const struct pl_scratch *s = d->r->sample->scratch;
	size_t bytes = 0;

	if (!jpeg_has_multiple_scans((j_decompress_ptr)(uintptr_t)&j->info))
		return 0;
	for (int c = 0; c < j->info.num_components; c++)
		bytes += (size_t)j->info.comp_info[c].width_in_blocks *
			 j->info.comp_info[c].height_in_blocks * DCTSIZE2 * COEFFICIENT_BYTES;
	if (bytes <= s->limit - s->taken)
		return 0;
	return pl_err_set(d->r->err, -EMSGSIZE,
		"the progressive JPEG of %ux%u pixels needs %zu bytes to decode, more than a "
		"sample may take",
		j->info.image_width, j->info.image_height, bytes);
}

static int begin_pixels(struct jpeg *j)
{
	struct pl_decode *d = j->decode;
	int n_channels = choose_colours(j);
	int rc;

	if (n_channels == 0)
		return pl_err_set(d->r->err, -EBADMSG,
			"the JPEG has %d components in an unknown colour space",
			j->info.num_components);
	if (d->is_mask && n_channels != 1)
		return pl_err_set(d->r->err, -EBADMSG,
			"a mask needs one channel, but this JPEG is in colour (set channels: "
			"grey)");
	rc = pl_decode_begin(
		d, j->info.image_height, j->info.image_width, n_channels, j->orientation);
	if (rc < 0)
		return rc;
	if (j->info.out_color_space == JCS_CMYK ||
		(n_channels == 1 && j->info.out_color_space != JCS_GRAYSCALE)) {
		j->line = pl_run_scratch(d->r, (size_t)d->width * 4);
		if (!j->line)
			return pl_run_failed(d->r);
	}
	return check_coefficients(j);
}

/* Everything that may jump: libjpeg is not called outside. No local lives across a jump. */
static int decode(struct jpeg *j)
{
	if (setjmp(j->escape))
		return fail_fatally(j);
	jpeg_begin(j);
	if (jpeg_read_header(&j->info, TRUE) != JPEG_HEADER_OK)
		return pl_err_set(j->decode->r->err, -EBADMSG,
			"truncated JPEG: premature end of data, before the first pixel");
	j->orientation = j->decode->is_oriented ? orientation_of(j) : 1;
	j->rc = begin_pixels(j);
	if (j->rc < 0)
		return j->rc;
	while (!jpeg_start_decompress(&j->info))
		if (!end_data(j))
			break;
	read_lines(j);
	return 0;
}

int pl_decode_jpeg(struct pl_decode *d)
{
	struct jpeg j = {.decode = d};
	int rc = decode(&j);

	if (rc == 0 && !d->accepts_truncated &&
		(j.warning[0] || (j.is_exhausted && jpeg_has_multiple_scans(&j.info))))
		rc = fail(&j);
	jpeg_destroy_decompress(&j.info);
	return rc < 0 ? rc : pl_decode_end(d, j.orientation);
}
