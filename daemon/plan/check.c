/* daemon/plan/check.c - one walk through all steps: fields, types, what is used, what is lost. */
#include <fnmatch.h>
#include <stdio.h>

#include "daemon/kit/expr.h"
#include "daemon/plan/build.h"
#include "daemon/plan/params.h"

/*
 * The walk carries a state: the fields at this place. A step that failed poisons it: from there on
 * only faults that can't follow from it are told.
 */

static bool check_list(struct pl_build *b, struct pl_step_list *list, int depth);

static bool is_op(const struct pl_step *step, const char *name)
{
	return strcmp(step->op->name, name) == 0;
}

static bool is_class(const struct pl_step *step, const char *name)
{
	return strcmp(step->op->class_, name) == 0;
}

static void mark_used(struct pl_build *b, uint64_t fields, enum pl_stage stage)
{
	b->used |= fields;
	b->state.unread &= ~fields;
	if (stage == PL_STAGE_POST)
		b->used_in_post |= fields;
}

static void tell_expr(struct pl_build *b, const struct pl_step *step, const struct pl_param *param,
	const struct pl_expr_error *error)
{
	struct pl_err err;

	if (b->state.is_poisoned)
		return;
	(void)pl_err_set(&err, error->err.code, "%s%s", error->err.text,
		b->note[step->id].stage == PL_STAGE_PRE
			? " (pre_main knows only what needs no reading)"
			: "");
	(void)pl_err_at(&err, param->key, error->offset);
	pl_step_tell(b, step, &err);
}

/* Compiles an expression against the live fields: its fields are used. */
static bool check_expr(struct pl_build *b, struct pl_step *step, const struct pl_param *param)
{
	const struct pl_step_note *note = &b->note[step->id];
	const char *text = *(const char **)((char *)step->params + param->offset);
	struct pl_expr_error error = {0};
	struct pl_expr *expr;

	if (!text || !pl_node_find(note->args, param->key))
		return true;
	expr = pl_expr_parse(text, b->plan->n_fields, b->plan->field_name, b->state.type,
		b->state.is_live, is_op(step, "filter"), &error);
	if (!expr) {
		tell_expr(b, step, param, &error);
		return false;
	}
	mark_used(b, pl_expr_fields(expr), note->stage);
	pl_expr_free(expr);
	return true;
}

static bool check_exprs(struct pl_build *b, struct pl_step *step)
{
	bool is_ok = true;

	for (const struct pl_param *p = step->op->params; p && p->key; p++)
		if (p->kind == PL_PARAM_EXPR)
			is_ok &= check_expr(b, step, p);
	return is_ok;
}

/* `select` decides whether _index, _key and _source are delivered. */
static void note_chosen(struct pl_build *b, const struct pl_step *step)
{
	const struct pl_param *param = pl_params_find(step->op->params, "fields");
	const struct pl_param_texts *texts;

	if (!is_op(step, "select") || !param || param->kind != PL_PARAM_TEXTS)
		return;
	texts = (const void *)((const char *)step->params + param->offset);
	b->state.chosen = 0;
	for (int i = 0; i < texts->n; i++)
		for (int f = b->standing; f < b->standing + 3; f++)
			if (texts->v[i][0] == '_' &&
				fnmatch(texts->v[i], b->plan->field_name[f], 0) == 0)
				b->state.chosen |= (uint64_t)1 << f;
}

static uint64_t live_bits(const struct pl_build *b, const struct pl_state *s)
{
	uint64_t bits = 0;

	for (int f = 0; f < b->plan->n_fields; f++)
		if (s->is_live[f])
			bits |= (uint64_t)1 << f;
	return bits;
}

/* A field that a step made and that ends without having been read. */
static void warn_lost(struct pl_build *b, const struct pl_state *before, uint64_t ended)
{
	for (int f = 0; f < b->plan->n_fields; f++) {
		int writer = before->writer[f];

		if (!(ended >> f & 1) || !(b->state.unread >> f & 1) || writer < 0)
			continue;
		pl_diag_warning(b->diag, b->note[writer].name->at,
			"field '%s' is computed here, but never used or delivered",
			b->plan->field_name[f]);
	}
}

