/* daemon/flow/postmain.c - the single-threaded stage: steps before batch on a sample, after it on a
 * batch. */
#include "daemon/flow/flow.h"

#include <errno.h>

/* take and skip: one run of the samples that reach them stays. */
static bool stays(struct pl_lap *lap, int i, const struct pl_step *step)
{
	struct pl_order o = {.n_in = UINT64_MAX, .epoch = lap->epoch, .place = step->place};
	uint64_t at = lap->passed[i]++, first;

	if (step->op->order(step->params, &o, NULL) < 0)
		return false;
	first = step->op->at(step->params, &o, 0);
	/* the last one: nothing behind it need be read */
	if (at >= first && at - first >= o.n_out - 1) {
		lap->is_dealt = true;
		lap->has_next = false;
	}
	return pl_step_keeps(step, &o, at);
}

/* Points the rows of a step's outputs at its rooms in the slot. */
static void prepare_rooms(
	struct pl_flow *f, const struct pl_step *step, struct pl_sample *sample, uint32_t slot)
{
	for (int k = 0; k < step->n; k++) {
		const struct pl_post_room *room = &f->plan->post_room[step->id][k];
		struct pl_tensor *row = &sample->row[step->out[k]];
		int64_t shape[PL_RANK_MAX];

		*row = (struct pl_tensor){0};
		if (slot == PL_NO_SLOT || room->bytes == 0)
			continue;
		memcpy(shape, step->type[k].shape, sizeof(shape));
		if (f->plan->layout.has_batch && step->type[k].rank > 0)
			shape[0] = sample->value[step->in[k]].shape[0];
		if (pl_tensor_init(row, pl_arena_slot(&f->arena, slot) + room->offset,
			    step->type[k].dtype, step->type[k].rank, shape) == 0 &&
			(uint64_t)pl_tensor_bytes(row) > room->bytes)
			row->data = NULL;
	}
}

/* A result that the step left in scratch goes to its room: clients see only the slot. */
static int settle(struct pl_flow *f, const struct pl_step *step, struct pl_sample *sample,
	uint32_t slot, struct pl_err *err)
{
	for (int k = 0; k < step->n; k++) {
		struct pl_tensor *value = &sample->value[step->out[k]], there;
		const struct pl_post_room *room = &f->plan->post_room[step->id][k];
		const char *base = slot == PL_NO_SLOT ? NULL : pl_arena_slot(&f->arena, slot);

		if (!base || pl_tensor_check(value, base, f->arena.slot_bytes) == 0)
			continue;
		if (room->bytes == 0 || (uint64_t)pl_tensor_bytes(value) > room->bytes)
			return pl_err_set(err, -ENOSPC,
				"post_main step '%s' (line %d): its result has no room in the "
				"batch",
				step->op->name, step->at.line);
		if (pl_tensor_init(&there, pl_arena_slot(&f->arena, slot) + room->offset,
			    value->dtype, value->rank, value->shape) < 0 ||
			pl_tensor_copy(&there, value) < 0)
			return pl_err_set(err, -EINVAL,
				"post_main step '%s': its result can't be kept", step->op->name);
		*value = there;
	}
	return 0;
}

int pl_postmain_run(struct pl_flow *f, struct pl_lap *lap, struct pl_sample *sample, uint32_t slot,
	struct pl_err *err)
{
	int from = slot == PL_NO_SLOT ? 0 : f->n_before,
	    to = slot == PL_NO_SLOT ? f->n_before : f->plan->post.n;

	pl_scratch_reset(&f->scratch);
	sample->scratch = &f->scratch;
	f->post_steps.trace = f->tracing && f->tracing->wants_trace ? pl_trace_sink : NULL;
	pl_steps_begin(&f->post_steps);
	for (int i = from; i < to; i++) {
		const struct pl_step *step = &f->plan->post.step[i], *failed;
		struct pl_step_list one = {.n = 1, .step = &f->plan->post.step[i]};
		int r;

		if (i == f->plan->batch_at)
			continue;
		if (pl_step_is_order(step)) {
			if (!stays(lap, i, step))
				return 0;
			continue;
		}
		prepare_rooms(f, step, sample, slot);
		r = pl_steps_run(&f->post_steps, &one, sample, &failed, err);
		if (r == 0)
			r = settle(f, step, sample, slot, err);
		if (r < 0)
			pl_err_prefix(err, "post_main step '%s' (line %d): ", step->op->name,
				step->at.line);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	return 1;
}

/* The batch's tensors as the workers and the gatherer left them in the slot. */
static int batch_values(struct pl_flow *f, uint32_t slot, uint64_t size, struct pl_sample *sample,
	struct pl_err *err)
{
	const struct pl_layout *layout = &f->plan->layout;
	char *base = pl_arena_slot(&f->arena, slot);
	int varying = 0;

