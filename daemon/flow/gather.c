/* daemon/flow/gather.c - takes what came back, strictly in record order, into the batches. */
/*
 * Row G is where the next good sample belongs. A sample written to a later row (there was a hole)
 * or to a cell is copied there; with no hole that is where it already lies. Row G is never one that
 * a shard in flight still writes to: every place in flight is at or beyond G (SEMANTICS A5).
 */
#include "daemon/flow/flow.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#define SUBSTITUTES_MAX 16

static uint64_t batch_size(const struct pl_flow *f)
{
	return (uint64_t)f->plan->layout.batch_size;
}

static uint32_t slot_of_row(const struct pl_flow *f, const struct pl_lap *lap, uint64_t row)
{
	return lap->slot_of[row / batch_size(f) % PL_ARENA_SLOTS_MAX];
}

/* A completed batch: post-main's last part, then READY. 1, 0 (its only sample was dropped by
 * post-main), -errno. */
static int complete_batch(struct pl_stream *s, struct pl_lap *lap, uint64_t size,
	const struct pl_shard *shard, struct pl_err *err)
{
	struct pl_flow *f = s->flow;
	uint32_t slot = lap->slot_of[lap->n_ready % PL_ARENA_SLOTS_MAX];
	struct pl_ready *ready = &f->ready[slot];
	int r = pl_postmain_batch(f, lap, slot, size, err);

	if (r <= 0)
		return r;
	lap->n_ready++;
	ready->size = size;
	ready->bad = lap->bad;
	ready->is_last = pl_lap_is_out(s, lap);
	ready->after =
		ready->is_last
			? (struct pl_wire_position){.epoch = lap->epoch + 1u}
			: (struct pl_wire_position){
				  .epoch = lap->epoch,
				  .number = lap->first_batch + lap->n_ready,
				  .record = shard ? shard->first_position + shard->gathered : 0,
				  .bad = lap->bad,
			  };
	pl_slot_publish(&f->slots, slot, 1);
	return 1;
}

static void write_index(struct pl_flow *f, uint32_t slot, uint64_t row_in_batch, uint64_t index)
{
	memcpy(pl_arena_slot(&f->arena, slot) + f->plan->layout.index_offset +
			row_in_batch * sizeof(index),
		&index, sizeof(index));
}

/* Shapes of record i's deliveries that aren't fixed. */
static const int64_t *shapes_of(const struct pl_flow *f, const struct pl_shard *shard, uint32_t i)
{
	return shard->shapes + (size_t)i * (size_t)f->n_varying * PL_SHAPE_WORDS;
}

static uint64_t bytes_of_shape(const struct pl_delivery *d, const int64_t *shape)
{
	uint64_t n = pl_dtype_size(d->type.dtype);

	for (int64_t i = 0; i < shape[0] && i < PL_RANK_MAX; i++)
		n *= (uint64_t)shape[1 + i];
	return n;
}

/* Appends a cell's ragged value to the batch; -ENOSPC when the batch has no more room for it. */
static int append_ragged(struct pl_flow *f, const struct pl_delivery *d, uint32_t slot,
	const char *value, const int64_t *shape)
{
	uint64_t *used = &f->ragged_used[slot][d - f->plan->layout.delivery];
	char *base = pl_arena_slot(&f->arena, slot);
	uint64_t bytes = (uint64_t)shape[1] * d->row_bytes;

	if (bytes > d->cell_bytes || *used * d->row_bytes + bytes > d->slot_bytes)
		return -ENOSPC;
	memcpy(base + d->slot_offset + *used * d->row_bytes, value, bytes);
	*used += (uint64_t)shape[1];
	return 0;
}

static void write_offset(
	struct pl_flow *f, const struct pl_delivery *d, uint32_t slot, uint64_t row)
{
	int64_t end = (int64_t)f->ragged_used[slot][d - f->plan->layout.delivery];

	memcpy(pl_arena_slot(&f->arena, slot) + d->offsets_offset + (row + 1) * sizeof(end), &end,
		sizeof(end));
}

/* One sample on its way from where its worker wrote it to its row in `slot`. */
struct move {
	struct pl_target from;
	struct pl_target to;
	uint32_t slot;
};

