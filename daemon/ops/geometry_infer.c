/* daemon/ops/geometry_infer.c - what geometry steps check at load, and the shapes they announce. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/ops/geometry.h"
#include "daemon/ops/numbers.h"

static bool is_rank_of(const struct pl_type *t)
{
	switch (t->kind) {
	case PL_KIND_IMAGE:
		return t->rank == 3;
	case PL_KIND_MASK:
		return t->rank == 2 || t->rank == 3;
	case PL_KIND_VIDEO:
		return t->rank == 4;
	case PL_KIND_BOXES:
		return t->rank == 2 && (t->shape[1] == 4 || t->shape[1] == -1);
	case PL_KIND_POINTS:
		return t->rank == 2 && (t->shape[1] == 2 || t->shape[1] == -1);
	default:
		return false;
	}
}

static bool is_coordinates(enum pl_kind kind)
{
	return kind == PL_KIND_BOXES || kind == PL_KIND_POINTS;
}

static int check_field(
	const struct pl_type *t, const char *name, bool is_filtering, struct pl_err *err)
{
	char text[256];

	if (!is_rank_of(t))
		return pl_err_set(err, -EINVAL,
			"field '%s' is %s, but this step takes image [h, w, c], mask [h, w], video "
			"[t, h, w, c], boxes f32 [n, 4] or points f32 [n, 2]%s",
			name, pl_type_format(text, sizeof(text), t),
			t->kind == PL_KIND_BYTES
				? " (put decode_image before it)"
				: " (put it before the step that changed the layout, or name "
				  "other fields with field:)");
	if (is_coordinates(t->kind) && t->dtype != PL_F32)
		return pl_err_set(err, -EINVAL,
			"field '%s' is %s, but coordinates must be f32 (use cast: f32)", name,
			pl_type_format(text, sizeof(text), t));
	if (is_filtering && (t->kind == PL_KIND_IMAGE || t->kind == PL_KIND_VIDEO) &&
		t->dtype != PL_U8 && t->dtype != PL_U16 && t->dtype != PL_F32)
		return pl_err_set(err, -EINVAL,
			"field '%s' is %s, but only u8, u16 and f32 pictures can be resized (use "
			"cast: f32)",
			name, pl_type_format(text, sizeof(text), t));
	return 0;
}

static int set_size(
	struct pl_type *out, const void *params, pl_geometry_size_fn *size, struct pl_err *err)
{
	int h = out->kind == PL_KIND_MASK ? out->rank - 2 : out->rank - 3;
	int64_t height = out->shape[h];
	int64_t width = out->shape[h + 1];

	size(params, &height, &width);
	if (height > PL_SIDE_MAX || width > PL_SIDE_MAX)
		return pl_err_set(err, -EINVAL,
			"the result would be %" PRId64 "x%" PRId64
			" pixels (width x height), but no side may "
			"be longer than %d",
			width, height, PL_SIDE_MAX);
	out->shape[h] = height;
	out->shape[h + 1] = width;
	return 0;
}

int pl_geometry_infer(struct pl_infer *io, const void *params, pl_geometry_size_fn *size,
	bool is_filtering, struct pl_err *err)
{
	const char *coordinates = NULL;
	int n_pictures = 0;

	for (int i = 0; i < io->n; i++) {
		struct pl_type in = io->type[io->in[i]];
		int rc = check_field(&in, io->name[io->in[i]], is_filtering, err);

		if (rc < 0)
			return rc;
		io->type[io->out[i]] = in;
		if (is_coordinates(in.kind)) {
			coordinates = io->name[io->in[i]];
			continue;
		}
		n_pictures++;
		rc = set_size(&io->type[io->out[i]], params, size, err);
		if (rc < 0)
			return rc;
	}
	if (coordinates && n_pictures == 0)
		return pl_err_set(err, -EINVAL,
			"field '%s' needs the size of its picture: name the image in field: beside "
			"it",
			coordinates);
	return 0;
}

int pl_geometry_fill(
	const struct pl_param_map *fill, double *image, double *mask, struct pl_err *err)
{
	for (int i = 0; i < fill->n; i++) {
		if (strcmp(fill->v[i].key, "image") == 0)
			*image = fill->v[i].value;
		else if (strcmp(fill->v[i].key, "mask") == 0)
			*mask = fill->v[i].value;
		else
			return pl_err_set(err, -EINVAL,
				"fill: unknown kind '%s' (image, also for video, or mask)",
				fill->v[i].key);
	}
	return 0;
}

int pl_geometry_check_fill(const struct pl_infer *io, double image, double mask, struct pl_err *err)
{
	for (int i = 0; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];
		double value = t->kind == PL_KIND_MASK ? mask : image;

		if (is_coordinates(t->kind) || pl_number_fits(t->dtype, value))
			continue;
		return pl_err_set(err, -EINVAL, "fill: %g does not fit field '%s' of %s", value,
			io->name[io->in[i]], pl_dtype_name(t->dtype));
	}
	return 0;
}
