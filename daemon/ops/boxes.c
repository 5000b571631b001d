/* daemon/ops/boxes.c - declares a field as boxes: f32, two corners in pixels. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/ops/geometry.h"
#include "daemon/ops/numbers.h"

/* The fields of `with` stay as they are; what they get is the link, so that filter_boxes drops
 * their rows with the boxes'. */
struct boxes_params {
	int format;
	int units;
	struct pl_param_texts with;
};

enum {
	FORMAT_XYXY,
	FORMAT_XYWH,
	FORMAT_CXCYWH,
	FORMAT_YXYX,
};

enum {
	UNITS_PIXEL,
	UNITS_RELATIVE,
};

#define AT(member) offsetof(struct boxes_params, member)

static const char *const formats[] = {"xyxy", "xywh", "cxcywh", "yxyx", NULL};
static const char *const units[] = {"pixel", "relative", NULL};

static const struct pl_param params[] = {
	{.key = "format",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(format),
		.choices = formats,
		.is_obvious = true,
		.help = "what the four numbers are: two corners; a corner and width and height "
			"(COCO); "
			"the centre and width and height (YOLO); two corners, y first"},
	{.key = "units",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(units),
		.def = "pixel",
		.choices = units,
		.help = "relative: shares of the picture's width and height"},
	{.key = "with",
		.kind = PL_PARAM_TEXTS,
		.offset = AT(with),
		.def = "",
		.help = "fields whose rows belong to the boxes, such as classes: filter_boxes "
			"drops "
			"them together"},
	{0},
};

static int check(void *params_, struct pl_err *err)
{
	const struct boxes_params *p = params_;

	if (p->with.n < PL_ALSO_MAX)
		return 0;
	return pl_err_set(
		err, -EINVAL, "with has %d names, but at most %d", p->with.n, PL_ALSO_MAX - 1);
}

/* The picture first, when there is one. */
static int also(const void *params_, struct pl_also *fields)
{
	const struct boxes_params *p = params_;
	int n = 0;

	if (p->units == UNITS_RELATIVE)
		fields[n++] = (struct pl_also){NULL, PL_ALSO_READS};
	for (int i = 0; i < p->with.n; i++)
		fields[n++] = (struct pl_also){p->with.v[i], PL_ALSO_CHANGES};
	return n;
}

static int first_linked(const struct boxes_params *p)
{
	return 1 + (p->units == UNITS_RELATIVE);
}

static int check_boxes(const struct pl_infer *io, struct pl_err *err)
{
	const struct pl_type *t = &io->type[io->in[0]];
	char text[256];

	if (io->n_own != 1)
		return pl_err_set(
			err, -EINVAL, "one field is declared by one step, not %d", io->n_own);
	if (t->rank == 2 && (t->shape[1] == 4 || t->shape[1] == -1) && t->dtype != PL_BOOL &&
		t->kind != PL_KIND_MASK)
		return 0;
	return pl_err_set(err, -EINVAL, "field '%s' is %s, but boxes are numbers [n, 4]",
		io->name[io->in[0]], pl_type_format(text, sizeof(text), t));
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct boxes_params *p = params_;
	struct pl_type out = {.kind = PL_KIND_BOXES,
		.dtype = PL_F32,
		.rank = 2,
		.shape = {io->type[io->in[0]].shape[0], 4},
		.link = 1 + io->out[0]};
	int rc = check_boxes(io, err);

	if (rc < 0)
		return rc;
	for (int i = first_linked(p); i < io->n; i++) {
		struct pl_type *t = &io->type[io->in[i]];
		bool is_known = out.shape[0] >= 0 && t->rank > 0 && t->shape[0] >= 0;
		char text[256];

		if (t->rank < 1 || t->kind == PL_KIND_TEXT || t->kind == PL_KIND_BYTES ||
			t->kind == PL_KIND_LIST || t->kind == PL_KIND_JSON ||
			(is_known && t->shape[0] != out.shape[0]))
			return pl_err_set(err, -EINVAL,
				"with: field '%s' is %s and has no row for each box",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), t));
		t->link = out.link;
	}
	io->type[io->out[0]] = out;
	return 0;
}

