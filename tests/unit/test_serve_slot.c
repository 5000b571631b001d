/* tests/unit/test_serve_slot.c - the life of slots, the reserves of streams, and cells. */
#include "daemon/serve/slot.h"

#include <criterion/criterion.h>
#include <errno.h>

#define ARENA (1 << 20)

static struct pl_slots slots;
static struct pl_arena arena;
static char *memory;
static struct pl_stream *const stream_a = (void *)&arena;

static void make(uint32_t n_slots)
{
	memory = calloc(1, ARENA);
	memset(&arena, 0, sizeof(arena));
	arena.base = memory;
	arena.n_slots = n_slots;
	arena.n_cells = 3;
	arena.generation = (_Atomic uint32_t *)(void *)memory;
	cr_assert_eq(pl_slots_init(&slots, &arena), 0);
}

static void unmake(void)
{
	pl_slots_finish(&slots);
	free(memory);
}

Test(slot, a_life, .fini = unmake)
{
	struct pl_quota q;
	uint32_t s;

	make(4);
	cr_assert_eq(pl_quota_open(&slots, &q, 2), 0);
	s = pl_slot_acquire(&slots, &q, stream_a);
	cr_assert_eq(slots.slot[s].state, PL_SLOT_FILLING);
	cr_assert_eq(slots.slot[s].generation, 1);
	cr_assert_eq(arena.generation[s], 1);
	pl_slot_publish(&slots, s, 1);
	cr_assert_eq(slots.slot[s].state, PL_SLOT_READY);
	pl_slot_lend(&slots, s);
	cr_assert_eq(slots.n_lent, 1);
	pl_slot_release(&slots, s, &q);
	cr_assert_eq(slots.slot[s].state, PL_SLOT_FREE);
	cr_assert_eq(slots.n_lent, 0);
	cr_assert_eq(slots.n_free, 4);
	cr_assert_eq(q.held, 0);
	cr_assert_eq(pl_slot_acquire(&slots, &q, stream_a), s, "last freed, first taken");
	cr_assert_eq(slots.slot[s].generation, 2);
}

Test(slot, two_members_free_it_with_the_second_release, .fini = unmake)
{
	struct pl_quota q;
	uint32_t s;

	make(2);
	cr_assert_eq(pl_quota_open(&slots, &q, 2), 0);
	s = pl_slot_acquire(&slots, &q, stream_a);
	pl_slot_publish(&slots, s, 2);
	pl_slot_lend(&slots, s);
	pl_slot_lend(&slots, s);
	cr_assert_eq(slots.n_lent, 1);
	pl_slot_release(&slots, s, &q);
	cr_assert_eq(slots.slot[s].state, PL_SLOT_LENT);
	pl_slot_release(&slots, s, &q);
	cr_assert_eq(slots.slot[s].state, PL_SLOT_FREE);
}

Test(slot, a_reserve_is_kept_for_its_stream, .fini = unmake)
{
	struct pl_quota greedy, late, third;

	make(5);
	cr_assert_eq(pl_quota_open(&slots, &greedy, 2), 0);
	cr_assert_eq(pl_quota_open(&slots, &late, 2), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_neq(pl_slot_acquire(&slots, &greedy, stream_a), PL_NO_SLOT);
	cr_assert_eq(pl_slot_acquire(&slots, &greedy, stream_a), PL_NO_SLOT,
		"what is left is owed to the other stream");
	cr_assert_neq(pl_slot_acquire(&slots, &late, stream_a), PL_NO_SLOT);
	cr_assert_neq(pl_slot_acquire(&slots, &late, stream_a), PL_NO_SLOT);
	cr_assert_eq(pl_quota_open(&slots, &third, 2), -ENOSPC);
	pl_quota_close(&slots, &late);
	cr_assert_eq(pl_quota_open(&slots, &third, 2), 0);
}

Test(slot, an_abandoned_slot_drains_until_its_shards_are_back, .fini = unmake)
{
	struct pl_quota q;
	uint32_t s;

	make(2);
	cr_assert_eq(pl_quota_open(&slots, &q, 2), 0);
	s = pl_slot_acquire(&slots, &q, stream_a);
	slots.slot[s].n_shards = 2;
	pl_slot_abandon(&slots, s, &q);
	cr_assert_eq(slots.slot[s].state, PL_SLOT_DRAINING);
	cr_assert_eq(q.held, 0);
	pl_slot_unref(&slots, s);
	cr_assert_eq(slots.slot[s].state, PL_SLOT_DRAINING);
	pl_slot_unref(&slots, s);
	cr_assert_eq(slots.slot[s].state, PL_SLOT_FREE);
	cr_assert_eq(slots.n_free, 2);
}

Test(slot, cells_are_given_once_each, .fini = unmake)
{
	bool seen[3] = {0};

	make(2);
	for (int i = 0; i < 3; i++) {
		uint32_t c = pl_cell_acquire(&slots);

		cr_assert_lt(c, 3);
		cr_assert(!seen[c]);
		seen[c] = true;
	}
	cr_assert_eq(pl_cell_acquire(&slots), UINT32_MAX);
	pl_cell_release(&slots, 1);
	cr_assert_eq(pl_cell_acquire(&slots), 1);
}
