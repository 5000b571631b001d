/* daemon/serve/arena.c - how one birth's shared memory is cut into slots and cells. */
#include "daemon/serve/arena.h"

#include <errno.h>

#define PAGE 4096u

int pl_arena_cut(
	struct pl_arena *a, void *base, const struct pl_arena_need *need, struct pl_err *err)
{
	uint64_t head = PAGE + pl_align_up(PL_ARENA_SLOTS_MAX * sizeof(uint32_t), PAGE);
	uint64_t names = pl_align_up(need->names_bytes, PAGE);
	uint64_t room, for_cells = 0;

	memset(a, 0, sizeof(*a));
	if (need->slot_bytes == 0 || need->slot_bytes % PAGE || need->bytes < head + names)
		return pl_err_set(err, -ENOSPC, "memory: %llu bytes hold no arena",
			(unsigned long long)need->bytes);
	room = need->bytes - head - names;
	a->base = base;
	a->bytes = need->bytes;
	a->slot_bytes = need->slot_bytes;
	a->cell_bytes = need->cell_bytes;
	a->generations_offset = PAGE;
	a->names_offset = head;
	a->names_bytes = need->names_bytes;
	a->slots_offset = head + names;
	a->generation = (_Atomic uint32_t *)(void *)(a->base + PAGE);
	if (need->cell_bytes) {
		uint64_t least = (need->needs_cells ? 4 : 1) * need->cell_bytes;

		for_cells = pl_max_u64(room / (need->needs_cells ? 3 : 8), least);
		for_cells = pl_min_u64(for_cells, PL_ARENA_CELLS_MAX * need->cell_bytes);
		if (room > 2 * need->slot_bytes) /* never at the price of the second slot */
			for_cells = pl_max_u64(least,
				pl_min_u64(for_cells, (room - 2 * need->slot_bytes) / PAGE * PAGE));
		for_cells = pl_min_u64(for_cells, room);
		a->n_cells = (uint32_t)(for_cells / need->cell_bytes);
		for_cells = pl_align_up(a->n_cells * need->cell_bytes, PAGE);
	}
	if (for_cells > room || (room - for_cells) / need->slot_bytes < 2 ||
		(need->needs_cells && a->n_cells < 4))
		return pl_err_set(err, -ENOSPC,
			"memory: %llu bytes are too few: a batch takes %llu, a sample under way "
			"%llu; room for 2 batches%s is "
			"needed: raise memory or make the batch smaller",
			(unsigned long long)need->bytes, (unsigned long long)need->slot_bytes,
			(unsigned long long)need->cell_bytes,
			need->needs_cells ? " and 4 samples" : "");
	a->n_slots =
		(uint32_t)pl_min_u64((room - for_cells) / need->slot_bytes, PL_ARENA_SLOTS_MAX);
	a->cells_offset = a->slots_offset + (uint64_t)a->n_slots * a->slot_bytes;
	return 0;
}