/* `kept`: where the shape of a value that isn't fixed stays with the slot. */
static int move_delivery(struct pl_flow *f, const struct move *m, const struct pl_delivery *d,
	const int64_t *shape, int64_t *kept)
{
	char *source = pl_target_at(&m->from, d);
	char *there = d->form == PL_FORM_RAGGED ? NULL : pl_target_at(&m->to, d);
	int r = 0;

	switch (d->form) {
	case PL_FORM_FIXED:
		if (source != there)
			memcpy(there, source, d->row_bytes);
		break;
	case PL_FORM_SINGLE:
		if (source != there)
			memcpy(there, source, pl_min_u64(bytes_of_shape(d, shape), d->row_bytes));
		memcpy(kept, shape, PL_SHAPE_WORDS * sizeof(*shape));
		break;
	case PL_FORM_RAGGED:
		r = append_ragged(f, d, m->slot, source, shape);
		if (r == 0)
			write_offset(f, d, m->slot, m->to.row);
		break;
	}
	return r;
}

/* Brings a good sample from where its worker wrote it to row G. */
static int move_sample(struct pl_stream *s, struct pl_lap *lap, const struct pl_shard *shard,
	uint32_t i, struct pl_err *err)
{
	struct pl_flow *f = s->flow;
	const struct pl_layout *layout = &f->plan->layout;
	uint64_t row = shard->first_row + i;
	struct move m = {.slot = slot_of_row(f, lap, lap->G)};
	const int64_t *shape = f->n_varying ? shapes_of(f, shard, i) : NULL;
	int64_t *kept = f->single[m.slot];

	m.to = (struct pl_target){
		.slot = pl_arena_slot(&f->arena, m.slot), .row = lap->G % batch_size(f)};
	if (shard->has_rows) {
		assert(lap->G <= row);
		m.from.slot = pl_arena_slot(&f->arena, slot_of_row(f, lap, row));
		m.from.row = row % batch_size(f);
	}
	if (shard->has_cells)
		m.from.cell = pl_arena_cell(&f->arena, shard->cell[i]);
	for (int k = 0; k < layout->n_deliveries; k++) {
		const struct pl_delivery *d = &layout->delivery[k];

		if (move_delivery(f, &m, d, shape, kept) < 0)
			return pl_err_set(err, -ENOSPC,
				"a batch's '%s' takes more than the %llu bytes there is room for: "
				"raise memory, or lower the batch size",
				f->plan->field_name[d->field], (unsigned long long)d->slot_bytes);
		if (d->form != PL_FORM_FIXED) {
			shape += PL_SHAPE_WORDS;
			kept += PL_SHAPE_WORDS;
		}
	}
	return 0;
}

/* The sample as post-main's steps before batch see it: in its cell. 1, 0, -errno. */
static int run_before(struct pl_stream *s, struct pl_lap *lap, const struct pl_shard *shard,
	uint32_t i, struct pl_err *err)
{
	struct pl_flow *f = s->flow;
	const int64_t *shape = f->n_varying ? shapes_of(f, shard, i) : NULL;
	struct pl_target cell = {.cell = pl_arena_cell(&f->arena, shard->cell[i])};
	struct pl_sample *sample = &f->post_sample;

	for (int k = 0; k < f->plan->layout.n_deliveries; k++) {
		const struct pl_delivery *d = &f->plan->layout.delivery[k];
		const int64_t *lengths = d->form == PL_FORM_FIXED ? d->type.shape : shape + 1;

		if (pl_tensor_init(&sample->value[d->field], pl_target_at(&cell, d), d->type.dtype,
			    d->type.rank, lengths) < 0)
			return pl_err_set(err, -EINVAL, "field '%s' has no valid shape",
				f->plan->field_name[d->field]);
		if (d->form != PL_FORM_FIXED)
			shape += PL_SHAPE_WORDS;
	}
	f->tracing = s->member;
	sample->where.key =
		(struct pl_draw_key){f->plan->seed, lap->epoch, pl_shard_index(shard, i), 0};
	return pl_postmain_run(f, lap, sample, PL_NO_SLOT, err);
}

