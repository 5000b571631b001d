/* tests/unit/test_daemon_allow.c - who may open a pipeline. */
#include "daemon/allow.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/socket.h>

static bool holds(const char *name, uint32_t uid, uint32_t gid, gid_t group)
{
	struct pl_param_texts names = {.n = name ? 1 : 0, .v = {name}};
	struct pl_peer peer = {.uid = uid, .gid = gid, .pid = 1, .n_groups = 1, .groups = {group}};
	struct pl_allow allow;
	char unknown[64];

	pl_allow_resolve(&allow, &names, unknown, sizeof(unknown));
	return pl_allow_holds(&allow, &peer, 1000);
}

Test(daemon_allow, nothing_said_is_the_daemons_own_user_and_root)
{
	cr_expect(holds(NULL, 0, 0, 0));
	cr_expect(holds(NULL, 1000, 1000, 0));
	cr_expect_not(holds(NULL, 1001, 1000, 0));
}

Test(daemon_allow, users_and_groups_by_number_and_name)
{
	cr_expect(holds("1234", 1234, 5, 5));
	cr_expect_not(holds("1234", 1235, 1234, 1234));
	cr_expect(holds("@77", 5, 77, 5));
	cr_expect(holds("@77", 5, 5, 77));
	cr_expect_not(holds("@77", 77, 5, 5));
	cr_expect(holds("daemon", 1, 5, 5), "uid 1 is daemon wherever Debian is");
	cr_expect(holds("@daemon", 5, 1, 5));
	cr_expect(holds("*", 4711, 4711, 4711));
}

Test(daemon_allow, nobody_never)
{
	cr_expect_not(holds("*", PL_UID_NOBODY, 0, 0));
	cr_expect_not(holds("65534", PL_UID_NOBODY, 0, 0));
	cr_expect_not(holds("*", UINT32_MAX, 0, 0));
}

Test(daemon_allow, names_that_nobody_has_are_told)
{
	struct pl_param_texts names = {
		.n = 4, .v = {"nobody_at_all", "1", "@no_such_group", "12x"}};
	struct pl_allow allow;
	char unknown[128], shorter[12];

	pl_allow_resolve(&allow, &names, unknown, sizeof(unknown));
	cr_expect_eq(allow.n, 1);
	cr_expect_str_eq(unknown, "'nobody_at_all', '@no_such_group', '12x'");
	pl_allow_resolve(&allow, &names, shorter, sizeof(shorter));
	cr_expect_str_eq(shorter, "'nobody_at_");
}

Test(daemon_allow, a_peer_is_what_the_kernel_says)
{
	struct pl_peer peer;
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	cr_expect_eq(pl_peer_read(&peer, pair[0]), 0);
	cr_expect_eq(peer.uid, getuid());
	cr_expect_eq(peer.gid, getgid());
	cr_expect_eq(peer.pid, (uint32_t)getpid());
	cr_expect_eq(peer.n_groups, getgroups(0, NULL));
	close(pair[0]);
	close(pair[1]);
	cr_expect_lt(pl_peer_read(&peer, -1), 0);
}
