/* tests/unit/test_sys_zsock.c - the router and its dealers, and the loop that marries them to
 * sd-event. */
#include "daemon/sys/zsource.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

static struct pl_zsock router, dealer;
static char endpoint[64];
static int n_taken;

static void make(void)
{
	struct pl_err err = {0};

	snprintf(endpoint, sizeof(endpoint), "ipc://@pipeloader-test-%d", (int)getpid());
	cr_assert_eq(pl_zsock_bind(&router, endpoint, &err), 0, "%s", err.text);
	cr_assert_eq(pl_zsock_connect(&dealer, endpoint, 3, 9, &err), 0, "%s", err.text);
}

static void unmake(void)
{
	pl_zsock_close(&dealer);
	pl_zsock_close(&router);
}

Test(zsock, a_message_tells_who_sent_it, .init = make, .fini = unmake)
{
	struct pl_zmessage m;

	cr_assert_eq(pl_zsock_send(&dealer, "hello", 5), 0);
	cr_assert_eq(pl_zsock_receive(&router, &m, true), 0);
	cr_assert_eq(m.worker, 3);
	cr_assert_eq(m.generation, 9);
	cr_assert_eq(m.pid, (uint32_t)getpid(), "the kernel's word: %u", m.pid);
	cr_assert_eq(m.size, 5);
	cr_assert_eq(memcmp(m.data, "hello", 5), 0);
	pl_zsock_message_close(&m);
	cr_assert_eq(pl_zsock_send_to(&router, 3, 9, "there", 5), 0);
	cr_assert_eq(pl_zsock_receive(&dealer, &m, true), 0);
	cr_assert_eq(memcmp(m.data, "there", 5), 0);
	pl_zsock_message_close(&m);
}

Test(zsock, nobody_there_is_said, .init = make, .fini = unmake)
{
	struct pl_zmessage m;

	cr_assert_eq(pl_zsock_send_to(&router, 8, 1, "x", 1), -EHOSTUNREACH);
	cr_assert_eq(pl_zsock_receive(&router, &m, false), -EAGAIN);
}

static void take_one(void *context)
{
	struct pl_zmessage m;

	if (pl_zsock_receive(&router, &m, false) < 0)
		return;
	n_taken++;
	pl_zsock_message_close(&m);
}

Test(zsock, one_message_a_turn_loses_none, .init = make, .fini = unmake)
{
	struct pl_zsource *source;
	sd_event *loop;

	n_taken = 0;
	cr_assert(sd_event_new(&loop) >= 0);
	cr_assert_eq(pl_zsource_create(&source, loop, &router, take_one, NULL), 0);
	for (int i = 0; i < 2000; i++)
		cr_assert_eq(pl_zsock_send(&dealer, "x", 1), 0);
	for (int idle = 0; n_taken < 2000 && idle < 100;)
		idle = sd_event_run(loop, 100000) > 0 ? 0 : idle + 1;
	cr_assert_eq(n_taken, 2000);
	pl_zsource_destroy(source);
	sd_event_unref(loop);
}
