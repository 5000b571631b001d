/* daemon/flow/deal.c - makes shards and sends them: as much as order, credit and room allow. */
/*
 * A record is dealt only if its batch was asked for or may be prefetched, a worker has credit, and
 * there is a slot (or a cell) for it. Its place is known before it leaves: row D when everything
 * dealt so far has a row and no hole, else a cell (SEMANTICS A3).
 */
#include "daemon/flow/flow.h"

#include <errno.h>

#define SHARD_NS    2000000u /* `shard: auto` aims at messages worth 2 ms of a worker's time */
#define FIRST_SHARD 2 /* before any time was measured: small, for the first batch comes sooner */

static bool has_credit(const struct pl_flow *f, uint32_t worker)
{
	const struct pl_hand *h = &f->hand[worker];

	return h->is_ready && h->n_out <= (uint64_t)f->plan->worker_prefetch;
}

/* The worker the stream's next shard goes to, or -1: wait. */
static int pick_worker(struct pl_flow *f, const struct pl_stream *s)
{
	if (f->plan->dispatch == PL_DISPATCH_STRICT) {
		uint32_t w = (uint32_t)(s->n_dealt % f->n_workers);

		return has_credit(f, w) ? (int)w : -1;
	}
	for (uint32_t i = 0; i < f->n_workers; i++) {
		uint32_t w = (f->cursor + i) % f->n_workers;

		if (has_credit(f, w)) {
			f->cursor = (w + 1) % f->n_workers;
			return (int)w;
		}
	}
	return -1;
}

static uint32_t shard_size(const struct pl_flow *f, const struct pl_stream *s)
{
	uint64_t window = pl_stream_allowed(s) * (uint64_t)f->plan->layout.batch_size;
	uint64_t n = (uint64_t)f->plan->shard;

	if (n == 0) {
		n = f->ns_per_sample ? SHARD_NS / f->ns_per_sample : FIRST_SHARD;
		n = pl_min_u64(n, window / ((uint64_t)f->n_workers *
						   ((uint64_t)f->plan->worker_prefetch + 1)));
	}
	return (uint32_t)pl_max_u64(1, pl_min_u64(n, PL_SHARD_MAX));
}

/* One more record of this lap may be dealt as far as its batch is concerned. */
static bool is_wanted(const struct pl_stream *s, const struct pl_lap *lap)
{
	uint64_t size = (uint64_t)s->flow->plan->layout.batch_size;

	if ((lap->G + lap->F) % size != 0)
		return true;
	return pl_stream_outstanding(s) < pl_stream_allowed(s);
}

/* The lap's next record: 1, 0 (none left), -errno. */
static int peek(struct pl_stream *s, struct pl_lap *lap, struct pl_err *err)
{
	int r;

	if (lap->has_next)
		return 1;
	pl_trace_for(s);
	r = pl_premain_next(&lap->premain, &lap->next_index, err);
	lap->has_next = r == 1;
	lap->is_dealt = r == 0;
	s->flow->wants_turn = s->flow->wants_turn || r == PL_PREMAIN_AGAIN;
	return r;
}

/* Makes sure that batch b of the lap has a slot. */
static bool has_slot(struct pl_stream *s, struct pl_lap *lap, uint64_t b)
{
	while (lap->n_slots <= b) {
		uint32_t slot;

		if (lap->n_slots - lap->n_handed >= PL_ARENA_SLOTS_MAX)
			return false;
		slot = pl_slot_acquire(&s->flow->slots, &s->quota, s);
		if (slot == PL_NO_SLOT)
			return false;
		lap->slot_of[lap->n_slots++ % PL_ARENA_SLOTS_MAX] = slot;
		if (s->flow->ragged_used[slot])
			memset(s->flow->ragged_used[slot], 0, sizeof(uint64_t) * PL_FIELDS_MAX);
	}
	return true;
}

/* Extends the shard's rows by row D; false when that needs a ninth extent. */
static bool add_row(struct pl_flow *f, struct pl_shard *shard, const struct pl_lap *lap)
{
	uint64_t size = (uint64_t)f->plan->layout.batch_size;
	uint32_t slot = lap->slot_of[lap->D / size % PL_ARENA_SLOTS_MAX];
	struct pl_extent *last = shard->n_extents ? &shard->extent[shard->n_extents - 1] : NULL;

	if (last && last->slot == slot) {
		last->n++;
		return true;
	}
	if (shard->n_extents == PL_EXTENTS_MAX)
		return false;
	shard->extent[shard->n_extents++] = (struct pl_extent){slot, (uint32_t)(lap->D % size), 1};
	f->slots.slot[slot].n_shards++;
	return true;
}

static void add_index(struct pl_shard *s, uint64_t index)
{
	if (s->n == 0)
		s->first = index;
	if (s->is_range && index != s->first + s->n) {
		for (uint32_t i = 0; i < s->n; i++)
			s->index[i] = s->first + i;
		s->is_range = false;
	}
	if (!s->is_range)
		s->index[s->n] = index;
}

/* Gives the peeked record its place in the shard. false: it must wait, or belongs into the next
 * shard. */
