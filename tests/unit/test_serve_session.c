/* tests/unit/test_serve_session.c - a client's frames: what is let in, what ends the session, what
 * waits. */
#include "daemon/serve/session.h"
#include "proto/frame.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>

static struct pl_wire wire;
static sd_event *loop;
static struct pl_session *session;
static int client;
static int n_opened, n_next, n_released, n_left;
static uint32_t released_slot;

static int on_open(struct pl_session *s, const struct pl_wire_open *open)
{
	n_opened++;
	return 0;
}

static void on_next(struct pl_session *s)
{
	n_next++;
}

static void on_released(struct pl_session *s, uint32_t slot)
{
	n_released++;
	released_slot = slot;
}

static void on_describe(struct pl_session *s, const struct pl_wire_describe *d)
{
}

static void on_why(struct pl_session *s, char *text, size_t n)
{
	snprintf(text, n, "because");
}

static void on_left(struct pl_session *s)
{
	n_left++;
}

static const struct pl_session_events events = {
	on_open, on_next, on_released, on_describe, on_why, on_left};

static void make(void)
{
	int pair[2];

	n_opened = n_next = n_released = n_left = 0;
	cr_assert(sd_event_new(&loop) >= 0);
	cr_assert_eq(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	client = pair[1];
	cr_assert_eq(pl_session_create(&session, loop, pair[0], &events, NULL), 0);
}

static void unmake(void)
{
	pl_session_free(session);
	sd_event_unref(loop);
	if (client >= 0)
		close(client);
}

static void turn(void)
{
	while (sd_event_run(loop, 0) > 0)
		;
}

static void say(void)
{
	static char frame[PL_FRAME_MAX];
	int n = pl_wire_pack(&wire, frame);

	cr_assert_gt(n, 0);
	cr_assert_eq(pl_frame_send(client, frame, (size_t)n, -1), 0);
	turn();
}

static enum pl_wire_kind hear(void)
{
	static char frame[PL_FRAME_MAX];
	size_t n;

	if (pl_frame_receive(client, frame, &n, NULL) != 0)
		return 0;
	cr_assert_eq(pl_wire_unpack(&wire, frame, n), 0);
	return wire.kind;
}

static void open_it(void)
{
	memset(&wire, 0, sizeof(wire));
	wire.kind = PL_WIRE_OPEN;
	wire.open.version = PL_PROTOCOL_VERSION;
	say();
	cr_assert_eq(n_opened, 1);
}

Test(session, opens_and_asks, .init = make, .fini = unmake)
{
	open_it();
	wire = (struct pl_wire){.kind = PL_WIRE_NEXT, .next = {.credits = 3}};
	say();
	cr_assert_eq(session->credits, 3);
	cr_assert_eq(n_next, 1);
	wire = (struct pl_wire){.kind = PL_WIRE_NEXT, .next = {.credits = UINT32_MAX}};
	say();
	cr_assert_eq(session->credits, PL_CREDITS_MAX, "credit is bounded");
	wire = (struct pl_wire){.kind = PL_WIRE_WHY};
	say();
	cr_assert_eq(hear(), PL_WIRE_BECAUSE);
	cr_assert_str_eq(wire.text, "because");
}

Test(session, a_release_needs_its_lease, .init = make, .fini = unmake)
{
	open_it();
	cr_assert_eq(pl_session_lend(session, 5, 7), 0);
	wire = (struct pl_wire){.kind = PL_WIRE_RELEASE, .release = {.slot = 5, .generation = 6}};
	say();
	cr_assert_eq(n_released, 0, "another generation is no lease");
	cr_assert_eq(session->n_stale, 1);
	wire = (struct pl_wire){.kind = PL_WIRE_RELEASE, .release = {.slot = 5, .generation = 7}};
	say();
	cr_assert_eq(n_released, 1);
	wire = (struct pl_wire){.kind = PL_WIRE_RELEASE, .release = {.slot = 5, .generation = 7}};
	say();
	cr_assert_eq(n_released, 1, "twice is ignored");
	cr_assert(session->state != PL_SESSION_ENDED);
}

Test(session, another_version_is_refused_politely, .init = make, .fini = unmake)
{
	memset(&wire, 0, sizeof(wire));
	wire.kind = PL_WIRE_OPEN;
	wire.open.version = PL_PROTOCOL_VERSION + 1;
	say();
	cr_assert_eq(hear(), PL_WIRE_ERROR);
	cr_assert_eq(wire.error.code, EPROTONOSUPPORT);
	cr_assert(strstr(wire.error.text, "version"), "%s", wire.error.text);
	cr_assert_eq(n_opened, 0);
	cr_assert_eq(session->state, PL_SESSION_ENDED);
	cr_assert_geq(n_left, 1);
}

Test(session, garbage_ends_it_alone, .init = make, .fini = unmake)
{
	cr_assert_eq(pl_frame_send(client, "\xff\xff\xff\xff", 4, -1), 0);
	turn();
	cr_assert_eq(hear(), PL_WIRE_ERROR);
	cr_assert_eq(session->state, PL_SESSION_ENDED);
	cr_assert_geq(n_left, 1);
}

Test(session, what_comes_before_open_does_not_belong, .init = make, .fini = unmake)
{
	wire = (struct pl_wire){.kind = PL_WIRE_NEXT, .next = {.credits = 1}};
	say();
	cr_assert_eq(hear(), PL_WIRE_ERROR);
	cr_assert_eq(n_next, 0);
	cr_assert_eq(session->state, PL_SESSION_ENDED);
	cr_assert_geq(n_left, 1);
}

Test(session, a_descriptor_ends_it, .init = make, .fini = unmake)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	cr_assert_eq(pl_frame_send(client, "x", 1, fd), 0);
	close(fd);
	turn();
	cr_assert_eq(session->state, PL_SESSION_ENDED);
	cr_assert_geq(n_left, 1);
}

