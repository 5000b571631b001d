/* daemon/ops/image_format.h - tells picture formats apart by their first bytes, never by a name. */
#pragma once

#include "daemon/ops/decode_image.h"

struct pl_image_format {
	const char *name; /* "JPEG" */
	int (*decode)(struct pl_decode *d);
};

/* Fills *format. -EBADMSG with err naming what the bytes are when this build doesn't read them, or
 * when they are nothing it knows. */
int pl_image_format_of(const unsigned char *data, size_t n, struct pl_image_format *format,
	struct pl_err *err) PL_MUST_CHECK;
