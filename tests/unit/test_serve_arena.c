/* tests/unit/test_serve_arena.c - how the arena is cut. */
#include "daemon/serve/arena.h"

#include <criterion/criterion.h>
#include <errno.h>

static struct pl_arena_need need(uint64_t bytes, uint64_t slot, uint64_t cell, bool needs_cells)
{
	return (struct pl_arena_need){
		.bytes = bytes, .slot_bytes = slot, .cell_bytes = cell, .needs_cells = needs_cells};
}

Test(arena, parts_do_not_overlap_and_fit)
{
	static const uint64_t slots[] = {4096, 8192, 1 << 20}, cells[] = {0, 64, 4096, 100032};
	static char base[1];

	for (size_t i = 0; i < PL_ARRAY_LEN(slots); i++)
		for (size_t k = 0; k < PL_ARRAY_LEN(cells); k++)
			for (uint64_t bytes = 4 << 20; bytes < 64 << 20;
				bytes = bytes * 3 / 2 + 777) {
				struct pl_arena_need n =
					need(bytes, slots[i], cells[k], cells[k] && bytes % 2);
				struct pl_arena a;

				n.names_bytes = bytes % 5000;
				if (pl_arena_cut(&a, base, &n, NULL) < 0)
					continue;
				cr_assert_geq(a.n_slots, 2);
				cr_assert_geq(a.names_offset,
					a.generations_offset + PL_ARENA_SLOTS_MAX * 4);
				cr_assert_geq(a.slots_offset, a.names_offset + n.names_bytes);
				cr_assert_eq(a.slots_offset % 4096, 0);
				cr_assert_geq(
					a.cells_offset, a.slots_offset + a.n_slots * a.slot_bytes);
				cr_assert_leq(
					a.cells_offset + (uint64_t)a.n_cells * a.cell_bytes, bytes);
				cr_assert(!n.cell_bytes || a.n_cells >= (n.needs_cells ? 4 : 1));
			}
}

Test(arena, the_same_cut_in_every_process)
{
	struct pl_arena_need n = need(64 << 20, 1 << 20, 65536, true);
	static char base[1];
	struct pl_arena a, b;

	cr_assert_eq(pl_arena_cut(&a, base, &n, NULL), 0);
	cr_assert_eq(pl_arena_cut(&b, base, &n, NULL), 0);
	cr_assert_eq(memcmp(&a, &b, sizeof(a)), 0);
}

Test(arena, too_small_says_what_is_needed)
{
	struct pl_arena_need n = need(1 << 20, 1 << 20, 64, false);
	static char base[1];
	struct pl_err err = {0};
	struct pl_arena a;

	cr_assert_eq(pl_arena_cut(&a, base, &n, &err), -ENOSPC);
	cr_assert(strstr(err.text, "room for 2 batches") && strstr(err.text, "raise memory"), "%s",
		err.text);
	n = need(100, 4096, 0, false);
	cr_assert_eq(pl_arena_cut(&a, base, &n, &err), -ENOSPC);
	n = need(1 << 20, 0, 0, false);
	cr_assert_eq(pl_arena_cut(&a, base, &n, &err), -ENOSPC);
}

Test(arena, cells_never_take_the_second_slot)
{
	struct pl_arena_need n = need((4096 * 2) + 2 * (1 << 20) + 8192, 1 << 20, 4096, false);
	static char base[1];
	struct pl_arena a;

	cr_assert_eq(pl_arena_cut(&a, base, &n, NULL), 0);
	cr_assert_eq(a.n_slots, 2);
	cr_assert_geq(a.n_cells, 1);
}
