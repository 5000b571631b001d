/* daemon/serve/slot.c - the life of slots and cells. */
#include "daemon/serve/slot.h"

#include <assert.h>
#include <errno.h>

int pl_slots_init(struct pl_slots *s, struct pl_arena *arena)
{
	memset(s, 0, sizeof(*s));
	s->arena = arena;
	s->first_free = PL_NO_SLOT;
	for (uint32_t i = arena->n_slots; i-- > 0;) {
		s->slot[i].next_free = s->first_free;
		s->first_free = i;
	}
	s->n_free = arena->n_slots;
	s->cell = calloc(arena->n_cells ? arena->n_cells : 1, sizeof(*s->cell));
	if (!s->cell)
		return -ENOMEM;
	while (s->n_free_cells < arena->n_cells) {
		s->cell[s->n_free_cells] = arena->n_cells - 1 - s->n_free_cells;
		s->n_free_cells++;
	}
	return 0;
}

void pl_slots_finish(struct pl_slots *s)
{
	free(s->cell);
	s->cell = NULL;
}

static uint32_t owed(const struct pl_quota *q)
{
	return q->held < q->reserve ? q->reserve - q->held : 0;
}

int pl_quota_open(struct pl_slots *s, struct pl_quota *q, uint32_t reserve)
{
	if (reserve > s->arena->n_slots - s->n_reserved)
		return -ENOSPC;
	*q = (struct pl_quota){.reserve = reserve};
	s->n_reserved += reserve;
	s->n_owed += reserve;
	return 0;
}

void pl_quota_close(struct pl_slots *s, struct pl_quota *q)
{
	s->n_reserved -= q->reserve;
	s->n_owed -= owed(q);
	*q = (struct pl_quota){0};
}

static void quota_change(struct pl_slots *s, struct pl_quota *q, int by)
{
	if (!q)
		return;
	s->n_owed -= owed(q);
	q->held = (uint32_t)((int)q->held + by);
	s->n_owed += owed(q);
}

/* The slot is nobody's from here on: no stream's, no client's. */
static void disown(struct pl_slots *s, uint32_t i, struct pl_quota *q)
{
	struct pl_slot *slot = &s->slot[i];

	s->n_lent -= slot->state == PL_SLOT_LENT;
	s->n_ready -= slot->state == PL_SLOT_READY;
	quota_change(s, q, -1);
	slot->state = PL_SLOT_DRAINING;
	slot->stream = NULL;
	slot->pending = 0;
}

static void make_free(struct pl_slots *s, uint32_t i)
{
	struct pl_slot *slot = &s->slot[i];

	slot->state = PL_SLOT_FREE;
	slot->next_free = s->first_free;
	s->first_free = i;
	s->n_free++;
}

uint32_t pl_slot_acquire(struct pl_slots *s, struct pl_quota *q, struct pl_stream *stream)
{
	uint32_t i = s->first_free;

	if (i == PL_NO_SLOT || (q->held >= q->reserve && s->n_free <= s->n_owed))
		return PL_NO_SLOT;
	s->first_free = s->slot[i].next_free;
	s->n_free--;
	quota_change(s, q, 1);
	s->slot[i].state = PL_SLOT_FILLING;
	s->slot[i].stream = stream;
	s->slot[i].pending = 0;
	s->slot[i].n_shards = 0;
	atomic_store_explicit(
		&s->arena->generation[i], ++s->slot[i].generation, memory_order_release);
	return i;
}

void pl_slot_publish(struct pl_slots *s, uint32_t i, uint32_t members)
{
	assert(s->slot[i].state == PL_SLOT_FILLING);
	s->slot[i].state = PL_SLOT_READY;
	s->slot[i].pending = members;
	s->n_ready++;
}

void pl_slot_lend(struct pl_slots *s, uint32_t i)
{
	if (s->slot[i].state == PL_SLOT_READY) {
		s->n_ready--;
		s->n_lent++;
	}
	s->slot[i].state = PL_SLOT_LENT;
}

void pl_slot_release(struct pl_slots *s, uint32_t i, struct pl_quota *q)
{
	struct pl_slot *slot = &s->slot[i];

	assert(slot->pending > 0);
	if (--slot->pending == 0)
		pl_slot_abandon(s, i, q);
}

void pl_slot_abandon(struct pl_slots *s, uint32_t i, struct pl_quota *q)
{
	disown(s, i, q);
	if (s->slot[i].n_shards == 0)
		make_free(s, i);
}

void pl_slot_unref(struct pl_slots *s, uint32_t i)
{
	struct pl_slot *slot = &s->slot[i];

	assert(slot->n_shards > 0);
	if (--slot->n_shards == 0 && slot->state == PL_SLOT_DRAINING)
		make_free(s, i);
}

uint32_t pl_cell_acquire(struct pl_slots *s)
{
	return s->n_free_cells ? s->cell[--s->n_free_cells] : UINT32_MAX;
}

void pl_cell_release(struct pl_slots *s, uint32_t cell)
{
	s->cell[s->n_free_cells++] = cell;
}
