/* tests/unit/test_ops_exif.c - reading the orientation, and the eight ways to turn a picture. */
#include <criterion/criterion.h>

#include "daemon/ops/exif.h"

Test(ops_exif, blocks)
{
	static const unsigned char big[] =
		"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
	static const unsigned char little[] = "II*"
					      "\0\x08\0\0\0\x02\0\x0f\x01\x03\0\x01\0\0\0\x02\0\0\0"
					      "\x12\x01\x04\0\x01\0\0\0\x03\0\0\0";
	unsigned char copy[sizeof(little)];

	cr_expect(pl_exif_orientation(big, sizeof(big) - 1) == 6);
	cr_expect(pl_exif_orientation(little, sizeof(little) - 1) == 3);
	cr_expect(pl_exif_orientation((const unsigned char *)"", 0) == 1);
	cr_expect(pl_exif_orientation((const unsigned char *)"XX*\0\0\0\0\0", 8) == 1);
	for (size_t n = 0; n < sizeof(little) - 1; n++) {
		unsigned char *cut = malloc(n + 1);

		memcpy(cut, little, n);
		cr_expect(pl_exif_orientation(cut, n) == 1, "%zu bytes", n);
		free(cut);
	}
	memcpy(copy, little, sizeof(copy));
	copy[30] = 9;
	cr_expect(pl_exif_orientation(copy, sizeof(copy) - 1) == 1, "9 is no orientation");
	copy[30] = 3;
	copy[26] = 2;
	cr_expect(pl_exif_orientation(copy, sizeof(copy) - 1) == 1, "two values are none");
	memcpy(copy, little, sizeof(copy));
	memset(copy + 4, 0xff, 4);
	cr_expect(pl_exif_orientation(copy, sizeof(copy) - 1) == 1, "a directory far outside");
}

/* 12 / 34 / 56 upright, by EXIF's definition of the eight. */
Test(ops_exif, the_eight_ways)
{
	static const char *const upright[9] = {
		"", "123456", "214365", "654321", "563412", "135246", "531642", "642531", "246135"};

	for (int orientation = 1; orientation <= 8; orientation++) {
		for (size_t pixel = 1; pixel <= 12; pixel++) {
			unsigned char src[6 * 12];
			unsigned char dst[6 * 12];
			struct pl_exif_picture p = {src, dst, 3, 2, pixel};

			for (size_t i = 0; i < 6 * pixel; i++)
				src[i] = (unsigned char)('1' + i / pixel);
			pl_exif_apply(&p, orientation);
			for (size_t i = 0; i < 6 * pixel; i++)
				cr_assert(dst[i] == (unsigned char)upright[orientation][i / pixel],
					"orientation %d, pixel %zu of %zu bytes", orientation,
					i / pixel, pixel);
		}
	}
}
