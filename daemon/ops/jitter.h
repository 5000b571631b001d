/* daemon/ops/jitter.h - the four changes that color_jitter consists of, in u8 and f32. */
#pragma once

#include "daemon/ops/colour.h"

/* In the order in which torchvision numbers them. */
enum pl_jitter {
	PL_JITTER_BRIGHTNESS, /* between black and the frame */
	PL_JITTER_CONTRAST,   /* between the frame's mean grey and the frame */
	PL_JITTER_SATURATION, /* between each pixel's grey and the pixel */
	PL_JITTER_HUE,        /* factor: turns of the colour circle, -0.5 to 0.5 */
	PL_N_JITTERS,
};

/*
 * One change in place. A factor of 1, for hue of 0, leaves the frame as it is. Grey frames have no
 * saturation and hue to change; alpha stays. u8: every value as Pillow's ImageEnhance, and for hue
 * its HSV mode, gives it, with the hue in steps of 1/255 turn as torchvision adds them. f32: the
 * same formulas without their rounding, limited to 0..255.
 */
void pl_jitter_u8(const struct pl_frame *f, enum pl_jitter what, double factor);
void pl_jitter_f32(const struct pl_frame *f, enum pl_jitter what, double factor);
