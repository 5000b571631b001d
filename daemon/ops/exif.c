/* daemon/ops/exif.c - the orientation that a camera wrote into a picture. */
#include "daemon/ops/exif.h"

#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT      3
#define TYPE_LONG       4
#define ENTRY_BYTES     12

struct block {
	const unsigned char *data;
	size_t n;
	bool is_big_endian;
};

/* The callers have checked that the bytes are there. */
static uint32_t read_u16(const struct block *b, size_t at)
{
	const unsigned char *p = b->data + at;

	return b->is_big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t read_u32(const struct block *b, size_t at)
{
	return b->is_big_endian ? read_u16(b, at) << 16 | read_u16(b, at + 2)
				: read_u16(b, at + 2) << 16 | read_u16(b, at);
}

static int orientation_of(const struct block *b, size_t entry)
{
	uint32_t type = read_u16(b, entry + 2);
	uint32_t count = read_u32(b, entry + 4);
	uint32_t value;

	if (count != 1 || (type != TYPE_SHORT && type != TYPE_LONG))
		return 1;
	value = type == TYPE_SHORT ? read_u16(b, entry + 8) : read_u32(b, entry + 8);
	return value >= 1 && value <= 8 ? (int)value : 1;
}

int pl_exif_orientation(const unsigned char *data, size_t n)
{
	struct block b = {data, n, false};
	size_t directory;
	size_t n_entries;

	if (n < 8 || (memcmp(data, "II*\0", 4) != 0 && memcmp(data, "MM\0*", 4) != 0))
		return 1;
	b.is_big_endian = data[0] == 'M';
	directory = read_u32(&b, 4);
	if (directory > n || n - directory < 2)
		return 1;
	n_entries = read_u16(&b, directory);
	for (size_t i = 0, at = directory + 2; i < n_entries; i++, at += ENTRY_BYTES) {
		if (n - at < ENTRY_BYTES)
			return 1;
		if (read_u16(&b, at) == TAG_ORIENTATION)
			return orientation_of(&b, at);
	}
	return 1;
}

bool pl_exif_is_transposed(int orientation)
{
	return orientation >= 5;
}

/* Where upright pixel (0, 0) lies in src, and the way from there to the next one in its row and in
 * its column. */
struct walk {
	int64_t start;
	int64_t along;
	int64_t down;
};

static struct walk walk_of(int64_t h, int64_t w, int orientation)
{
	switch (orientation) {
	case 2:
		return (struct walk){w - 1, -1, w};
	case 3:
		return (struct walk){h * w - 1, -1, -w};
	case 4:
		return (struct walk){(h - 1) * w, 1, -w};
	case 5:
		return (struct walk){0, w, 1};
	case 6:
		return (struct walk){(h - 1) * w, -w, 1};
	case 7:
		return (struct walk){h * w - 1, -w, -1};
	case 8:
		return (struct walk){w - 1, w, -1};
	default:
		return (struct walk){0, 1, w};
	}
}

/* Square tiles, so that a transposition touches few cache lines at a time. */
#define TILE 32

/* Called with a constant size, so that the copy of a pixel is a move. */
__attribute__((always_inline)) static inline void apply(const struct pl_exif_picture *p,
	const struct walk *walk, int64_t h, int64_t w, const size_t pixel)
{
	int64_t size = (int64_t)pixel;

	for (int64_t tile_y = 0; tile_y < h; tile_y += TILE) {
		for (int64_t tile_x = 0; tile_x < w; tile_x += TILE) {
			int64_t end_y = tile_y + TILE < h ? tile_y + TILE : h;
			int64_t end_x = tile_x + TILE < w ? tile_x + TILE : w;

			for (int64_t y = tile_y; y < end_y; y++)
				for (int64_t x = tile_x; x < end_x; x++)
					memcpy(p->dst + (y * w + x) * size,
						p->src + (walk->start + y * walk->down +
								 x * walk->along) *
								 size,
						pixel);
		}
	}
}

void pl_exif_apply(const struct pl_exif_picture *p, int orientation)
{
	struct walk walk = walk_of(p->height, p->width, orientation);
	bool is_transposed = pl_exif_is_transposed(orientation);
	int64_t h = is_transposed ? p->width : p->height;
	int64_t w = is_transposed ? p->height : p->width;

	switch (p->pixel) {
	case 1:
		apply(p, &walk, h, w, 1);
		return;
	case 3:
		apply(p, &walk, h, w, 3);
		return;
	case 4:
		apply(p, &walk, h, w, 4);
		return;
	default:
		apply(p, &walk, h, w, p->pixel);
	}
}
