/* daemon/serve/arena.h - how one birth's shared memory is cut into slots and cells. */
#pragma once

#include "proto/err.h"

#include <stdatomic.h>

/*
 * [head page | u32 generation of each slot | class names | slots | cells], each part 4096-byte
 * aligned. The supervisor made the memfd; the dispatcher writes head and names once and owns all
 * tables; workers only write the rows and cells they were told.
 */
struct pl_arena {
	char *base;
	uint64_t bytes;
	uint64_t slot_bytes;
	uint64_t cell_bytes;
	uint32_t n_slots;
	uint32_t n_cells;
	uint64_t generations_offset;
	uint64_t names_offset;
	uint64_t names_bytes;
	uint64_t slots_offset;
	uint64_t cells_offset;
	_Atomic uint32_t *generation;
};

/* What the arena must hold. Sizes in bytes; cell_bytes 0: no cells. */
struct pl_arena_need {
	uint64_t bytes;
	uint64_t slot_bytes;
	uint64_t cell_bytes;
	bool needs_cells; /* every sample passes through a cell */
	uint64_t names_bytes;
};

#define PL_ARENA_SLOTS_MAX 1024
#define PL_ARENA_CELLS_MAX 4096

/*
 * Cuts [base, base + need->bytes) the same way in every process of a birth. With needs_cells a
 * third of the room goes to cells, else an eighth at most. -ENOSPC with err when there is no room
 * for two slots (and four cells where cells are needed).
 */
int pl_arena_cut(struct pl_arena *a, void *base, const struct pl_arena_need *need,
	struct pl_err *err) PL_MUST_CHECK;

static inline char *pl_arena_slot(const struct pl_arena *a, uint32_t slot)
{
	return a->base + a->slots_offset + (uint64_t)slot * a->slot_bytes;
}

static inline char *pl_arena_cell(const struct pl_arena *a, uint32_t cell)
{
	return a->base + a->cells_offset + (uint64_t)cell * a->cell_bytes;
}
