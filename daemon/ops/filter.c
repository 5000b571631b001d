/* daemon/ops/filter.c - keeps the samples for which an expression is true. */
#include "daemon/ops/table.h"

#include <errno.h>

#include "daemon/kit/expr.h"

struct filter_params {
	const char *expr;
};

struct filter_state {
	const char *const *name;
	int n_fields;
	struct pl_expr *expr; /* NULL until the first sample */
};

static const struct pl_param params[] = {
	{
		.key = "expr",
		.kind = PL_PARAM_EXPR,
		.offset = offsetof(struct filter_params, expr),
		.help = "kept where true, such as: label in [3, 7] and len(text) >= 200",
		.is_obvious = true,
	},
	{0},
};

static int report(struct pl_err *err, const struct pl_expr_error *error)
{
	(void)pl_err_set(err, error->err.code, "%s", error->err.text);
	(void)pl_err_at(err, "expr", error->offset);
	return error->err.code;
}

static int filter_infer(struct pl_infer *io, void *data, struct pl_err *err)
{
	const struct filter_params *p = data;
	struct pl_expr_error error;
	struct pl_expr *e =
		pl_expr_parse(p->expr, io->n_fields, io->name, io->type, io->is_live, true, &error);

	if (!e)
		return report(err, &error);
	pl_expr_free(e);
	return 0;
}

static int filter_prepare(
	const struct pl_infer *io, const void *data, void **state, struct pl_err *err)
{
	struct filter_state *s = calloc(1, sizeof(*s));

	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	s->name = io->name;
	s->n_fields = io->n_fields;
	*state = s;
	return 0;
}

static void filter_destroy(void *state)
{
	struct filter_state *s = state;

	if (!s)
		return;
	pl_expr_free(s->expr);
	free(s);
}

/*
 * `prepare` knows the types of a step's own fields only, and a filter has none; dtype and rank of a
 * field are those of its first value. A text differs from other bytes only where infer has already
 * refused the others.
 */
static int compile(struct filter_state *s, const struct pl_run *r)
{
	const struct filter_params *p = r->params;
	struct pl_type type[PL_FIELDS_MAX];
	bool is_live[PL_FIELDS_MAX];
	struct pl_expr_error error;

	for (int f = 0; f < s->n_fields; f++) {
		const struct pl_tensor *v = &r->sample->value[f];
		bool is_text = v->dtype == PL_U8 && v->rank == 1;

		is_live[f] = pl_dtype_size(v->dtype) != 0;
		type[f] = (struct pl_type){.kind = is_text ? PL_KIND_TEXT : PL_KIND_TENSOR,
			.dtype = v->dtype,
			.rank = v->rank};
	}
	s->expr = pl_expr_parse(p->expr, s->n_fields, s->name, type, is_live, true, &error);
	return s->expr ? 0 : report(r->err, &error);
}

static int filter_run(struct pl_run *r)
{
	struct filter_state *s = r->state;
	double keeps;
	int rc = s->expr ? 0 : compile(s, r);

	if (!rc)
		rc = pl_expr_eval(s->expr, r->sample, &keeps, r->err);
	if (rc)
		return rc;
	return keeps != 0 ? 0 : PL_OP_DROP;
}

const struct pl_op pl_op_filter = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "filter",
	.help = "keeps the samples for which an expression over their scalars and texts is true",
	.class_ = "order",
	.version = 1,
	.stages = PL_STAGE_PRE | PL_STAGE_WORKER,
	.flags = PL_OP_NO_FIELD,
	.params = params,
	.params_size = sizeof(struct filter_params),
	.infer = filter_infer,
	.prepare = filter_prepare,
	.destroy = filter_destroy,
	.run = filter_run,
};
