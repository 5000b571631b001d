/* daemon/plan/infer.c - types after a step: the step's own infer, and what batch makes of them. */
#include <stdio.h>

#include "daemon/kit/batch.h"
#include "daemon/plan/build.h"

/* In state.type axis 0 of every dense field is the batch once is_batched: its full size. */

const char *pl_field_text(const struct pl_build *b, int field, char *out, size_t n)
{
	char type[256];

	snprintf(out, n, "'%s' (%s)", b->plan->field_name[field],
		pl_type_format(type, sizeof(type), &b->state.type[field]));
	return out;
}

static int run_infer(
	struct pl_build *b, struct pl_step *step, struct pl_state *s, struct pl_err *err)
{
	struct pl_infer io = {
		.type = s->type,
		.name = b->plan->field_name,
		.is_live = s->is_live,
		.n_fields = b->plan->n_fields,
		.in = step->in,
		.out = step->out,
		.n = step->n,
		.n_own = step->n_own,
		.stage = b->note[step->id].stage,
		.is_batched = s->is_batched,
		.dir = b->plan->dir,
		.roots = &b->plan->roots,
	};

	for (int i = 0; i < step->n; i++) {
		if (step->out[i] != step->in[i])
			s->type[step->out[i]] = s->type[step->in[i]];
		s->is_live[step->out[i]] = true;
	}
	return step->op->infer ? step->op->infer(&io, step->params, err) : 0;
}

static bool tell(struct pl_build *b, const struct pl_step *step, const struct pl_err *err)
{
	if (!b->state.is_poisoned)
		pl_step_tell(b, step, err);
	return false;
}

static const struct pl_batch_params *batch_params(const struct pl_build *b)
{
	return b->plan->post.step[b->plan->batch_at].params;
}

static void set_batch_axis(struct pl_build *b, struct pl_state *s, int64_t length)
{
	for (int f = 0; f < b->plan->n_fields; f++)
		if (s->is_live[f] && !(s->ragged >> f & 1))
			s->type[f].shape[0] = length;
}

static bool is_batch_axis_kept(
	const struct pl_type *type, const struct pl_type *other, int64_t size)
{
	if (type->rank != other->rank || type->rank < 1 || type->shape[0] != size ||
		other->shape[0] != size + 1)
		return false;
	for (int d = 1; d < type->rank; d++)
		if (type->shape[d] != other->shape[d])
			return false;
	return true;
}

static bool refuse_ragged(struct pl_build *b, const struct pl_step *step)
{
	for (int i = 0; i < step->n; i++) {
		if (!(b->state.ragged >> step->in[i] & 1) || strcmp(step->op->class_, "debug") == 0)
			continue;
		pl_diag_error(b->diag, step->at,
			"step '%s': field '%s' is ragged after batch (its length varies from "
			"sample to "
			"sample): do this in workers",
			step->op->name, b->plan->field_name[step->in[i]]);
		return true;
	}
	return false;
}

/*
 * After batch a step sees axis 0 = batch. It must leave it there, whatever its length: judged by
 * two lengths. The last call leaves in params what the step shall run with.
 */
static bool infer_batched(struct pl_build *b, struct pl_step *step)
{
	const struct pl_batch_params *batch = batch_params(b);
	const struct pl_state before = b->state;
	struct pl_state other = before;
	struct pl_err err = {0};
	bool is_odd;

	if (refuse_ragged(b, step))
		return false;
	set_batch_axis(b, &other, batch->size + 1);
	is_odd = run_infer(b, step, &other, &err) < 0;
	/* what doesn't fit the batch as it is, is told of that */
	if (run_infer(b, step, &b->state, &err) < 0 || is_odd)
		return tell(b, step, &err);
	for (int i = 0; i < step->n; i++) {
		if (b->state.ragged >> step->in[i] & 1 ||
			is_batch_axis_kept(&b->state.type[step->out[i]], &other.type[step->out[i]],
				batch->size))
			continue;
		pl_diag_error(b->diag, step->at,
			"step '%s': after batch, axis 0 of every field is the batch and must stay "
			"axis 0",
			step->op->name);
		return false;
	}
	if (batch->drop_last)
		return true;
	other = before;
	set_batch_axis(b, &other, -1);
	return run_infer(b, step, &other, &err) == 0 || tell(b, step, &err);
}