Test(session, a_leaving_client_keeps_what_it_borrowed, .init = make, .fini = unmake)
{
	open_it();
	cr_assert_eq(pl_session_lend(session, 4, 1), 0);
	pl_session_fail(session, EIO, 1, "a bad sample");
	cr_assert_eq(hear(), PL_WIRE_ERROR);
	cr_assert_eq(session->state, PL_SESSION_LEAVING);
	cr_assert_eq(n_released, 0, "its views are still its own");
	wire = (struct pl_wire){.kind = PL_WIRE_NEXT, .next = {.credits = 1}};
	say();
	cr_assert_eq(n_next, 0, "it gets no more");
	wire = (struct pl_wire){.kind = PL_WIRE_RELEASE, .release = {.slot = 4, .generation = 1}};
	say();
	cr_assert_eq(n_released, 1);
	cr_assert_eq(session->state, PL_SESSION_ENDED);
}

Test(session, its_end_gives_leases_back, .init = make, .fini = unmake)
{
	open_it();
	cr_assert_eq(pl_session_lend(session, 1, 1), 0);
	cr_assert_eq(pl_session_lend(session, 2, 1), 0);
	close(client);
	client = -1;
	turn();
	cr_assert_eq(n_released, 2);
	cr_assert_eq(session->state, PL_SESSION_ENDED);
	cr_assert_geq(n_left, 1);
}

Test(session, close_is_answered, .init = make, .fini = unmake)
{
	open_it();
	wire = (struct pl_wire){.kind = PL_WIRE_CLOSE};
	say();
	cr_assert_eq(hear(), PL_WIRE_CLOSED);
	cr_assert_eq(session->state, PL_SESSION_ENDED);
	cr_assert_geq(n_left, 1);
}

Test(session, what_the_socket_does_not_take_waits_in_order, .init = make, .fini = unmake)
{
	int sent = 0, heard = 0;

	open_it();
	while (!pl_session_is_congested(session)) {
		wire.kind = PL_WIRE_TRACE;
		snprintf(wire.text, sizeof(wire.text), "%d", sent++);
		pl_session_send(session, &wire, -1);
	}
	for (int i = 0; i < 10; i++) {
		snprintf(wire.text, sizeof(wire.text), "%d", sent++);
		pl_session_send(session, &wire, -1);
	}
	while (heard < sent) {
		char expected[16];

		if (hear() != PL_WIRE_TRACE) {
			turn();
			continue;
		}
		snprintf(expected, sizeof(expected), "%d", heard++);
		cr_assert_str_eq(wire.text, expected);
	}
	turn();
	cr_assert(!pl_session_is_congested(session));
}

Test(session, a_client_that_never_reads_is_dropped_at_the_bound, .init = make, .fini = unmake)
{
	open_it();
	for (int i = 0; i < 2000 && session->state < PL_SESSION_LEAVING; i++) {
		wire.kind = PL_WIRE_TRACE;
		memset(wire.text, 'x', PL_WIRE_TEXT_MAX - 1);
		pl_session_send(session, &wire, -1);
	}
	cr_assert(session->state >= PL_SESSION_LEAVING);
	cr_assert_leq(session->out_bytes, PL_SESSION_QUEUE_MAX);
}
