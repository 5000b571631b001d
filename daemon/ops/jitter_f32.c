/* daemon/ops/jitter_f32.c - brightness, contrast, saturation and hue of f32 frames on a scale of 0
 * to 255. */
#include <math.h>

#include "daemon/ops/jitter.h"

static float limit(float v)
{
	return v <= 0 ? 0 : v >= PL_COLOUR_MAX ? PL_COLOUR_MAX : v;
}

/* The weights are those of the u8 steps. */
static float grey_of(const float *v, int n_colours)
{
	if (n_colours == 1)
		return v[0];
	return (19595.0f * v[0] + 38470.0f * v[1] + 7471.0f * v[2]) / 65536.0f;
}

static void blend_with(const struct pl_frame *f, float from, float factor)
{
	int n_colours = pl_frame_n_colours(f);
	float *v = f->data;

	for (int64_t i = 0; i < f->n; i++, v += f->channels)
		for (int c = 0; c < n_colours; c++)
			v[c] = limit(from + factor * (v[c] - from));
}

static float mean_grey(const struct pl_frame *f)
{
	int n_colours = pl_frame_n_colours(f);
	const float *v = f->data;
	double sum = 0;

	for (int64_t i = 0; i < f->n; i++, v += f->channels)
		sum += (double)grey_of(v, n_colours);
	return (float)(sum / (double)f->n);
}

static void saturate(const struct pl_frame *f, float factor)
{
	float *v = f->data;

	for (int64_t i = 0; i < f->n; i++, v += f->channels) {
		float grey = grey_of(v, 3);

		for (int c = 0; c < 3; c++)
			v[c] = limit(grey + factor * (v[c] - grey));
	}
}

/* Sixths of the circle from red, 0 to 6; `range` is above 0. */
static float sixths_of(const float *v, float value, float range)
{
	float h;

	if (v[0] == value)
		h = (v[1] - v[2]) / range;
	else if (v[1] == value)
		h = 2 + (v[2] - v[0]) / range;
	else
		h = 4 + (v[0] - v[1]) / range;
	return h < 0 ? h + 6 : h;
}

/* A channel's height on the hexagon, `sixths` away from its own colour: 1 up to one sixth, 0 from
 * two on. */
static float height_at(float sixths)
{
	float away = fabsf(sixths);
	float nearest = away > 3 ? 6 - away : away;

	return nearest <= 1 ? 1 : nearest >= 2 ? 0 : 2 - nearest;
}

static void turn_hue(const struct pl_frame *f, float sixths)
{
	float *v = f->data;

	for (int64_t i = 0; i < f->n; i++, v += f->channels) {
		float value = fmaxf(fmaxf(v[0], v[1]), v[2]);
		float low = fminf(fminf(v[0], v[1]), v[2]);
		float hue;

		if (!(value > low))
			continue;
		hue = sixths_of(v, value, value - low) + sixths;
		hue = hue < 0 ? hue + 6 : hue >= 6 ? hue - 6 : hue;
		v[0] = low + (value - low) * height_at(hue);
		v[1] = low + (value - low) * height_at(hue - 2);
		v[2] = low + (value - low) * height_at(hue - 4);
	}
}

void pl_jitter_f32(const struct pl_frame *f, enum pl_jitter what, double factor)
{
	bool is_grey = pl_frame_n_colours(f) == 1;

	if (what == PL_JITTER_HUE) {
		if (!is_grey && factor != 0)
			turn_hue(f, (float)(6 * factor));
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
