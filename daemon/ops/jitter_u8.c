/* daemon/ops/jitter_u8.c - brightness, contrast, saturation and hue of u8 frames, bit for bit
 * Pillow's. */
#include <math.h>

#include "daemon/ops/decode_image.h"
#include "daemon/ops/jitter.h"

#define GREY_BLOCK 1024

/* from + factor * (to - from) in f32, cut to an integer and limited. */
static unsigned char blend(int from, int to, float factor)
{
	float v = (float)from + factor * (float)(to - from);

	return v <= 0 ? 0 : v >= PL_COLOUR_MAX ? PL_COLOUR_MAX : (unsigned char)v;
}

/* Brightness and contrast: every value is blended with one and the same. */
static void blend_with(const struct pl_frame *f, int from, float factor)
{
	unsigned char table[PL_COLOUR_MAX + 1];
	int n_colours = pl_frame_n_colours(f);
	unsigned char *v = f->data;

	for (int k = 0; k <= PL_COLOUR_MAX; k++)
		table[k] = blend(from, k, factor);
	for (int64_t i = 0; i < f->n; i++, v += f->channels)
		for (int c = 0; c < n_colours; c++)
			v[c] = table[v[c]];
}

static int mean_grey(const struct pl_frame *f)
{
	const unsigned char *v = f->data;
	unsigned char grey[GREY_BLOCK];
	uint64_t sum = 0;

	for (int64_t i = 0; i < f->n; i += GREY_BLOCK) {
		int64_t n = f->n - i < GREY_BLOCK ? f->n - i : GREY_BLOCK;

		if (pl_frame_n_colours(f) == 3)
			pl_grey_of_rgb8(grey, v + i * f->channels, n, f->channels);
		for (int64_t k = 0; k < n; k++)
			sum += pl_frame_n_colours(f) == 3 ? grey[k] : v[(i + k) * f->channels];
	}
	return (int)((double)sum / (double)f->n + 0.5);
}

static void saturate(const struct pl_frame *f, float factor)
{
	unsigned char *v = f->data;
	unsigned char grey[GREY_BLOCK];

	for (int64_t i = 0; i < f->n; i += GREY_BLOCK) {
		int64_t n = f->n - i < GREY_BLOCK ? f->n - i : GREY_BLOCK;

		pl_grey_of_rgb8(grey, v, n, f->channels);
		for (int64_t k = 0; k < n; k++, v += f->channels)
			for (int c = 0; c < 3; c++)
				v[c] = blend(grey[k], v[c], factor);
	}
}

struct hsv {
	int hue;
	int saturation;
	int value;
};

static int largest(int a, int b, int c)
{
	int d = a > b ? a : b;

	return d > c ? d : c;
}

static int smallest(int a, int b, int c)
{
	int d = a < b ? a : b;

	return d < c ? d : c;
}

/* Foley and van Dam's hexagon, in the precisions that Pillow rounds to on the way. */
static struct hsv hsv_of(const unsigned char *rgb)
{
	int value = largest(rgb[0], rgb[1], rgb[2]);
	float range = (float)(value - smallest(rgb[0], rgb[1], rgb[2]));
	float r = (float)(value - rgb[0]) / range;
	float g = (float)(value - rgb[1]) / range;
	float b = (float)(value - rgb[2]) / range;
	double turns;
	float h;

	if (range == 0)
		return (struct hsv){0, 0, value};
	if (rgb[0] == value)
		h = b - g;
	else if (rgb[1] == value)
		h = (float)(2.0 + (double)r - (double)b);
	else
		h = (float)(4.0 + (double)g - (double)r);
	turns = (double)h / 6.0 + 1.0;
	h = (float)(turns >= 1.0 ? turns - 1.0 : turns);
	return (struct hsv){(int)((double)h * PL_COLOUR_MAX),
		(int)((double)(range / (float)value) * PL_COLOUR_MAX), value};
}

static unsigned char scaled(int value, double share)
{
	return (unsigned char)(float)round((double)value * share);
}

static void rgb_of(const struct hsv *c, unsigned char *rgb)
{
	double sixths = (double)c->hue * 6.0 / PL_COLOUR_MAX;
	int sector = (int)sixths;
	float rest = (float)(sixths - sector);
	float saturation = (float)((double)c->saturation / PL_COLOUR_MAX);
	unsigned char low = scaled(c->value, 1.0 - (double)saturation);
	unsigned char falling = scaled(c->value, 1.0 - (double)(saturation * rest));
	unsigned char rising = scaled(c->value, 1.0 - (double)saturation * (1.0 - (double)rest));
	unsigned char high = (unsigned char)c->value;
	const unsigned char sectors[6][3] = {{high, rising, low}, {falling, high, low},
		{low, high, rising}, {low, falling, high}, {rising, low, high},
		{high, low, falling}};

	if (c->saturation == 0)
		memset(rgb, high, 3);
	else
		memcpy(rgb, sectors[sector % 6], 3);
}

/* A hue of 256 steps is turned in steps of 1/255: the rounding is torchvision's. */
static void turn_hue(const struct pl_frame *f, double factor)
{
	int step = (int)(factor * PL_COLOUR_MAX);
	unsigned char *v = f->data;

	for (int64_t i = 0; i < f->n; i++, v += f->channels) {
		struct hsv c = hsv_of(v);

		c.hue = (c.hue + step) & PL_COLOUR_MAX;
		rgb_of(&c, v);
	}
}

void pl_jitter_u8(const struct pl_frame *f, enum pl_jitter what, double factor)
{
	bool is_grey = pl_frame_n_colours(f) == 1;

	if (what == PL_JITTER_HUE) {
		if (!is_grey && factor != 0)
			turn_hue(f, factor);
		return;
	}
	if (factor == 1)
		return;
	if (what == PL_JITTER_BRIGHTNESS)
		blend_with(f, 0, (float)factor);
	else if (what == PL_JITTER_CONTRAST)
		blend_with(f, mean_grey(f), (float)factor);
	else if (!is_grey)
		saturate(f, (float)factor);
}
