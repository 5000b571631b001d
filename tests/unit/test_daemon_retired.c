/* tests/unit/test_daemon_retired.c - arenas of births that are over. */
#include "daemon/retired.h"

#include <criterion/criterion.h>

#define NOBODYS_PID 4194304u /* above every kernel's largest */

Test(daemon_retired, an_arena_counts_while_its_guest_lives)
{
	struct pl_guests mine = {0}, nobodys = {0}, none = {0};
	struct pl_retired r = {0};
	uint64_t bytes;

	pl_guests_add(&mine, (uint32_t)getpid());
	pl_guests_add(&mine, (uint32_t)getpid());
	cr_expect_eq(mine.n, 1, "a process counts once");
	pl_guests_add(&nobodys, NOBODYS_PID);
	pl_retired_add(&r, 1000, &mine);
	pl_retired_add(&r, 10, &nobodys);
	pl_retired_add(&r, 1, &none);
	cr_expect_eq(pl_retired_count(&r, &bytes), 1);
	cr_expect_eq(bytes, 1000);
}

Test(daemon_retired, a_pid_used_again_is_another_process)
{
	struct pl_guests g = {0};
	struct pl_retired r = {0};
	uint64_t bytes;

	pl_guests_add(&g, (uint32_t)getpid());
	g.guest[0].start++;
	pl_retired_add(&r, 1000, &g);
	cr_expect_eq(pl_retired_count(&r, &bytes), 0);
	cr_expect_eq(bytes, 0);
}

Test(daemon_retired, unknown_guests_are_taken_for_alive)
{
	struct pl_guests g = {0};
	struct pl_retired r = {0};
	uint64_t bytes;

	pl_guests_add(&g, 0);
	pl_retired_add(&r, 7, &g);
	cr_expect_eq(pl_retired_count(&r, &bytes), 1);
}

Test(daemon_retired, room_is_bounded)
{
	struct pl_guests g = {0};
	struct pl_retired r = {0};
	uint64_t bytes;

	for (uint32_t i = 0; i < 10 * PL_GUESTS_MAX; i++)
		pl_guests_add(&g, NOBODYS_PID + i);
	cr_expect_leq(g.n, PL_GUESTS_MAX, "the dead make room");
	cr_expect_not(g.has_more);
	pl_guests_add(&g, (uint32_t)getpid());
	for (int i = 0; i < 10 * PL_RETIRED_MAX; i++)
		pl_retired_add(&r, 1, &g);
	cr_expect_eq(pl_retired_count(&r, &bytes), PL_RETIRED_MAX);
}
