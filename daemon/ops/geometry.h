/* daemon/ops/geometry.h - what all steps that move pixels share: one change, applied to every field
 * of a sample. */
#pragma once

#include "daemon/ops/picture.h"
#include "daemon/ops/resample.h"

/*
 * A step says for a picture of height x width what happens to it: take a window, give it a size,
 * mirror it. From that follow the pixels of images, videos and masks and the coordinates of boxes
 * and points.
 */
struct pl_change {
	const void *context;     /* pl_geometry's */
	struct pl_window window; /* may reach beyond the picture only when it keeps its size: then
				    `fill` is seen */
	int64_t height; /* of the result; the window's own, or the window is resampled to it */
	int64_t width;
	bool is_flipped_x; /* left and right change places; only without window or resampling */
	bool is_flipped_y;
};

/* What a step passes to pl_geometry_run. */
struct pl_geometry {
	/*
	 * Fills *c, which starts as "nothing changes", for a picture of height x width. `rng` is a
	 * copy of the step's generator, the same for each field: so fields of one size get one
	 * window, and others the like of it.
	 */
	int (*plan)(const struct pl_run *r, struct pl_rng *rng, struct pl_change *c);
	const void *context;   /* for plan */
	enum pl_filter filter; /* masks are always resampled nearest */
	bool is_antialiased;
	double fill_image;
	double fill_mask;
};

/*
 * Coordinates are continuous: a picture of width w spans 0 to w, so a box of the whole picture is
 * [0, 0, w, h], and a mirrored x is w - x for boxes and points alike. Results are limited to the
 * new picture; a NaN stays NaN; rows are never dropped, a box outside becomes one of no area at the
 * border.
 */
int pl_geometry_run(struct pl_run *r, const struct pl_geometry *g) PL_MUST_CHECK;

/* The kind of pair i, known from prepare. */
enum pl_kind pl_geometry_kind(const struct pl_run *r, int i);

/*
 * Boxes as they would be had no picture's border cut them, row by row: for how much of a box is
 * still seen. NULL when nothing has moved them yet: they are as they were declared.
 */
const float *pl_geometry_uncut(const struct pl_sample *sample, const struct pl_tensor *boxes);

/* Says that `rows`, in scratch, are those of the value whose data is `of`. 0 or a negative errno
 * with err set. */
int pl_geometry_note_uncut(struct pl_run *r, const void *of, const float *rows) PL_MUST_CHECK;

/* The size of a result as far as it is known at load: height, width, or both -1 = unknown. */
typedef void pl_geometry_size_fn(const void *params, int64_t *height, int64_t *width);

/*
 * For pl_op.infer: checks that each field is an image, mask, video, boxes or points of the right
 * dtype and rank, that boxes and points have a picture beside them, and sets the new shapes by
 * `size`, which gets what is known of the old ones. `is_filtering`: the step computes pixels, so an
 * image must be u8, u16 or f32. 0 or -EINVAL.
 */
int pl_geometry_infer(struct pl_infer *io, const void *params, pl_geometry_size_fn *size,
	bool is_filtering, struct pl_err *err) PL_MUST_CHECK;

/* For pl_op.prepare and destroy of every step that calls pl_geometry_run: remembers the fields'
 * kinds. */
int pl_geometry_prepare(
	const struct pl_infer *io, const void *params, void **state, struct pl_err *err);
void pl_geometry_destroy(void *state);

/* Checks `fill: {image: 0, mask: 255}` and reads it into *image and *mask, which hold the defaults.
 * 0 or -EINVAL. */
int pl_geometry_fill(const struct pl_param_map *fill, double *image, double *mask,
	struct pl_err *err) PL_MUST_CHECK;

/* For pl_op.infer: the fill value fits the dtype of the fields it will be written to. 0 or -EINVAL.
 */
int pl_geometry_check_fill(
	const struct pl_infer *io, double image, double mask, struct pl_err *err) PL_MUST_CHECK;

/* Rounds to the nearest integer, halves to the even one, as Python's round and so torchvision does.
 */
int64_t pl_round_half_even(double v);