static void free_cell(struct pl_flow *f, struct pl_shard *shard, uint32_t i)
{
	if (shard->has_cells && shard->cell[i] != PL_NO_CELL)
		pl_cell_release(&f->slots, shard->cell[i]);
	if (shard->has_cells)
		shard->cell[i] = PL_NO_CELL;
}

static int take_good(struct pl_stream *s, struct pl_lap *lap, struct pl_shard *shard, uint32_t i,
	struct pl_err *err)
{
	struct pl_flow *f = s->flow;
	uint32_t slot;
	int r = 1;

	if (f->n_before > 0)
		r = run_before(s, lap, shard, i, err);
	if (r == 1 && move_sample(s, lap, shard, i, err) < 0)
		r = err->code;
	free_cell(f, shard, i);
	shard->gathered = i + 1;
	lap->F--;
	if (r != 1)
		return r;
	slot = slot_of_row(f, lap, lap->G);
	write_index(f, slot, lap->G % batch_size(f), pl_shard_index(shard, i));
	lap->G++;
	if (lap->G % batch_size(f) == 0) {
		r = complete_batch(s, lap, batch_size(f), shard, err);
		if (r == 0)
			lap->G--; /* without batch: post-main dropped it, its row is filled again */
	}
	return r < 0 ? r : 0;
}

/* The text that came with record i: of its error, or its trace lines in turn. */
static const struct pl_result_text *find_text(
	const struct pl_shard *shard, uint32_t i, bool is_trace, struct pl_reader *r)
{
	const struct pl_result_text *head;

	while ((head = pl_reader_take(r, sizeof(*head))) &&
		pl_reader_take(r, pl_align_up(head->n, 8)))
		if (head->record == i && head->is_trace == is_trace)
			return head;
	return NULL;
}

static void forward_traces(struct pl_stream *s, const struct pl_shard *shard, uint32_t i)
{
	struct pl_reader r = {shard->texts, shard->texts_bytes};
	const struct pl_result_text *head;
	char line[1024];

	while ((head = find_text(shard, i, true, &r))) {
		snprintf(line, sizeof(line), "%.*s", (int)head->n, (const char *)(head + 1));
		pl_trace_line(s, line);
	}
}

static void describe_bad(
	struct pl_flow *f, const struct pl_shard *shard, uint32_t i, struct pl_err *err)
{
	struct pl_reader r = {shard->texts, shard->texts_bytes};
	const struct pl_result_text *head = find_text(shard, i, false, &r);
	char name[512];

	if (head) {
		pl_err_set(err, head->code ? -(int)head->code : -EIO, "%.*s", (int)head->n,
			(const char *)(head + 1));
		return;
	}
	pl_err_set(err, -EIO, "%s: %s",
		pl_record_quote(f->plan, f->listing, pl_shard_index(shard, i), name, sizeof(name)),
		shard->blame_text ? shard->blame_text : "it was left out");
}

static int next_passing(struct pl_premain *p, uint64_t *index)
{
	int r;

	do
		r = pl_premain_next(p, index, NULL);
	while (r == PL_PREMAIN_AGAIN);
	return r;
}

/* The record that pre-main gives `step` places after the bad one's (from its start again at the
 * end): the same whatever the shards were. */
static int find_substitute(struct pl_stream *s, const struct pl_lap *lap, uint64_t position,
	uint32_t step, uint64_t *index)
{
	struct pl_flow *f = s->flow;
	struct pl_premain *p = calloc(1, sizeof(*p));
	int r = -ENOMEM;

	if (!p)
		return r;
	f->pre_steps.trace = NULL;
	r = pl_flow_premain(f, p, lap->epoch, NULL);
	if (r == 0)
		r = pl_premain_seek(p, position + step, NULL);
	if (r == 0)
		r = next_passing(p, index);
	if (r == 0) { /* the epoch ends before it: begin again */
		pl_premain_close(p);
		r = pl_flow_premain(f, p, lap->epoch, NULL);
		r = r < 0 ? r : next_passing(p, index);
	}
	pl_premain_close(p);
	free(p);
	return r == 1 ? 0 : -EIO;
}

