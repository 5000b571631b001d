/* daemon/plan/describe.c - parts of a plan in words, shared by all forms of `graph`. */
#include "daemon/plan/describe.h"

#include <inttypes.h>

#include "daemon/plan/params.h"

const char *pl_describe_stage(enum pl_stage stage)
{
	return stage == PL_STAGE_PRE      ? "pre_main"
	       : stage == PL_STAGE_WORKER ? "workers"
					  : "post_main";
}

static void join_texts(const struct pl_param_texts *texts, char *out, size_t n)
{
	size_t at = 0;

	for (int i = 0; i < texts->n && at < n; i++)
		at += (size_t)snprintf(out + at, n - at, "%s%s", i ? ", " : "", texts->v[i]);
}

static void value_text(const struct pl_param *p, const void *member, char *out, size_t n)
{
	const struct pl_param_size *size = member;
	const struct pl_param_table *table = member;
	const char *text;

	switch (p->kind) {
	case PL_PARAM_INT:
	case PL_PARAM_BYTES:
		snprintf(out, n, "%" PRId64, *(const int64_t *)member);
		break;
	case PL_PARAM_FLOAT:
		snprintf(out, n, "%g", *(const double *)member);
		break;
	case PL_PARAM_TEXT:
	case PL_PARAM_EXPR:
		text = *(const char *const *)member;
		pl_err_quote(out, n, text ? text : "");
		break;
	case PL_PARAM_CHOICE:
		snprintf(out, n, "%s", p->choices[*(const int *)member]);
		break;
	case PL_PARAM_DTYPE:
		snprintf(out, n, "%s", pl_dtype_name(*(const enum pl_dtype *)member));
		break;
	case PL_PARAM_SIZE:
		if (size->is_given)
			snprintf(out, n, "%" PRId64 " x %" PRId64, size->height, size->width);
		break;
	case PL_PARAM_TABLE:
		snprintf(out, n, "%" PRId64 " texts", table->n);
		break;
	case PL_PARAM_TEXTS:
		join_texts(member, out, n);
		break;
	default:
		break;
	}
}

char *pl_describe_value(const struct pl_step *step, char *out, size_t n)
{
	const struct pl_param *p = pl_params_obvious(step->op->params);

	out[0] = '\0';
	if (p)
		value_text(p, (const char *)step->params + p->offset, out, n);
	return out;
}

char *pl_describe_pass(const struct pl_step *step, char *out, size_t n)
{
	int first = step->id - step->pass.at + 1;

	out[0] = '\0';
	if (step->pass.n > 1)
		snprintf(out, n, "one pass: %d-%d", first, first + step->pass.n - 1);
	return out;
}

/* The step that writes the delivered value into its row, or NULL. */
static const struct pl_step *row_writer(const struct pl_plan *plan, int field)
{
	for (int i = 0; i < plan->worker.n; i++)
		for (int k = 0; k < plan->worker.step[i].n; k++)
			if (plan->worker.step[i].out[k] == field &&
				plan->worker.step[i].writes_row[k])
				return &plan->worker.step[i];
	return NULL;
}

bool pl_describe_is_zero_copy(const struct pl_plan *plan, const struct pl_delivery *d)
{
	return !plan->layout.needs_cells && d->form != PL_FORM_RAGGED && row_writer(plan, d->field);
}

char *pl_describe_way(const struct pl_plan *plan, const struct pl_delivery *d, char *out, size_t n)
{
	const struct pl_step *writer = row_writer(plan, d->field);

	if (d->form == PL_FORM_RAGGED)
		snprintf(out, n, "through a cell, appended once (its length varies)");
	else if (plan->layout.needs_cells && plan->batch_at > 0)
		snprintf(out, n, "through a cell, copied once (a step stands before batch)");
	else if (plan->layout.needs_cells)
		snprintf(out, n, "through a cell, copied once (another field is ragged)");
	else if (writer)
		snprintf(out, n, "written by '%s' straight into %s (zero copy)", writer->op->name,
			plan->layout.has_batch ? "the batch's row" : "the batch");
	else
		snprintf(out, n, "copied once into %s",
			plan->layout.has_batch ? "the batch's row" : "the batch");
	return out;
}

const struct pl_delivery *pl_describe_delivery(const struct pl_plan *plan, int field)
{
	for (int i = 0; i < plan->layout.n_deliveries; i++)
		if (plan->layout.delivery[i].field == field)
			return &plan->layout.delivery[i];
	return NULL;
}

struct pl_type pl_describe_result(const struct pl_plan *plan, const struct pl_result_field *r)
{
	struct pl_type type = r->type;

	if (!plan->layout.has_batch || r->form == PL_FORM_RAGGED || type.rank == PL_RANK_MAX)
		return type;
	memmove(&type.shape[1], &type.shape[0], (size_t)type.rank * sizeof(type.shape[0]));
	type.shape[0] = plan->layout.drop_last ? plan->layout.batch_size : -1;
	type.rank++;
	return type;
}

double pl_describe_rate(const struct pl_dump_live *live, int id)
{
	return live && live->seconds > 0 ? (double)live->step_count[id] / live->seconds : 0;
}

double pl_describe_share(const struct pl_plan *plan, const struct pl_dump_live *live, int id)
{
	double all = 0;

	for (int i = 0; live && i < plan->n_steps; i++)
		all += (double)live->step_ns[i];
	return all > 0 ? (double)live->step_ns[id] / all : 0;
}
