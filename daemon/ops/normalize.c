/* daemon/ops/normalize.c - (value * scale - mean) / std by channel, as f32. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/kit/pass.h"
#include "daemon/ops/affine_values.h"
#include "daemon/ops/numbers.h"

/*
 * Channels are the last axis, of an image as of a plain [n] tensor. Computed as value * (scale /
 * std) + (-mean / std), both constants rounded to f32 once.
 */
struct normalize_params {
	int table;
	struct pl_param_floats mean;
	struct pl_param_floats std;
	double scale;
};

enum {
	TABLE_NONE,
	TABLE_IMAGENET,
};

#define AT(member) offsetof(struct normalize_params, member)
#define BLOCK_VALUES                                                                               \
	1536 /* a multiple of PL_AFFINE_PERIOD; rounded down to whole pixels otherwise */

static const char *const tables[] = {"none", "imagenet", NULL};

static const struct pl_param params[] = {
	{.key = "table",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(table),
		.def = "none",
		.choices = tables,
		.is_obvious = true,
		.help = "imagenet: mean [0.485, 0.456, 0.406] and std [0.229, 0.224, 0.225]"},
	{.key = "mean",
		.kind = PL_PARAM_FLOATS,
		.offset = AT(mean),
		.def = "",
		.help = "after scaling; one number, or one a channel; 0 when left out"},
	{.key = "std",
		.kind = PL_PARAM_FLOATS,
		.offset = AT(std),
		.def = "",
		.help = "after scaling; one number, or one a channel, none 0; 1 when left out"},
	{.key = "scale",
		.kind = PL_PARAM_FLOAT,
		.offset = AT(scale),
		.def = "1/255",
		.help = "what values are multiplied with first; 1 for tensors that need none"},
	{0},
};

static const struct pl_param_floats imagenet_mean = {3, {0.485, 0.456, 0.406}};
static const struct pl_param_floats imagenet_std = {3, {0.229, 0.224, 0.225}};

static const struct pl_param_floats *mean_of(const struct normalize_params *p)
{
	return p->table == TABLE_IMAGENET ? &imagenet_mean : &p->mean;
}

static const struct pl_param_floats *std_of(const struct normalize_params *p)
{
	return p->table == TABLE_IMAGENET ? &imagenet_std : &p->std;
}

static int check(void *params_, struct pl_err *err)
{
	const struct normalize_params *p = params_;

	if (p->table == TABLE_IMAGENET && (p->mean.n || p->std.n))
		return pl_err_set(err, -EINVAL,
			"table: %s already says mean and std (leave one of them out)",
			tables[p->table]);
	if (p->mean.n > 1 && p->std.n > 1 && p->mean.n != p->std.n)
		return pl_err_set(
			err, -EINVAL, "mean has %d numbers and std %d", p->mean.n, p->std.n);
	for (int i = 0; i < p->std.n; i++)
		if (p->std.v[i] == 0)
			return pl_err_set(err, -EINVAL, "std[%d] is 0", i);
	return 0;
}

static int n_channels(const struct normalize_params *p)
{
	int n_mean = mean_of(p)->n;
	int n_std = std_of(p)->n;
	int n = n_mean > n_std ? n_mean : n_std;

	return n < 1 ? 1 : n;
}

static double number_at(const struct pl_param_floats *list, int i, double absent)
{
	return list->n == 0 ? absent : list->v[list->n == 1 ? 0 : i];
}

static int check_field(const struct normalize_params *p, const struct pl_type *t, const char *name,
	struct pl_err *err)
{
	char text[256];
	int64_t last = t->rank > 0 ? t->shape[t->rank - 1] : 1;

	if (t->kind != PL_KIND_IMAGE && t->kind != PL_KIND_VIDEO && t->kind != PL_KIND_TENSOR &&
		t->kind != PL_KIND_AUDIO && t->kind != PL_KIND_SCALAR)
		return pl_err_set(err, -EINVAL,
			"field '%s' is %s, but normalize takes images, video and tensors%s", name,
			pl_type_format(text, sizeof(text), t),
			t->kind == PL_KIND_BYTES ? " (put decode_image before it)" : "");
	if (n_channels(p) > 1 && last >= 0 && last != n_channels(p))
		return pl_err_set(err, -EINVAL,
			"there are %d means or stds, but field '%s' is %s and has %" PRId64
			" in its last axis%s",
			n_channels(p), name, pl_type_format(text, sizeof(text), t), last,
			t->rank >= 3 && t->shape[t->rank - 3] == n_channels(p)
				? " (put normalize before the rearrange to c h w)"
				: "");
	return 0;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	for (int i = 0; i < io->n; i++) {
		struct pl_type t = io->type[io->in[i]];
		int rc = check_field(params_, &t, io->name[io->in[i]], err);

		if (rc < 0)
			return rc;
		t.dtype = PL_F32;
		io->type[io->out[i]] = t;
	}
	return 0;
}

struct normalize_state {
	int n_channels; /* 1: the same for all */
	struct pl_affine affine;
	float a[PL_PARAM_LIST_MAX];
	float b[PL_PARAM_LIST_MAX];
};