bool pl_infer_step(struct pl_build *b, struct pl_step *step)
{
	struct pl_err err = {0};

	if (b->state.is_batched)
		return infer_batched(b, step);
	return run_infer(b, step, &b->state, &err) == 0 || tell(b, step, &err);
}

static bool is_picture(enum pl_kind kind)
{
	return kind == PL_KIND_IMAGE || kind == PL_KIND_MASK || kind == PL_KIND_VIDEO;
}

enum pl_form pl_form_of(const struct pl_type *type, bool has_batch)
{
	if (pl_type_is_fixed(type))
		return PL_FORM_FIXED;
	if (!has_batch || is_picture(type->kind))
		return PL_FORM_SINGLE;
	for (int d = 1; d < type->rank; d++)
		if (type->shape[d] < 0)
			return PL_FORM_SINGLE;
	return PL_FORM_RAGGED;
}

/* "height and width", "axes 0 and 1". */
static const char *unknown_axes(const struct pl_type *type, char *out, size_t n)
{
	static const char *const image[] = {"height", "width", "channels"};
	static const char *const video[] = {"length", "height", "width", "channels"};
	const char *const *names = type->kind == PL_KIND_VIDEO ? video
				   : is_picture(type->kind)    ? image
							       : NULL;
	int n_names = type->kind == PL_KIND_VIDEO ? 4 : 3;
	size_t at = 0;
	int left = 0;

	out[0] = '\0';
	for (int d = 0; d < type->rank; d++)
		left += type->shape[d] < 0;
	for (int d = 0; d < type->rank && at < n; d++) {
		if (type->shape[d] >= 0)
			continue;
		left--;
		if (names && d < n_names)
			at += (size_t)snprintf(
				out + at, n - at, "%s%s", names[d], left > 0 ? " and " : "");
		else
			at += (size_t)snprintf(
				out + at, n - at, "axis %d%s", d, left > 0 ? " and " : "");
	}
	return out;
}

static void tell_unstackable(struct pl_build *b, const struct pl_step *batch, int field)
{
	const struct pl_type *type = &b->state.type[field];
	int writer = b->state.writer[field];
	char axes[200];
	char text[320];
	const char *after = writer >= 0 ? b->note[writer].name->text : b->plan->source.op->name;

	pl_diag_error(b->diag, batch->at,
		"step 'batch': samples of %s can't be stacked: %s unknown after '%s'; %s",
		pl_field_text(b, field, text, sizeof(text)), unknown_axes(type, axes, sizeof(axes)),
		after,
		is_picture(type->kind) ? "bring it to one size in workers (resize to a size, crop "
					 "or pad), or drop it"
				       : "only axis 0 may vary: bring the others to one length in "
					 "workers, or drop the field");
	if (writer >= 0)
		pl_diag_note(b->diag, b->note[writer].name->at, "'%s' was written here",
			b->plan->field_name[field]);
}

static void add_batch_axis(struct pl_type *type, int64_t size)
{
	memmove(&type->shape[1], &type->shape[0], (size_t)type->rank * sizeof(type->shape[0]));
	type->shape[0] = size;
	type->rank++;
}

/* Judges every field that comes in, then gives the dense ones their batch axis. */
bool pl_infer_batch(struct pl_build *b, struct pl_step *step)
{
	const struct pl_batch_params *params = step->params;
	struct pl_err err = {0};
	bool is_ok = true;

	for (int f = 0; f < b->plan->n_fields; f++) {
		const struct pl_type *type = &b->state.type[f];
		bool is_seen = b->state.is_live[f] && !b->state.is_poisoned;

		if (!is_seen)
			continue;
		if (pl_form_of(type, true) == PL_FORM_SINGLE || type->rank == PL_RANK_MAX) {
			tell_unstackable(b, step, f);
			is_ok = false;
		}
	}
	if (!is_ok)
		return false;
	if (step->op->infer && run_infer(b, step, &b->state, &err) < 0)
		return tell(b, step, &err);
	for (int f = 0; f < b->plan->n_fields; f++) {
		if (!b->state.is_live[f])
			continue;
		if (pl_form_of(&b->state.type[f], true) == PL_FORM_RAGGED)
			b->state.ragged |= (uint64_t)1 << f;
		else
			add_batch_axis(&b->state.type[f], params->size);
	}
	b->state.is_batched = true;
	return true;
}