static void note_written(struct pl_build *b, struct pl_step *step, int depth)
{
	bool is_always = depth == 0 && step->p >= 1 && !(step->op->flags & PL_OP_STRUCTURE);

	for (int i = 0; i < step->n; i++) {
		int f = step->out[i];

		step->type[i] = b->state.type[f];
		if (is_class(step, "debug") || step->only_reads[i])
			continue;
		b->state.writer[f] = step->id;
		b->state.row_writer[f] = is_always ? step->id : -1;
		if (i < step->n_own || step->out[i] == step->in[i]) /* no by-product */
			b->state.unread |= (uint64_t)1 << f;
	}
}

/* Under p, group and one_of: after the step every field must be what it was before. */
static bool check_unchanged(struct pl_build *b, const struct pl_step *step,
	const struct pl_state *before, const char *why)
{
	uint64_t changed = live_bits(b, before) ^ live_bits(b, &b->state);
	char old[256];
	char new[256];

	for (int f = 0; f < b->plan->n_fields; f++) {
		const struct pl_type *type = &b->state.type[f];

		if (changed >> f & 1) {
			pl_diag_error(b->diag, step->at, "step '%s': %s, so it can't %s field '%s'",
				step->op->name, why, b->state.is_live[f] ? "add" : "end",
				b->plan->field_name[f]);
			return false;
		}
		if (!b->state.is_live[f] ||
			(pl_type_is_same(type, &before->type[f]) &&
				type->kind == before->type[f].kind &&
				memcmp(type->shape, before->type[f].shape,
					(size_t)type->rank * sizeof(type->shape[0])) == 0))
			continue;
		pl_diag_error(b->diag, step->at,
			"step '%s': %s, so field '%s' must stay %s, but it becomes %s",
			step->op->name, why, b->plan->field_name[f],
			pl_type_format(old, sizeof(old), &before->type[f]),
			pl_type_format(new, sizeof(new), type));
		return false;
	}
	return true;
}

static bool check_group(struct pl_build *b, struct pl_step *step, int depth)
{
	struct pl_state *before = malloc(sizeof(*before));
	bool is_ok;

	if (!before)
		return false;
	*before = b->state;
	is_ok = check_list(b, &step->list[0], depth + 1);
	if (is_ok && step->p < 1 && !b->state.is_poisoned)
		is_ok = check_unchanged(
			b, step, before, "with p below 1 it doesn't run for every sample");
	free(before);
	return is_ok;
}

static bool check_branch(
	struct pl_build *b, struct pl_step *step, const struct pl_state *before, int i, int depth)
{
	b->state = *before;
	if (!check_list(b, &step->list[i], depth + 1))
		return false;
	return b->state.is_poisoned ||
	       check_unchanged(b, step, before, "only one of its branches runs for a sample");
}

/* What any branch reads was read; what any branch writes is written by no step for certain. */
static bool check_one_of(struct pl_build *b, struct pl_step *step, int depth)
{
	struct pl_state *before = malloc(sizeof(*before));
	bool is_ok = true;
	int row_writer[PL_FIELDS_MAX];

	if (!before)
		return false;
	*before = b->state;
	memcpy(row_writer, before->row_writer, sizeof(row_writer));
	for (int i = 0; i < step->n_lists && is_ok; i++) {
		is_ok = check_branch(b, step, before, i, depth);
		for (int f = 0; f < PL_FIELDS_MAX; f++)
			if (b->state.writer[f] != before->writer[f])
				row_writer[f] = -1;
	}
	memcpy(b->state.row_writer, row_writer, sizeof(row_writer));
	free(before);
	return is_ok;
}

/* Tells what can't stand where it does in post_main. */
static bool check_post_place(struct pl_build *b, const struct pl_step *step)
{
	bool is_batch = is_class(step, "batch");
	bool works_on_samples = is_class(step, "order") || is_batch;
	bool works_on_batches = !works_on_samples && step->op->run && !is_class(step, "debug") &&
				!(step->op->flags & PL_OP_NO_FIELD);

	if (b->state.is_batched && works_on_samples) {
		pl_diag_error(b->diag, step->at,
			"step '%s' works on samples: it must stand before 'batch'", step->op->name);
		return false;
	}
	if (!b->state.is_batched && works_on_batches) {
		pl_diag_error(b->diag, step->at,
			"step '%s' works on finished batches in post_main: put it after 'batch', "
			"or into workers",
			step->op->name);
		return false;
	}
	return true;
}