static bool place_record(struct pl_stream *s, struct pl_lap *lap, struct pl_shard *shard)
{
	struct pl_flow *f = s->flow;
	uint64_t size = (uint64_t)f->plan->layout.batch_size;
	bool in_row = !f->samples_need_cells && lap->G + lap->F == lap->D;
	bool in_cell = f->has_ragged || !in_row;
	uint32_t cell = PL_NO_CELL;

	if (shard->n > 0 && shard->has_rows != in_row)
		return false;
	if (!has_slot(s, lap, (in_row ? lap->D : lap->G + lap->F) / size))
		return false;
	if (in_cell && (cell = pl_cell_acquire(&f->slots)) == PL_NO_CELL)
		return false;
	if (in_row && !add_row(f, shard, lap)) {
		if (in_cell)
			pl_cell_release(&f->slots, cell);
		return false;
	}
	if (shard->n == 0) {
		shard->has_rows = in_row;
		shard->has_cells = in_cell;
		shard->first_row = lap->D;
		shard->first_position = lap->premain.emitted - 1;
	}
	if (in_cell)
		shard->cell[shard->n] = cell;
	add_index(shard, lap->next_index);
	shard->n++;
	lap->D += in_row;
	lap->F++;
	lap->has_next = false;
	return true;
}

/* Pre-main failed: an empty shard carries the error to its place in the order, behind everything
 * dealt so far. */
static void link_failure(struct pl_stream *s, const struct pl_err *err)
{
	struct pl_shard *tomb = pl_shard_acquire(s->flow, 1);

	for (struct pl_lap *lap = s->lap; lap; lap = lap->next)
		lap->is_dealt = true;
	s->next_epoch = INT64_MAX;
	if (tomb)
		tomb->fatal = malloc(sizeof(*err));
	if (!tomb || !tomb->fatal) {
		if (tomb)
			pl_shard_release(s->flow, tomb);
		pl_stream_fail(s, err);
		return;
	}
	*tomb->fatal = *err;
	tomb->stream = s;
	tomb->state = PL_SHARD_BACK;
	pl_shard_link(s, tomb);
}

/* Puts records of one lap into the shard: 1 when it may go on with another lap (this one has no
 * more), else 0. */
static bool fill(struct pl_stream *s, struct pl_lap *lap, struct pl_shard *shard, uint32_t size)
{
	struct pl_err err = {0};
	int r = 1;

	while (shard->n < size && is_wanted(s, lap) && (r = peek(s, lap, &err)) == 1)
		if (!place_record(s, lap, shard))
			break;
	if (shard->n > 0) {
		shard->stream = s;
		shard->wants_trace = s->member->wants_trace;
		shard->lap = lap;
		pl_shard_link(s, shard);
	}
	if (r < 0)
		link_failure(s, &err);
	return shard->n == 0 && lap->is_dealt && r == 0;
}

/* The stream's next shard, or NULL: nothing can be dealt now. */
static struct pl_shard *next_shard(struct pl_stream *s)
{
	uint32_t size = shard_size(s->flow, s);
	struct pl_shard *shard = pl_shard_acquire(s->flow, size);
	struct pl_err err = {0};
	struct pl_lap *lap = NULL;

	while (shard && (lap = pl_stream_dealing_lap(s, &err)) && fill(s, lap, shard, size))
		;
	if (!lap && err.code)
		link_failure(s, &err);
	if (!shard || shard->n > 0)
		return shard;
	pl_shard_release(s->flow, shard);
	return NULL;
}

/* A shard that can't be sent now waits at its worker; the next event tries again. */
static void send_or_keep(struct pl_flow *f, struct pl_shard *shard, uint32_t worker)
{
	if (pl_shard_send(f, shard, worker) == 0)
		return;
	shard->sibling = f->hand[worker].again;
	f->hand[worker].again = shard;
}

/* One shard of the stream to a worker; true when anything went on. */
static bool deal_one(struct pl_flow *f, struct pl_stream *s)
{
	struct pl_shard *shard;
	bool has_moved;
	int worker;

	if (s->has_failed || s->has_ended || !pl_session_is_open(s->member) ||
		pl_session_is_congested(s->member))
		return false;
	worker = pick_worker(f, s);
	if (worker < 0)
		return false;
	shard = next_shard(s);
	/* an epoch that is dealt out and has nothing in flight completes here */
	has_moved = pl_gather(s);
	if (!shard)
		return has_moved;
	s->n_dealt++;
	send_or_keep(f, shard, (uint32_t)worker);
	return true;
}

/* A dead worker's shards, to its replacement, before anything new. */
static void deal_again(struct pl_flow *f)
{
	for (uint32_t w = 0; w < f->n_workers; w++) {
		struct pl_hand *h = &f->hand[w];
		struct pl_shard *waiting = h->again;

		h->again = NULL;
		while (waiting) {
			struct pl_shard *s = waiting;

			waiting = s->sibling;
			if (!s->stream) {
				pl_shard_discard(f, s);
			} else if (!has_credit(f, w) || pl_shard_send(f, s, w) < 0) {
				s->sibling = waiting; /* it and all behind it, in their order */
				h->again = s;
				break;
			}
		}
	}
}

static void publish_counters(struct pl_flow *f)
{
	atomic_store_explicit(&f->progress->n_free, f->slots.n_free, memory_order_relaxed);
	atomic_store_explicit(&f->progress->n_lent, f->slots.n_lent, memory_order_relaxed);
	atomic_store_explicit(&f->progress->n_ready, f->slots.n_ready, memory_order_relaxed);
}

void pl_deal(struct pl_flow *f)
{
	bool has_moved = true;

	f->wants_turn = false;
	deal_again(f);
	while (has_moved) {
		has_moved = false;
		for (struct pl_stream *s = f->streams; s; s = s->next)
			has_moved = deal_one(f, s) || has_moved;
		if (has_moved)
			continue;
		for (struct pl_stream *s = f->streams; s; s = s->next)
			has_moved = pl_stream_hand_out(s) || has_moved;
	}
	publish_counters(f);
}