/* Another record takes the bad one's place: a shard of one, which everything behind it waits for.
 */
static int substitute(struct pl_stream *s, struct pl_lap *lap, struct pl_shard *shard, uint32_t i)
{
	struct pl_flow *f = s->flow;
	struct pl_shard *other;
	struct pl_hand *hand;
	uint64_t index;

	if (shard->attempts >= SUBSTITUTES_MAX ||
		find_substitute(s, lap, shard->first_position + i, shard->attempts + 1, &index) < 0)
		return -EIO;
	other = pl_shard_acquire(f, 1);
	if (!other)
		return -ENOMEM;
	other->stream = s;
	other->lap = lap;
	other->n = 1;
	other->first = index;
	other->first_position = shard->first_position + i;
	other->attempts = shard->attempts + 1;
	other->wants_trace = shard->wants_trace;
	other->has_rows = shard->has_rows;
	other->first_row = shard->first_row + i;
	if (other->has_rows) {
		uint32_t slot = slot_of_row(f, lap, other->first_row);

		other->extent[other->n_extents++] =
			(struct pl_extent){slot, (uint32_t)(other->first_row % batch_size(f)), 1};
		f->slots.slot[slot].n_shards++;
	}
	other->has_cells = shard->has_cells;
	if (other->has_cells) {
		other->cell[0] = shard->cell[i];
		shard->cell[i] = PL_NO_CELL;
	}
	shard->gathered = i + 1;
	other->next = s->first_shard;
	s->first_shard = other;
	hand = &f->hand[other->id % f->n_workers];
	other->sibling = hand->again;
	hand->again = other;
	return 0;
}

static bool is_within_budget(const struct pl_flow *f, const struct pl_lap *lap)
{
	if (f->plan->skip_count >= 0)
		return lap->bad <= (uint64_t)f->plan->skip_count;
	return f->plan->skip_share < 0 ||
	       (double)lap->bad <= f->plan->skip_share * (double)f->n_epoch;
}

/* 0: go on, 1: wait for the substitute, -errno: the stream fails. */
static int take_bad(struct pl_stream *s, struct pl_lap *lap, struct pl_shard *shard, uint32_t i,
	struct pl_err *err)
{
	struct pl_flow *f = s->flow;

	lap->bad++;
	f->progress->bad++;
	describe_bad(f, shard, i, err);
	if (f->bad_sample)
		f->bad_sample(f, pl_shard_index(shard, i), err->text);
	if (f->plan->on_error == PL_ON_ERROR_SUBSTITUTE && substitute(s, lap, shard, i) == 0)
		return 1;
	free_cell(f, shard, i);
	shard->gathered = i + 1;
	lap->F--;
	if (f->plan->on_error == PL_ON_ERROR_SKIP && is_within_budget(f, lap))
		return 0;
	if (f->plan->on_error == PL_ON_ERROR_SKIP)
		pl_err_prefix(err,
			"more bad samples than on_error allows (%llu in epoch %u); the last: ",
			(unsigned long long)lap->bad, lap->epoch);
	return err->code;
}

static int take_record(struct pl_stream *s, struct pl_lap *lap, struct pl_shard *shard, uint32_t i,
	struct pl_err *err)
{
	if (shard->wants_trace)
		forward_traces(s, shard, i);
	switch (shard->all_good ? PL_OUTCOME_GOOD : (enum pl_outcome)shard->outcome[i]) {
	case PL_OUTCOME_GOOD:
		return take_good(s, lap, shard, i, err);
	case PL_OUTCOME_DROPPED:
		free_cell(s->flow, shard, i);
		shard->gathered = i + 1;
		lap->F--;
		return 0;
	case PL_OUTCOME_BAD:
	case PL_OUTCOME_SKIPPED:
		break;
	}
	return take_bad(s, lap, shard, i, err);
}

/* Samples that already lie in row G, G+1, ...: whole runs up to the batch's end. */
static int take_run(
	struct pl_stream *s, struct pl_lap *lap, struct pl_shard *shard, struct pl_err *err)
{
	struct pl_flow *f = s->flow;