static bool check_types(struct pl_build *b, struct pl_step *step, int depth)
{
	bool is_views = is_op(step, "views");

	if (is_op(step, "batch"))
		return pl_infer_batch(b, step);
	if (!is_views && step->op->flags & PL_OP_STRUCTURE)
		return is_op(step, "group") ? check_group(b, step, depth)
					    : check_one_of(b, step, depth);
	if (!check_exprs(b, step) ||
		!(is_views ? pl_views_fields(b, step) : pl_fields_resolve(b, step)))
		return false;
	for (int i = 0; i < step->n; i++)
		mark_used(b, (uint64_t)1 << step->in[i], b->note[step->id].stage);
	return pl_infer_step(b, step);
}

static void end_fields(struct pl_build *b, struct pl_step *step, const struct pl_state *before)
{
	uint64_t was_live = live_bits(b, before);

	for (int f = 0; f < b->plan->n_fields; f++)
		if (step->ends >> f & 1)
			b->state.is_live[f] = false;
	step->live = live_bits(b, &b->state);
	step->ends |= was_live & ~step->live;
	warn_lost(b, before, was_live & ~step->live);
}

static bool check_step(struct pl_build *b, struct pl_step *step, int depth)
{
	struct pl_state *before;
	bool is_ok;

	if (b->note[step->id].is_failed)
		return false;
	if (b->note[step->id].stage == PL_STAGE_POST && !check_post_place(b, step))
		return false;
	if (step->view[0] && (is_op(step, "select") || is_op(step, "drop"))) {
		pl_diag_error(b->diag, step->at,
			"step '%s' can't stand in a view: put it after views", step->op->name);
		return false;
	}
	before = malloc(sizeof(*before));
	if (!before)
		return false;
	*before = b->state;
	is_ok = check_types(b, step, depth);
	if (is_ok) {
		note_chosen(b, step);
		end_fields(b, step, before);
		note_written(b, step, depth);
	}
	if (is_ok && step->p < 1 && !(step->op->flags & PL_OP_STRUCTURE))
		is_ok = check_unchanged(
			b, step, before, "with p below 1 it doesn't run for every sample");
	free(before);
	return is_ok;
}

static bool check_list(struct pl_build *b, struct pl_step_list *list, int depth)
{
	bool is_ok = true;

	for (int i = 0; i < list->n; i++) {
		struct pl_step *step = &list->step[i];

		if (check_step(b, step, depth))
			continue;
		is_ok = false;
		if (!is_class(step, "debug") && !is_class(step, "order"))
			b->state.is_poisoned = true;
	}
	return is_ok;
}

/* Before the workers only what is known without reading exists; _index, _key and _source always do.
 */
static void begin(struct pl_build *b, bool is_known_only)
{
	const struct pl_source_use *use = &b->plan->source;

	for (int i = 0; i < use->n_fields; i++)
		b->state.is_live[use->field[i]] = use->declared[i].is_known || !is_known_only;
	for (int f = b->standing; f < b->standing + 3; f++)
		b->state.is_live[f] = true;
	memcpy(b->state.type, b->plan->source_type, sizeof(b->state.type));
	for (int f = 0; f < PL_FIELDS_MAX; f++) {
		b->state.writer[f] = -1;
		b->state.row_writer[f] = -1;
	}
}

static void find_batch(struct pl_build *b)
{
	struct pl_step_list *post = &b->plan->post;

	b->plan->batch_at = -1;
	for (int i = post->n - 1; i >= 0; i--)
		if (is_op(&post->step[i], "batch"))
			b->plan->batch_at = i;
}

bool pl_check(struct pl_build *b)
{
	bool is_ok;

	find_batch(b);
	begin(b, true);
	is_ok = check_list(b, &b->plan->pre, 0);
	b->state.is_poisoned = false;
	begin(b, false);
	is_ok &= check_list(b, &b->plan->worker, 0);
	b->worker_end = b->state;
	is_ok &= check_list(b, &b->plan->post, 0);
	return is_ok && pl_deliver(b);
}
