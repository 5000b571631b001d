/* daemon/ops/fill_missing.c - puts a number where there is none: NaN. */
#include <errno.h>

#include "daemon/ops/numbers.h"

struct fill_missing_params {
	double value;
};

static const struct pl_param params[] = {
	{.key = "value",
		.kind = PL_PARAM_FLOAT,
		.offset = offsetof(struct fill_missing_params, value),
		.is_obvious = true,
		.help = "what takes the place of NaN, rounded to the field's type"},
	{0},
};

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	(void)params_;
	for (int i = 0; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];
		char text[256];

		if (!pl_dtype_is_float(t->dtype))
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, where nothing can be missing: only f16, bf16, "
				"f32 and f64 have NaN",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), t));
		io->type[io->out[i]] = *t;
	}
	return 0;
}

/* NaN: all bits of the exponent, and some of the fraction. */
static void fill_16(uint16_t *v, int64_t n, uint16_t infinity, uint16_t value)
{
	for (int64_t k = 0; k < n; k++)
		if ((v[k] & 0x7fff) > infinity)
			v[k] = value;
}

static void fill_32(float *v, int64_t n, float value)
{
	for (int64_t k = 0; k < n; k++)
		if (v[k] != v[k])
			v[k] = value;
}

static void fill_64(double *v, int64_t n, double value)
{
	for (int64_t k = 0; k < n; k++)
		if (v[k] != v[k])
			v[k] = value;
}

static void fill(void *v, enum pl_dtype dtype, int64_t n, double value)
{
	uint16_t bits;

	if (dtype == PL_F32) {
		fill_32(v, n, (float)value);
	} else if (dtype == PL_F64) {
		fill_64(v, n, value);
	} else {
		pl_number_store(&bits, dtype, value);
		fill_16(v, n, dtype == PL_F16 ? 0x7c00 : 0x7f80, bits);
	}
}

static int fill_field(struct pl_run *r, double value, int i)
{
	struct pl_tensor in = r->sample->value[r->in[i]];
	int64_t n = pl_tensor_count(&in);
	const void *from = pl_run_contiguous(r, i);
	void *to;

	if (!from && n > 0)
		return pl_run_failed(r);
	to = pl_run_out(r, i, in.dtype, in.rank, in.shape);
	if (!to)
		return pl_run_failed(r);
	if (n > 0)
		memcpy(to, from, (size_t)n * pl_dtype_size(in.dtype));
	fill(to, in.dtype, n, value);
	return 0;
}

static int run(struct pl_run *r)
{
	const struct fill_missing_params *p = r->params;

	for (int i = 0; i < r->n; i++) {
		int rc = fill_field(r, p->value, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_fill_missing;
const struct pl_op pl_op_fill_missing = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "fill_missing",
	.help = "puts a number where there is none: NaN",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.takes = PL_KINDS_MEDIA,
	.params = params,
	.params_size = sizeof(struct fill_missing_params),
	.infer = infer,
	.run = run,
};
