/* daemon/ops/image_format.c - tells picture formats apart by their first bytes. */
#include "daemon/ops/image_format.h"

#include <errno.h>
#include <stdio.h>

/* What a file begins with, at an offset. `decode` NULL: known, but not read here. */
struct signature {
	size_t offset;
	size_t n;
	const char *bytes;
	const char *name;
	int (*decode)(struct pl_decode *d);
};

static const struct signature signatures[] = {
	{0, 2, "\xff\xd8", "JPEG", pl_decode_jpeg},
	{0, 8, "\x89PNG\r\n\x1a\n", "PNG", pl_decode_png},
	{0, 4, "GIF8", "GIF", NULL},
	{0, 2, "BM", "BMP", NULL},
	{0, 4, "II*\0", "TIFF", NULL},
	{0, 4, "MM\0*", "TIFF", NULL},
	{0, 4, "8BPS", "PSD", NULL},
	{8, 4, "WEBP", "WebP", pl_decode_webp},
	{4, 8, "ftypavif", "AVIF", NULL},
	{4, 8, "ftypheic", "HEIC", NULL},
	{4, 8, "ftypmif1", "HEIF", NULL},
	{0, 12, "\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000", NULL},
	{0, 2, "\xff\x0a", "JPEG XL", NULL},
	{0, 8, "\0\0\0\x0cJXL ", "JPEG XL", NULL},
	{0, 4, "%PDF", "PDF", NULL},
	{0, 4, "PK\3\4", "a ZIP archive", NULL},
	{0, 2, "\x1f\x8b", "gzip data", NULL},
	{0, 9, "<!DOCTYPE", "a web page (a failed download?)", NULL},
	{0, 5, "<html", "a web page (a failed download?)", NULL},
	{0, 4, "<svg", "SVG", NULL},
	{0, 5, "<?xml", "XML or SVG", NULL},
};

static const struct signature *find_signature(const unsigned char *data, size_t n)
{
	for (size_t k = 0; k < PL_ARRAY_LEN(signatures); k++) {
		const struct signature *s = &signatures[k];

		if (n >= s->offset + s->n && memcmp(data + s->offset, s->bytes, s->n) == 0)
			return s;
	}
	return NULL;
}

static int unknown_format(const unsigned char *data, size_t n, struct pl_err *err)
{
	static const char png[] = "\x89PNG\r\n\x1a\n";
	char hex[16];

	if (n < 8 && memcmp(data, png, n) == 0)
		return pl_err_set(err, -EBADMSG, "truncated PNG: only %zu bytes", n);
	if (n >= 4 && (memcmp(data, png, 4) == 0 || memcmp(data, "\x09PNG", 4) == 0))
		return pl_err_set(err, -EBADMSG,
			"the PNG signature is damaged, as by a transfer in text mode (copy the "
			"file again in "
			"binary mode)");
	for (size_t k = 0; k < 4 && k < n; k++)
		(void)snprintf(hex + 3 * k, 4, " %02x", data[k]);
	return pl_err_set(err, -EBADMSG,
		"not a picture: %zu bytes that begin with%s (JPEG, PNG and WebP are supported)", n,
		hex);
}

int pl_image_format_of(
	const unsigned char *data, size_t n, struct pl_image_format *format, struct pl_err *err)
{
	const struct signature *s;

	if (n == 0)
		return pl_err_set(err, -EBADMSG, "the file is empty (0 bytes)");
	s = find_signature(data, n);
	if (!s)
		return unknown_format(data, n, err);
	if (!s->decode)
		return pl_err_set(err, -EBADMSG,
			"%s is not supported by this build (convert it to JPEG or PNG)", s->name);
	format->name = s->name;
	format->decode = s->decode;
	return 0;
}
