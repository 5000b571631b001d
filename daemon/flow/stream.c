/* daemon/flow/stream.c - one traversal of a pipeline: epochs come and go, batches are handed out in
 * order. */
#include "daemon/flow/flow.h"

#include <errno.h>
#include <stdio.h>

#define RESERVE_PRIVATE 2 /* SEMANTICS A12 */

static void destroy_lap(struct pl_lap *lap)
{
	if (!lap)
		return;
	pl_premain_close(&lap->premain);
	free(lap->slot_of);
	free(lap);
}

static struct pl_lap *add_lap(struct pl_stream *s, struct pl_err *err)
{
	struct pl_flow *f = s->flow;
	struct pl_lap *lap = calloc(1, sizeof(*lap)), **at = &s->lap;

	if (lap)
		lap->slot_of = malloc(sizeof(*lap->slot_of) * PL_ARENA_SLOTS_MAX);
	if (!lap || !lap->slot_of) {
		destroy_lap(lap);
		pl_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	lap->epoch = (uint32_t)s->next_epoch;
	pl_trace_for(s);
	if (pl_flow_premain(f, &lap->premain, lap->epoch, err) < 0) {
		destroy_lap(lap);
		return NULL;
	}
	while (*at)
		at = &(*at)->next;
	*at = lap;
	s->n_laps++;
	s->next_epoch++;
	return lap;
}

bool pl_lap_is_hopeless(const struct pl_stream *s, const struct pl_lap *lap)
{
	uint64_t size = (uint64_t)s->flow->plan->layout.batch_size, left;

	if (!s->flow->plan->layout.drop_last)
		return false;
	left = lap->is_dealt ? 0 : pl_premain_left(&lap->premain);
	return left != UINT64_MAX && (lap->G + lap->F) % size + left + lap->has_next < size;
}

bool pl_lap_is_out(const struct pl_stream *s, const struct pl_lap *lap)
{
	bool nothing_left = lap->is_dealt || pl_premain_left(&lap->premain) == 0;

	return lap->F == 0 && ((nothing_left && !lap->has_next) || pl_lap_is_hopeless(s, lap));
}

static bool has_epochs_left(const struct pl_stream *s)
{
	return s->flow->plan->epochs == 0 ? s->next_epoch < UINT32_MAX
					  : s->next_epoch < s->flow->plan->epochs;
}

struct pl_lap *pl_stream_dealing_lap(struct pl_stream *s, struct pl_err *err)
{
	struct pl_lap *lap;

