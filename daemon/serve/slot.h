/* daemon/serve/slot.h - the life of slots and cells: acquire, fill, publish, lend, release. */
#pragma once

#include "daemon/serve/arena.h"

struct pl_stream;

/* FREE -> FILLING -> READY -> LENT -> FREE; FILLING -> DRAINING -> FREE when the stream closes
 * (SEMANTICS A1). */
enum pl_slot_state { PL_SLOT_FREE, PL_SLOT_FILLING, PL_SLOT_READY, PL_SLOT_LENT, PL_SLOT_DRAINING };

struct pl_slot {
	enum pl_slot_state state;
	uint32_t generation; /* grows by one at each acquire; the arena has a copy for clients */
	uint32_t next_free;
	uint32_t pending;  /* members yet to be handed it, and leases out */
	uint32_t n_shards; /* shards under way that may still write here */
	struct pl_stream *stream;
};

/*
 * All slots and cells of one birth; the dispatcher is the only writer. Both free lists are last in,
 * first out, so that the pages that are touched stay few.
 */
struct pl_slots {
	struct pl_arena *arena;
	struct pl_slot slot[PL_ARENA_SLOTS_MAX];
	uint32_t first_free;
	uint32_t n_free;
	uint32_t n_lent;
	uint32_t n_ready;
	uint32_t n_reserved; /* sum of all streams' reserves */
	uint32_t n_owed;     /* sum over streams of what they hold below their reserve */
	uint32_t *cell;      /* stack of free cells */
	uint32_t n_free_cells;
};

#define PL_NO_SLOT UINT32_MAX

/* 0 or -ENOMEM. The arena (borrowed) must be cut; its generations start at 0. */
int pl_slots_init(struct pl_slots *s, struct pl_arena *arena) PL_MUST_CHECK;
void pl_slots_finish(struct pl_slots *s);

/* What one stream may hold: its reserve, and its share of the rest. */
struct pl_quota {
	uint32_t reserve;
	uint32_t held;
};

/* Sets aside `reserve` slots for a new stream, or -ENOSPC when not so many are unreserved. */
int pl_quota_open(struct pl_slots *s, struct pl_quota *q, uint32_t reserve) PL_MUST_CHECK;
void pl_quota_close(struct pl_slots *s, struct pl_quota *q);

/*
 * FREE -> FILLING with generation + 1, for a stream. PL_NO_SLOT when none is free, or the free ones
 * are owed to streams below their reserve.
 */
uint32_t pl_slot_acquire(struct pl_slots *s, struct pl_quota *q, struct pl_stream *stream);

/* FILLING -> READY for `members` hand-overs. */
void pl_slot_publish(struct pl_slots *s, uint32_t slot, uint32_t members);

/* READY or LENT -> LENT: one of the hand-overs became a lease; pending stays. */
void pl_slot_lend(struct pl_slots *s, uint32_t slot);

/* One hand-over or lease less; the last one frees the slot (DRAINING first, when a shard in flight
 * still refers to it). q is its stream's quota, NULL when the stream is gone. */
void pl_slot_release(struct pl_slots *s, uint32_t slot, struct pl_quota *q);

/* FILLING or READY -> FREE, or DRAINING while shards are under way in it. */
void pl_slot_abandon(struct pl_slots *s, uint32_t slot, struct pl_quota *q);

/* A shard that could write here came back or its worker was reaped. */
void pl_slot_unref(struct pl_slots *s, uint32_t slot);

/* PL_NO_CELL-like UINT32_MAX when none is free. */
uint32_t pl_cell_acquire(struct pl_slots *s);
void pl_cell_release(struct pl_slots *s, uint32_t cell);
