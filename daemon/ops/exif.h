/* daemon/ops/exif.h - the orientation that a camera wrote into a picture. */
#pragma once

#include "proto/base.h"

/*
 * The orientation in a TIFF block as EXIF has it (beginning with II or MM): 1 to 8, and 1 for
 * everything that isn't a valid block with a valid tag of type SHORT or LONG in its first
 * directory.
 */
int pl_exif_orientation(const unsigned char *data, size_t n);

/* Pixels of `pixel` bytes, rows without gaps. */
struct pl_exif_picture {
	const unsigned char *src;
	unsigned char *dst;
	int64_t height; /* of src; dst has them exchanged for orientations 5 to 8 */
	int64_t width;
	size_t pixel;
};

/* True when the orientation exchanges height and width. */
bool pl_exif_is_transposed(int orientation);

/* Turns and mirrors src so that it stands upright in dst; no overlap. */
void pl_exif_apply(const struct pl_exif_picture *p, int orientation);