	for (lap = s->lap; lap; lap = lap->next)
		if (lap->has_next || (!lap->is_dealt && !pl_lap_is_hopeless(s, lap)))
			return lap;
	if (!has_epochs_left(s) || s->n_laps >= PL_LAPS_MAX ||
		pl_stream_outstanding(s) >= pl_stream_allowed(s))
		return NULL;
	lap = add_lap(s, err);
	return lap && pl_lap_is_hopeless(s, lap) ? NULL : lap;
}

uint64_t pl_stream_allowed(const struct pl_stream *s)
{
	return (uint64_t)s->member->credits + (uint64_t)s->flow->plan->post_prefetch;
}

uint64_t pl_stream_outstanding(const struct pl_stream *s)
{
	uint64_t size = (uint64_t)s->flow->plan->layout.batch_size, n = 0;

	for (const struct pl_lap *lap = s->lap; lap; lap = lap->next)
		n += (lap->is_complete ? lap->n_ready : (lap->G + lap->F + size - 1) / size) -
		     lap->n_handed;
	return n;
}

/* n' batches were handed, pre-main goes on at record R. */
static int resume(struct pl_stream *s, const struct pl_wire_position *at, struct pl_err *err)
{
	struct pl_lap *lap;
	int r;

	if (at->epoch > UINT32_MAX ||
		(s->flow->plan->epochs && at->epoch > (uint64_t)s->flow->plan->epochs))
		return pl_err_set(err, -EINVAL,
			"epoch %llu was asked for, but the pipeline has epochs: %lld (0 = forever)",
			(unsigned long long)at->epoch, (long long)s->flow->plan->epochs);
	s->next_epoch = (int64_t)at->epoch;
	if ((at->number == 0 && at->record == 0) || !has_epochs_left(s))
		return 0;
	lap = add_lap(s, err);
	if (!lap)
		return err->code;
	lap->first_batch = at->number;
	lap->bad = at->bad;
	pl_postmain_resume(s->flow, lap);
	r = pl_premain_seek(&lap->premain, at->record, err);
	return r;
}

int pl_stream_open(struct pl_stream **out, struct pl_flow *f, struct pl_session *member,
	const struct pl_token *token, struct pl_err *err)
{
	struct pl_stream *s = calloc(1, sizeof(*s)), **at = &f->streams;
	char size[32];
	int r;

	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	s->flow = f;
	s->id = f->next_stream_id++;
	s->member = member;
	r = pl_quota_open(&f->slots, &s->quota, RESERVE_PRIVATE);
	if (r < 0) {
		snprintf(size, sizeof(size), "%.1f MiB", (double)f->arena.slot_bytes / (1 << 20));
		pl_err_set(err, r,
			"a private stream needs %d slots of %s; memory holds %u, %u are not taken: "
			"raise memory, or share a stream",
			RESERVE_PRIVATE, size, f->arena.n_slots,
			f->arena.n_slots - f->slots.n_reserved);
		free(s);
		return r;
	}
	if (token)
		r = resume(s, &token->at, err);
	if (r < 0) {
		pl_stream_close(s);
		return r;
	}
	while (*at)
		at = &(*at)->next;
	*at = s;
	*out = s;
	return 0;
}

/* Slots of batches that were not handed out: READY ones are free at once, the others drain. */
static void abandon_slots(struct pl_stream *s, struct pl_lap *lap)
{
	for (uint64_t b = lap->n_handed; b < lap->n_slots; b++)
		pl_slot_abandon(&s->flow->slots, lap->slot_of[b % PL_ARENA_SLOTS_MAX], &s->quota);
	lap->n_slots = lap->n_handed;
}

static void unlink_stream(struct pl_stream *s)
{
	for (struct pl_stream **at = &s->flow->streams; *at; at = &(*at)->next)
		if (*at == s) {
			*at = s->next;
			return;
		}
}

void pl_stream_close(struct pl_stream *s)
{
	if (!s)
		return;
	unlink_stream(s);
	while (s->lap) {
		struct pl_lap *lap = s->lap;

		s->lap = lap->next;
		abandon_slots(s, lap);
		destroy_lap(lap);
	}
	while (s->first_shard) {
		struct pl_shard *shard = s->first_shard;

		s->first_shard = shard->next;
		shard->stream = NULL;
		shard->lap = NULL;
		if (shard->state == PL_SHARD_BACK)
			pl_shard_discard(s->flow, shard);
	}
	pl_quota_close(&s->flow->slots, &s->quota);
	free(s);
}

void pl_stream_fail(struct pl_stream *s, const struct pl_err *err)
{
	if (s->has_failed)
		return;
	s->has_failed = true;
	s->failure = *err;
}

/* BATCH for the member; the slot becomes its lease. */
static void hand_batch(struct pl_stream *s, struct pl_lap *lap, uint32_t slot)
{
	struct pl_flow *f = s->flow;
	const struct pl_ready *ready = &f->ready[slot];
	struct pl_wire_batch *b = &f->wire.batch;
	uint64_t bytes = 0;

	f->wire.kind = PL_WIRE_BATCH;
	b->epoch = lap->epoch;
	b->number = lap->first_batch + lap->n_handed;
	b->slot = slot;
	b->generation = f->slots.slot[slot].generation;
	b->size = ready->size;
	b->n_views = f->plan->n_results;
	memcpy(b->view, f->view[slot], sizeof(*b->view) * (size_t)f->plan->n_results);
	b->after = ready->after;
	b->index_offset = f->arena.slots_offset + (uint64_t)slot * f->arena.slot_bytes +
			  f->plan->layout.index_offset;
	b->is_last = ready->is_last;
	b->is_repeated = false;
	b->skipped = 0;
	b->bad = ready->bad;
	lap->n_handed++;
	s->member->credits--;
	pl_slot_lend(&f->slots, slot);
	if (pl_session_lend(s->member, slot, b->generation) < 0) {
		pl_slot_release(&f->slots, slot, &s->quota);
		pl_session_end(s->member);
		return;
	}
	for (int i = 0; i < f->plan->layout.n_deliveries; i++)
		bytes += f->plan->layout.delivery[i].form == PL_FORM_FIXED
				 ? f->plan->layout.delivery[i].row_bytes * ready->size
				 : 0;
	f->progress->batches++;
	f->progress->samples += ready->size;
	f->progress->bytes += bytes;
	pl_session_send(s->member, &f->wire, -1);
}

static void retire_lap(struct pl_stream *s)
{
	struct pl_lap *lap = s->lap;

	s->lap = lap->next;
	s->n_laps--;
	destroy_lap(lap);
}

/* The stream's last word: once. */
static void finish(struct pl_stream *s)
{
	if (s->has_ended)
		return;
	if (s->has_failed) {
		s->has_ended = true;
		pl_session_fail(s->member, s->failure.code ? -s->failure.code : EIO, 1, "%s",
			s->failure.text);
		return;
	}
	if (s->lap || has_epochs_left(s))
		return;
	s->has_ended = true;
	s->flow->wire.kind = PL_WIRE_END;
	snprintf(s->flow->wire.text, sizeof(s->flow->wire.text), "all epochs are done");
	pl_session_send(s->member, &s->flow->wire, -1);
}

bool pl_stream_hand_out(struct pl_stream *s)
{
	bool has_moved = false;

	while (s->lap && pl_session_is_open(s->member)) {
		struct pl_lap *lap = s->lap;

		if (lap->n_handed < lap->n_ready) {
			if (s->member->credits == 0 || pl_session_is_congested(s->member))
				return has_moved;
			hand_batch(s, lap, lap->slot_of[lap->n_handed % PL_ARENA_SLOTS_MAX]);
			has_moved = true;
			continue;
		}
		if (!lap->is_complete)
			break;
		retire_lap(s);
		has_moved = true;
	}
	if (pl_session_is_open(s->member) && (s->has_failed || !s->lap))
		finish(s);
	return has_moved;
}

static const char *step_name(const struct pl_flow *f, uint32_t id, const struct pl_step_list *list)
{
	for (int i = 0; i < list->n; i++) {
		if (list->step[i].id == (int)id)
			return list->step[i].op->name;
		for (int k = 0; k < list->step[i].n_lists; k++) {
			const char *name = step_name(f, id, &list->step[i].list[k]);

			if (name)
				return name;
		}
	}
	return NULL;
}

/* The worker that holds the oldest shard of the stream, and what it does. */
static bool why_worker(const struct pl_stream *s, char *text, size_t n)
{
	const struct pl_flow *f = s->flow;
	const struct pl_shard *first = s->first_shard;

	for (uint32_t w = 0; first && w < f->n_workers; w++) {
		const struct pl_progress_worker *p = &f->progress->worker[w];
		uint64_t record = p->record, since = p->since_ns;
		const char *step = step_name(f, p->step, &f->plan->worker);
		char name[512];

		if (p->shard != first->id || record == PL_PROGRESS_IDLE ||
			first->state != PL_SHARD_DEALT)
			continue;
		snprintf(text, n, "worker %u (pid %u) is in %s of %s, %.1f s since it began", w,
			p->pid, step ? step : "reading",
			pl_record_quote(f->plan, f->listing, record, name, sizeof(name)),
			since ? (double)(pl_now_ns() - since) / 1e9 : 0.0);
		return true;
	}
	return false;
}

void pl_stream_why(const struct pl_stream *s, char *text, size_t n)
{
	const struct pl_flow *f = s->flow;
	uint32_t n_ready = 0;

	for (uint32_t w = 0; w < f->n_workers; w++)
		n_ready += f->hand[w].is_ready;
	if (s->has_ended)
		snprintf(text, n, "the stream has ended");
	else if (n_ready == 0)
		snprintf(text, n, "no worker is running yet");
	else if (s->quota.held > 0 && s->member->n_leases >= s->quota.held && f->slots.n_free == 0)
		snprintf(text, n, "all %u slots are held by this client: release batches",
			s->member->n_leases);
	else if (f->slots.n_free == 0 ||
		 (f->slots.n_free <= f->slots.n_owed && s->quota.held >= s->quota.reserve))
		snprintf(text, n,
			"no slot is free: %u are lent to clients, %u reserved for other streams",
			f->slots.n_lent, f->slots.n_owed);
	else if (!why_worker(s, text, n))
		snprintf(text, n, "%u of %u workers run, %llu batches are under way", n_ready,
			f->n_workers, (unsigned long long)pl_stream_outstanding(s));
}