	for (int k = 0; k < layout->n_deliveries; k++) {
		const struct pl_delivery *d = &layout->delivery[k];
		const int64_t *single = d->form == PL_FORM_FIXED ? NULL
					: f->single[slot]
						? f->single[slot] + varying++ * PL_SHAPE_WORDS
						: NULL;
		int64_t shape[PL_RANK_MAX + 1];
		int rank = d->type.rank;

		memcpy(shape + 1, d->type.shape, sizeof(d->type.shape));
		shape[0] = (int64_t)size;
		if (d->form == PL_FORM_RAGGED)
			shape[1] = (int64_t)f->ragged_used[slot][k];
		if (d->form == PL_FORM_SINGLE && single)
			memcpy(shape + 1, single + 1, sizeof(d->type.shape));
		if (rank + 1 > PL_RANK_MAX ||
			pl_tensor_init(&sample->value[d->field], base + d->slot_offset,
				d->type.dtype,
				rank + (layout->has_batch && d->form == PL_FORM_FIXED),
				layout->has_batch && d->form == PL_FORM_FIXED ? shape : shape + 1) <
				0)
			return pl_err_set(err, -EINVAL,
				"field '%s' has no valid shape in the batch",
				f->plan->field_name[d->field]);
	}
	return 0;
}

/* Where the offsets of a result field lie, when it is ragged. */
static uint64_t offsets_of(
	const struct pl_flow *f, const struct pl_result_field *result, uint32_t slot)
{
	for (int k = 0; result->form == PL_FORM_RAGGED && k < f->plan->layout.n_deliveries; k++)
		if (f->plan->layout.delivery[k].field == result->field)
			return f->arena.slots_offset + (uint64_t)slot * f->arena.slot_bytes +
			       f->plan->layout.delivery[k].offsets_offset;
	return 0;
}

static void make_views(struct pl_flow *f, uint32_t slot, const struct pl_sample *sample)
{
	for (int i = 0; i < f->plan->n_results; i++) {
		const struct pl_tensor *t = &sample->value[f->plan->result[i].field];
		struct pl_wire_view *v = &f->view[slot][i];

		v->offset = (uint64_t)((const char *)t->data - f->arena.base);
		v->dtype = t->dtype;
		v->rank = t->rank;
		memcpy(v->shape, t->shape, sizeof(v->shape));
		memcpy(v->stride, t->stride, sizeof(v->stride));
		v->offsets_offset = offsets_of(f, &f->plan->result[i], slot);
	}
}

int pl_postmain_batch(
	struct pl_flow *f, struct pl_lap *lap, uint32_t slot, uint64_t size, struct pl_err *err)
{
	struct pl_sample *sample = &f->post_sample;
	int r = batch_values(f, slot, size, sample, err);

	if (r < 0)
		return r;
	f->tracing = f->slots.slot[slot].stream->member;
	sample->where.key =
		(struct pl_draw_key){f->plan->seed, lap->epoch, lap->first_batch + lap->n_ready, 0};
	r = pl_postmain_run(f, lap, sample, slot, err);
	if (r == 1)
		make_views(f, slot, sample);
	return r;
}

void pl_postmain_resume(struct pl_flow *f, struct pl_lap *lap)
{
	uint64_t n = lap->first_batch * (uint64_t)f->plan->layout.batch_size;
	int last = f->plan->batch_at >= 0 ? f->plan->batch_at : f->plan->post.n;

	for (int i = last - 1; i >= 0 && n > 0; i--) {
		const struct pl_step *step = &f->plan->post.step[i];
		struct pl_order o = {.n_in = UINT64_MAX};

		if (!pl_step_is_order(step) || step->op->order(step->params, &o, NULL) < 0)
			continue;
		n += step->op->at(step->params, &o, 0);
		lap->passed[i] = n;
	}
}
