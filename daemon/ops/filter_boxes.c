/* daemon/ops/filter_boxes.c - drops boxes that are too small or hardly seen, and what is linked
 * with them. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/ops/geometry.h"

/* A row with a NaN is dropped. */
struct filter_boxes_params {
	double min_size;
	double min_visible;
	bool keep_empty;
};

#define AT(member) offsetof(struct filter_boxes_params, member)

static const struct pl_param params[] = {
	{.key = "min_size",
		.kind = PL_PARAM_FLOAT,
		.offset = AT(min_size),
		.def = "1",
		.min = 0,
		.max = PL_SIDE_MAX,
		.unit = "pixels",
		.is_obvious = true,
		.help = "width and height that a box must have"},
	{.key = "min_visible",
		.kind = PL_PARAM_FLOAT,
		.offset = AT(min_visible),
		.def = "0",
		.min = 0,
		.max = 1,
		.help = "share of its area that a box must have kept where crops cut it"},
	{.key = "keep_empty",
		.kind = PL_PARAM_BOOL,
		.offset = AT(keep_empty),
		.def = "true",
		.help = "false: a sample without any box left is dropped"},
	{0},
};

struct filter_state {
	int link[PL_FIELDS_MAX]; /* by pair */
};

static int prepare(const struct pl_infer *io, const void *params_, void **state, struct pl_err *err)
{
	struct filter_state *s = calloc(1, sizeof(*s));

	(void)params_;
	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < io->n; i++)
		s->link[i] = io->type[io->out[i]].link;
	*state = s;
	return 0;
}

static void destroy(void *state)
{
	free(state);
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	(void)params_;
	for (int i = 0; i < io->n; i++) {
		struct pl_type t = io->type[io->in[i]];
		char text[256];

		if (i < io->n_own && (t.kind != PL_KIND_BOXES || t.rank != 2 || t.dtype != PL_F32))
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, but only boxes can be filtered (declare them by "
				"boxes:)",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), &t));
		for (int k = 0; k < i && i < io->n_own; k++)
			if (t.link && io->type[io->in[k]].link == t.link)
				return pl_err_set(err, -EINVAL,
					"'%s' and '%s' are linked: name the one that decides with "
					"field:",
					io->name[io->in[k]], io->name[io->in[i]]);
		if (t.rank < 1)
			return pl_err_set(err, -EINVAL,
				"field '%s' is linked with boxes, but is %s now and has no rows",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), &t));
		t.shape[0] = -1;
		io->type[io->out[i]] = t;
	}
	return 0;
}

static double area(const float *box)
{
	return ((double)box[2] - (double)box[0]) * ((double)box[3] - (double)box[1]);
}

/* Marks the rows that stay and counts them. */
static int64_t choose(const struct filter_boxes_params *p, const float *box, const float *uncut,
	int64_t n, bool *is_kept)
{
	int64_t n_kept = 0;

	for (int64_t i = 0; i < n; i++, box += 4) {
		double width = (double)box[2] - (double)box[0];
		double height = (double)box[3] - (double)box[1];

		is_kept[i] = width >= p->min_size && height >= p->min_size &&
			     (!uncut || area(box) >= p->min_visible * area(uncut + 4 * i));
		n_kept += is_kept[i];
	}
	return n_kept;
}

static void copy_rows(char *to, const char *from, int64_t n, size_t row, const bool *is_kept)
{
	for (int64_t i = 0; i < n; i++, from += row) {
		if (!is_kept[i])
			continue;
		memcpy(to, from, row);
		to += row;
	}
}

static int keep_rows(struct pl_run *r, int i, const bool *is_kept, int64_t n, int64_t n_kept)
{
	struct pl_tensor in = r->sample->value[r->in[i]];
	const char *from = pl_run_contiguous(r, i);
	size_t row;
	char *to;

	if (in.rank < 1 || in.shape[0] != n)
		return pl_err_set(r->err, -EINVAL,
			"a field linked with the boxes has %" PRId64 " rows, but there are %" PRId64
			" boxes (a step between has changed it)",
			in.rank < 1 ? 0 : in.shape[0], n);
	if (!from && pl_tensor_count(&in) > 0)
		return pl_run_failed(r);
	row = n > 0 ? (size_t)(pl_tensor_bytes(&in) / n) : 0;
	in.shape[0] = n_kept;
	to = pl_run_out(r, i, in.dtype, in.rank, in.shape);
	if (!to)
		return pl_run_failed(r);
	copy_rows(to, from, row > 0 ? n : 0, row, is_kept);
	return 0;
}

/* What the kept boxes were before they were cut goes on with them. */
static int keep_uncut(struct pl_run *r, int i, const float *uncut, const bool *is_kept, int64_t n)
{
	const size_t row = 4 * sizeof(float);
	float *rows = pl_run_scratch(r, (size_t)n * row);

	if (!rows)
		return pl_run_failed(r);
	copy_rows((char *)rows, (const char *)uncut, n, row, is_kept);
	return pl_geometry_note_uncut(r, r->sample->value[r->out[i]].data, rows);
}

/* 0, PL_OP_DROP when nothing is left and that means it, or a negative errno. */
static int filter_field(struct pl_run *r, int i)
{
	const struct filter_boxes_params *p = r->params;
	const struct filter_state *s = r->state;
	struct pl_tensor in = r->sample->value[r->in[i]];
	const float *uncut = pl_geometry_uncut(r->sample, &in);
	const float *boxes = pl_run_contiguous(r, i);
	int64_t n = in.shape[0];
	int64_t n_kept;
	bool *is_kept;
	int rc;

	if (in.rank != 2 || in.shape[1] != 4 || in.dtype != PL_F32)
		return pl_err_set(r->err, -EINVAL, "boxes must be f32 [n, 4]");
	is_kept = pl_run_scratch(r, (size_t)n + 1);
	if ((!boxes && n > 0) || !is_kept)
		return pl_run_failed(r);
	n_kept = choose(p, boxes, uncut, n, is_kept);
	if (n_kept == 0 && !p->keep_empty)
		return PL_OP_DROP;
	rc = keep_rows(r, i, is_kept, n, n_kept);
	if (rc == 0 && uncut)
		rc = keep_uncut(r, i, uncut, is_kept, n);
	for (int k = r->n_own; rc == 0 && k < r->n; k++)
		if (s->link[k] == s->link[i])
			rc = keep_rows(r, k, is_kept, n, n_kept);
	return rc;
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n_own; i++) {
		int rc = filter_field(r, i);

		if (rc != 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_filter_boxes;
const struct pl_op pl_op_filter_boxes = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "filter_boxes",
	.help = "drops boxes that are too small or hardly seen, and what is linked with them",
	.class_ = "geometry",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_LINKED,
	.takes = PL_KIND_BIT(PL_KIND_BOXES),
	.params = params,
	.params_size = sizeof(struct filter_boxes_params),
	.infer = infer,
	.prepare = prepare,
	.destroy = destroy,
	.run = run,
};