/* In place, in f64: four numbers of the format to two corners. */
static void to_corners(double *v, int format)
{
	double a = v[0], b = v[1], c = v[2], d = v[3];

	switch (format) {
	case FORMAT_XYWH:
		v[2] = a + c;
		v[3] = b + d;
		return;
	case FORMAT_CXCYWH:
		v[0] = a - c / 2;
		v[1] = b - d / 2;
		v[2] = a + c / 2;
		v[3] = b + d / 2;
		return;
	case FORMAT_YXYX:
		v[0] = b;
		v[1] = a;
		v[2] = d;
		v[3] = c;
		return;
	default:
		return;
	}
}

/* Pixels of a unit along x and y. */
static int read_units(struct pl_run *r, double scale[2])
{
	const struct boxes_params *p = r->params;
	const struct pl_tensor *t = &r->sample->value[r->in[1]];
	struct pl_picture picture;
	enum pl_kind kind = t->rank == 4   ? PL_KIND_VIDEO
			    : t->rank == 3 ? PL_KIND_IMAGE
					   : PL_KIND_MASK;
	int rc;

	scale[0] = scale[1] = 1;
	if (p->units == UNITS_PIXEL)
		return 0;
	rc = pl_picture_in(r, 1, kind, &picture);
	if (rc < 0)
		return rc;
	scale[0] = (double)picture.width;
	scale[1] = (double)picture.height;
	return 0;
}

static int check_linked(const struct pl_run *r, int64_t n)
{
	for (int i = first_linked(r->params); i < r->n; i++) {
		const struct pl_tensor *t = &r->sample->value[r->in[i]];
		const struct boxes_params *p = r->params;

		if (t->rank > 0 && t->shape[0] == n)
			continue;
		return pl_err_set(r->err, -EINVAL,
			"field '%s' has %" PRId64 " rows, but there are %" PRId64 " boxes",
			p->with.v[i - first_linked(p)], t->rank > 0 ? t->shape[0] : 0, n);
	}
	return 0;
}

static int run(struct pl_run *r)
{
	const struct boxes_params *p = r->params;
	struct pl_tensor in = r->sample->value[r->in[0]];
	int64_t size = (int64_t)pl_dtype_size(in.dtype);
	const char *from = pl_run_contiguous(r, 0);
	double scale[2] = {1, 1};
	float *to;
	int rc;

	if (in.rank != 2 || in.shape[1] != 4)
		return pl_err_set(r->err, -EINVAL, "boxes must be [n, 4]");
	if (!from && in.shape[0] > 0)
		return pl_run_failed(r);
	rc = check_linked(r, in.shape[0]);
	if (rc == 0)
		rc = read_units(r, scale);
	if (rc < 0)
		return rc;
	to = pl_run_out(r, 0, PL_F32, 2, in.shape);
	if (!to)
		return pl_run_failed(r);
	for (int64_t i = 0; i < in.shape[0]; i++, to += 4) {
		double v[4];

		pl_numbers_convert(v, PL_F64, from + i * 4 * size, in.dtype, 4);
		to_corners(v, p->format);
		for (int k = 0; k < 4; k++)
			to[k] = (float)(v[k] * scale[k % 2]);
	}
	return 0;
}

extern const struct pl_op pl_op_boxes;
const struct pl_op pl_op_boxes = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "boxes",
	.help = "declares a field as boxes: f32, two corners in pixels",
	.class_ = "geometry",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_ONE_FIELD | PL_OP_CONSUMES,
	.takes = PL_KIND_BIT(PL_KIND_TENSOR),
	.params = params,
	.params_size = sizeof(struct boxes_params),
	.check = check,
	.also = also,
	.infer = infer,
	.run = run,
};
