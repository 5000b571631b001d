/* daemon/serve/session.h - one client's connection in the dispatcher: its frames, its credit, its
 * leases. */
#pragma once

#include "daemon/serve/slot.h"
#include "proto/wire.h"

#include <systemd/sd-event.h>

struct pl_session;

/*
 * NEW -> OPEN -> LEAVING -> ENDED. LEAVING: it was told an Error or Closed and gets nothing more,
 * but what it borrowed stays its own until it releases it, closes its end or dies (SEMANTICS A8).
 * ENDED: its leases are back; freed at the end of this loop turn.
 */
enum pl_session_state { PL_SESSION_NEW, PL_SESSION_OPEN, PL_SESSION_LEAVING, PL_SESSION_ENDED };

/* What the session's owner does. None may free the session; to end it they call pl_session_end. */
struct pl_session_events {
	int (*open)(struct pl_session *s,
		const struct pl_wire_open
			*open); /* first message; < 0: refused, pl_session_fail was called */
	void (*next)(struct pl_session *s); /* s->credits grew */
	void (*released)(struct pl_session *s,
		uint32_t slot); /* a lease ended; the slot's hand-over is still counted */
	void (*describe)(struct pl_session *s, const struct pl_wire_describe *d);
	void (*why)(struct pl_session *s, char *text, size_t n);
	void (*left)(struct pl_session *s); /* it is LEAVING or ENDED: its stream is to be closed;
					       called once or twice */
};

struct pl_lease {
	uint32_t slot;
	uint32_t generation;
};

/* A datagram that the socket would not take yet. */
struct pl_outgoing {
	struct pl_outgoing *next;
	size_t n;
	char bytes[];
};

#define PL_CREDITS_MAX 1024
#define PL_SESSION_QUEUE_MAX                                                                       \
	(4u << 20) /* bytes waiting for a client that does not read; beyond it is dropped */

struct pl_session {
	int fd;
	uint32_t uid;
	uint32_t pid; /* for people, never an identity */
	int pidfd;    /* -1: the kernel has none to give */
	uint64_t id;
	char name[64];
	sd_event_source *io;
	sd_event_source *death;
	const struct pl_session_events *events;
	void *owner; /* the dispatcher */
	struct pl_stream *stream;
	enum pl_session_state state;
	bool wants_trace;
	uint32_t credits;
	struct pl_lease *lease;
	uint32_t n_leases;
	uint32_t leases_room;
	uint64_t n_stale; /* releases that named no lease */
	struct pl_outgoing *out_first;
	struct pl_outgoing *out_last;
	size_t out_bytes;
	struct pl_session *next;
};

/*
 * A session over a connected socket (takes fd, also on error). At most 16 datagrams are handled a
 * loop turn; garbage, descriptors and what does not belong end this session alone, after an Error.
 * 0 or -errno.
 */
int pl_session_create(struct pl_session **out, sd_event *loop, int fd,
	const struct pl_session_events *events, void *owner) PL_MUST_CHECK;

/* ENDED: leases are given back and `left` is called now, memory goes with pl_session_free. */
void pl_session_end(struct pl_session *s);
void pl_session_free(struct pl_session *s);

/*
 * Sends a message, or queues it (never blocks). With fd (borrowed) it must go at once: Welcome is a
 * session's first datagram. A client that does not read until the queue is full is LEAVING.
 */
void pl_session_send(struct pl_session *s, const struct pl_wire *w, int fd);

/* Error with the text, then LEAVING. exit_status as in pipeloader.h. */
void pl_session_fail(struct pl_session *s, int code, uint32_t exit_status, const char *format, ...)
	PL_PRINTF(4, 5);

/* The client has its hands on `slot` from now on. 0 or -ENOMEM. */
int pl_session_lend(struct pl_session *s, uint32_t slot, uint32_t generation) PL_MUST_CHECK;

static inline bool pl_session_is_open(const struct pl_session *s)
{
	return s->state == PL_SESSION_OPEN;
}

/* Bytes are waiting for the client to read: don't make more for it. */
static inline bool pl_session_is_congested(const struct pl_session *s)
{
	return s->out_bytes > 0;
}