	while (shard->gathered < shard->n) {
		uint64_t size = batch_size(f), in_batch = lap->G % size;
		uint32_t slot = slot_of_row(f, lap, lap->G), from = shard->gathered;
		uint32_t n = (uint32_t)pl_min_u64(shard->n - from, size - in_batch);
		int r;

		for (uint32_t i = 0; i < n; i++)
			write_index(f, slot, in_batch + i, pl_shard_index(shard, from + i));
		shard->gathered += n;
		lap->F -= n;
		lap->G += n;
		if (lap->G % size)
			continue;
		r = complete_batch(s, lap, size, shard, err);
		if (r < 0)
			return r;
		if (r == 0)
			lap->G--;
	}
	return 0;
}

/* 0: done, 1: waits for a substitute, -errno. */
static int take_shard(struct pl_stream *s, struct pl_shard *shard, struct pl_err *err)
{
	struct pl_lap *lap = shard->lap;
	int r = 0;

	if (shard->fatal) {
		*err = *shard->fatal;
		return err->code;
	}
	if (shard->all_good && shard->has_rows && !shard->has_cells && s->flow->n_varying == 0 &&
		!shard->wants_trace && shard->gathered == 0 && shard->first_row == lap->G &&
		s->flow->plan->layout.has_batch)
		return take_run(s, lap, shard, err);
	while (r == 0 && shard->gathered < shard->n)
		r = take_record(s, lap, shard, shard->gathered, err);
	return r;
}

static int no_batch(const struct pl_flow *f, const struct pl_lap *lap, struct pl_err *err)
{
	if (f->plan->layout.drop_last && lap->bad == 0)
		return pl_err_set(err, -ENODATA,
			"epoch %u has no batch: what pre_main leaves of %llu records does not fill "
			"one of size %llu, and drop_last is true: "
			"lower the size, or set drop_last: false",
			lap->epoch, (unsigned long long)f->n_epoch,
			(unsigned long long)batch_size(f));
	return pl_err_set(err, -ENODATA,
		"epoch %u has no batch: of %llu records none was left, %llu of them bad",
		lap->epoch, (unsigned long long)f->n_epoch, (unsigned long long)lap->bad);
}

/* The last, short batch; slots beyond it are free again, unseen. */
static int complete_lap(struct pl_stream *s, struct pl_lap *lap, struct pl_err *err)
{
	struct pl_flow *f = s->flow;
	uint64_t rest = lap->G % batch_size(f);
	int r = 1;

	if (rest && !f->plan->layout.drop_last)
		r = complete_batch(s, lap, rest, NULL, err);
	lap->is_complete = true;
	for (uint64_t b = lap->n_ready; b < lap->n_slots; b++)
		pl_slot_abandon(&f->slots, lap->slot_of[b % PL_ARENA_SLOTS_MAX], &s->quota);
	lap->n_slots = lap->n_ready;
	if (r >= 0 && lap->n_ready == 0 && lap->first_batch == 0)
		r = no_batch(f, lap, err);
	return r < 0 ? r : 0;
}

bool pl_gather(struct pl_stream *s)
{
	struct pl_err err = {0};
	bool has_moved = false;
	int r = 0;

	while (!s->has_failed && s->first_shard && s->first_shard->state == PL_SHARD_BACK) {
		struct pl_shard *shard = s->first_shard;

		r = take_shard(s, shard, &err);
		has_moved = true;
		if (r == 1)
			return true;
		if (r < 0)
			pl_stream_fail(s, &err);
		s->first_shard = shard->next;
		if (!s->first_shard)
			s->last_shard = NULL;
		pl_shard_discard(s->flow, shard);
	}
	for (struct pl_lap *lap = s->lap; lap && !s->has_failed; lap = lap->next) {
		if (lap->is_complete)
			continue;
		if (!pl_lap_is_out(s, lap))
			break; /* in order: a later epoch's error must not overtake this one's
				  batches */
		if (complete_lap(s, lap, &err) < 0)
			pl_stream_fail(s, &err);
		has_moved = true;
	}
	return has_moved;
}