_Static_assert(PL_PARAM_LIST_MAX >= PL_AFFINE_PERIOD, "a period must fit the state's tables");

/* The constants of channel i. */
static void constants_at(const struct normalize_params *p, int i, float *a, float *b)
{
	double std = number_at(std_of(p), i, 1);

	*a = (float)(p->scale / std);
	*b = (float)(-number_at(mean_of(p), i, 0) / std);
}

static int prepare(const struct pl_infer *io, const void *params_, void **state, struct pl_err *err)
{
	const struct normalize_params *p = params_;
	struct normalize_state *s = calloc(1, sizeof(*s));
	int n = n_channels(p);

	(void)io;
	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	s->n_channels = n;
	s->affine.period = pl_affine_period(n);
	s->affine.a = s->a;
	s->affine.b = s->b;
	for (int i = 0; i < s->affine.period; i++)
		constants_at(p, i % n, &s->a[i], &s->b[i]);
	*state = s;
	return 0;
}

static void destroy(void *state)
{
	free(state);
}

/* A run of values that begins with the first channel. */
static void normalize_run(const struct normalize_state *s, float *out, const unsigned char *in,
	enum pl_dtype dtype, int64_t n)
{
	float block[BLOCK_VALUES];
	int64_t step = BLOCK_VALUES / s->affine.period * s->affine.period;
	int64_t size = (int64_t)pl_dtype_size(dtype);

	if (dtype == PL_U8) {
		pl_affine_u8(&s->affine, out, in, n);
		return;
	}
	for (int64_t i = 0; i < n; i += step) {
		int64_t count = n - i < step ? n - i : step;

		pl_numbers_convert(block, PL_F32, in + i * size, dtype, count);
		pl_affine_f32(&s->affine, out + i, block, count);
	}
}

/* Values that lie without a gap at the end of the shape, and the axes before them. */
static int64_t packed_run(const struct pl_tensor *t, int *n_outer)
{
	int64_t step = (int64_t)pl_dtype_size(t->dtype);
	int64_t n = 1;
	int d = t->rank - 1;

	for (; d >= 0 && (t->shape[d] == 1 || t->stride[d] == step); d--) {
		n *= t->shape[d];
		step *= t->shape[d];
	}
	*n_outer = d + 1;
	return n;
}

/* Run by run; a run holds whole pixels, for at least the last axis is packed. */
static void normalize_runs(const struct normalize_state *s, const struct pl_tensor *t, float *out)
{
	int n_outer;
	int64_t run = packed_run(t, &n_outer);
	int64_t at[PL_RANK_MAX] = {0};
	int64_t n_runs = run > 0 ? pl_tensor_count(t) / run : 0;
	const unsigned char *in = t->data;

	for (int64_t k = 0; k < n_runs; k++, out += run) {
		normalize_run(s, out, in, t->dtype, run);
		for (int d = n_outer - 1; d >= 0; d--) {
			in += t->stride[d];
			if (++at[d] < t->shape[d])
				break;
			in -= at[d] * t->stride[d];
			at[d] = 0;
		}
	}
}

static int normalize_field(struct pl_run *r, const struct normalize_state *s, int i)
{
	struct pl_tensor in = r->sample->value[r->in[i]];
	int64_t last = in.rank > 0 ? in.shape[in.rank - 1] : 1;
	float *out;

	if (s->n_channels > 1 && last != s->n_channels)
		return pl_err_set(r->err, -EINVAL,
			"there are %d means or stds, but the value has %" PRId64
			" channels (set channels: in "
			"decode_image)",
			s->n_channels, last);
	if (in.rank > 0 && last > 1 && in.stride[in.rank - 1] != (int64_t)pl_dtype_size(in.dtype)) {
		struct pl_tensor copy;
		const void *data = pl_run_contiguous(r, i);

		if (!data || pl_tensor_init(&copy, NULL, in.dtype, in.rank, in.shape) < 0)
			return pl_run_failed(r);
		in = copy;
		in.data = (void *)(uintptr_t)data;
	}
	out = pl_run_out(r, i, PL_F32, in.rank, in.shape);
	if (!out)
		return pl_run_failed(r);
	normalize_runs(s, &in, out);
	return 0;
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = normalize_field(r, r->state, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool move(const void *params_, struct pl_move *out)
{
	const struct normalize_params *p = params_;

	*out = (struct pl_move){.kind = PL_MOVE_AFFINE, .n_channels = n_channels(p)};
	for (int i = 0; i < out->n_channels; i++)
		constants_at(p, i, &out->a[i], &out->b[i]);
	return true;
}

extern const struct pl_op pl_op_normalize;
const struct pl_op pl_op_normalize = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "normalize",
	.help = "(value * scale - mean) / std by channel, as f32",
	.class_ = "photometric",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.takes = PL_KINDS_COLOUR,
	.params = params,
	.params_size = sizeof(struct normalize_params),
	.check = check,
	.infer = infer,
	.prepare = prepare,
	.destroy = destroy,
	.run = run,
	.move = move,
};
