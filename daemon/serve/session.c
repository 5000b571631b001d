/* daemon/serve/session.c - one client's connection in the dispatcher. */
#include "daemon/serve/session.h"

#include "proto/frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define FRAMES_A_TURN 16
#define DRAIN_MAX     1024

/* One message each way at a time: the dispatcher has one thread. */
static struct pl_wire incoming;
static struct pl_wire failure;

static void watch(struct pl_session *s)
{
	if (s->io)
		sd_event_source_set_io_events(s->io, EPOLLIN | (s->out_first ? EPOLLOUT : 0));
}

static bool has_lease(struct pl_session *s, uint32_t slot, uint32_t generation)
{
	for (uint32_t i = 0; i < s->n_leases; i++)
		if (s->lease[i].slot == slot && s->lease[i].generation == generation) {
			s->lease[i] = s->lease[--s->n_leases];
			return true;
		}
	s->n_stale++;
	return false;
}

void pl_session_end(struct pl_session *s)
{
	if (s->state == PL_SESSION_ENDED)
		return;
	s->state = PL_SESSION_ENDED;
	while (s->n_leases > 0) {
		uint32_t slot = s->lease[--s->n_leases].slot;

		s->events->released(s, slot);
	}
	s->io = sd_event_source_disable_unref(s->io);
	s->death = sd_event_source_disable_unref(s->death);
	s->events->left(s);
}

/* A leaving client that holds nothing and has heard everything needs no session any more. */
static void end_if_done(struct pl_session *s)
{
	if (s->state == PL_SESSION_LEAVING && s->n_leases == 0 && !s->out_first)
		pl_session_end(s);
}

static void leave(struct pl_session *s)
{
	if (s->state >= PL_SESSION_LEAVING)
		return;
	s->state = PL_SESSION_LEAVING;
	s->credits = 0;
	s->events->left(s);
	end_if_done(s);
}

static void on_release(struct pl_session *s, const struct pl_wire_release *r)
{
	if (has_lease(s, r->slot, r->generation))
		s->events->released(s, r->slot);
	end_if_done(s);
}

/* A socket closed with unread datagrams resets its peer, which then loses our last word. */
static void drain(int fd)
{
	char byte;

	for (int i = 0; i < DRAIN_MAX && recv(fd, &byte, 1, MSG_DONTWAIT) > 0; i++)
		;
}

void pl_session_free(struct pl_session *s)
{
	if (!s)
		return;
	s->io = sd_event_source_disable_unref(s->io);
	s->death = sd_event_source_disable_unref(s->death);
	while (s->out_first) {
		struct pl_outgoing *o = s->out_first;

		s->out_first = o->next;
		free(o);
	}
	if (s->fd >= 0) {
		drain(s->fd);
		close(s->fd);
	}
	if (s->pidfd >= 0)
		close(s->pidfd);
	free(s->lease);
	free(s);
}

static int queue(struct pl_session *s, const void *bytes, size_t n)
{
	struct pl_outgoing *o;

	if (s->out_bytes + n > PL_SESSION_QUEUE_MAX)
		return -ENOBUFS;
	o = malloc(sizeof(*o) + n);
	if (!o)
		return -ENOMEM;
	o->next = NULL;
	o->n = n;
	memcpy(o->bytes, bytes, n);
	if (s->out_last)
		s->out_last->next = o;
	else
		s->out_first = o;
	s->out_last = o;
	s->out_bytes += n;
	watch(s);
	return 0;
}

/* The queue's datagrams in order, until the socket is full. */
static int flush(struct pl_session *s)
{
	while (s->out_first) {
		struct pl_outgoing *o = s->out_first;
		int r = pl_frame_send(s->fd, o->bytes, o->n, -1);

		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			return r;
		s->out_bytes -= o->n;
		s->out_first = o->next;
		if (!s->out_first)
			s->out_last = NULL;
		free(o);
	}
	watch(s);
	return 0;
}

void pl_session_send(struct pl_session *s, const struct pl_wire *w, int fd)
{
	char frame[PL_FRAME_MAX];
	int n, r;

	if (s->state >= PL_SESSION_LEAVING)
		return;
	n = pl_wire_pack(w, frame);
	if (n < 0) {
		r = n;
	} else {
		r = s->out_first ? -EAGAIN : pl_frame_send(s->fd, frame, (size_t)n, fd);
		if (r == -EAGAIN && fd < 0)
			r = queue(s, frame, (size_t)n);
	}
	if (r == -ENOBUFS || r == -ENOMEM)
		leave(s);
	else if (r < 0)
		pl_session_end(s);
}

void pl_session_fail(struct pl_session *s, int code, uint32_t exit_status, const char *format, ...)
{
	va_list args;

	memset(&failure, 0, sizeof(failure));
	failure.kind = PL_WIRE_ERROR;
	failure.error.code = code;
	failure.error.exit_status = exit_status;
	va_start(args, format);
	vsnprintf(failure.error.text, sizeof(failure.error.text), format, args);
	va_end(args);
	pl_session_send(s, &failure, -1);
	leave(s);
}

int pl_session_lend(struct pl_session *s, uint32_t slot, uint32_t generation)
{
	if (s->n_leases == s->leases_room) {
		uint32_t room = s->leases_room * 2 + 8;
		struct pl_lease *more = realloc(s->lease, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->lease = more;
		s->leases_room = room;
	}
	s->lease[s->n_leases++] = (struct pl_lease){slot, generation};
	return 0;
}

static void on_open(struct pl_session *s, const struct pl_wire *w)
{
	const struct pl_wire_open *open = &w->open;

	if (s->state != PL_SESSION_NEW) {
		pl_session_fail(s, EPROTO, 1, "a connection opens one stream, once");
		return;
	}
	if (open->version != PL_PROTOCOL_VERSION) {
		pl_session_fail(s, EPROTONOSUPPORT, 1,
			"this client speaks protocol version %u, this daemon version %u: use the "
			"library that came with the daemon",
			open->version, PL_PROTOCOL_VERSION);
		return;
	}
	snprintf(s->name, sizeof(s->name), "%s", open->client_name);
	s->wants_trace = open->wants_trace;
	if (s->events->open(s, open) == 0 && s->state == PL_SESSION_NEW)
		s->state = PL_SESSION_OPEN;
}

static void on_next(struct pl_session *s, const struct pl_wire *w)
{
	for (int i = 0; i < w->next.n_releases && s->state < PL_SESSION_ENDED; i++)
		on_release(s, &w->next.release[i]);
	if (s->state != PL_SESSION_OPEN)
		return;
	s->credits = (uint32_t)pl_min_u64((uint64_t)s->credits + w->next.credits, PL_CREDITS_MAX);
	s->events->next(s);
}

static void on_release_message(struct pl_session *s, const struct pl_wire *w)
{
	on_release(s, &w->release);
	if (s->state == PL_SESSION_OPEN)
		s->events->next(s);
}

static void on_describe(struct pl_session *s, const struct pl_wire *w)
{
	s->events->describe(s, &w->describe);
}

static void on_why(struct pl_session *s, const struct pl_wire *w)
{
	static struct pl_wire answer;

	answer.kind = PL_WIRE_BECAUSE;
	answer.text[0] = '\0';
	s->events->why(s, answer.text, sizeof(answer.text));
	pl_session_send(s, &answer, -1);
}

static void on_close(struct pl_session *s, const struct pl_wire *w)
{
	static const struct pl_wire closed = {.kind = PL_WIRE_CLOSED};

	pl_session_send(s, &closed, -1);
	leave(s);
}

/* Bits of the states in which a message belongs. */
#define IF(state) (1u << (state))
#define IF_NEW    IF(PL_SESSION_NEW)
#define IF_OPEN   IF(PL_SESSION_OPEN)
#define IF_EITHER (IF_OPEN | IF(PL_SESSION_LEAVING))

static const struct {
	enum pl_wire_kind kind;
	unsigned states;
	void (*handle)(struct pl_session *s, const struct pl_wire *w);
} handlers[] = {
	{PL_WIRE_NEXT, IF_EITHER, on_next},
	{PL_WIRE_RELEASE, IF_EITHER, on_release_message},
	{PL_WIRE_OPEN, IF_NEW | IF_OPEN, on_open},
	{PL_WIRE_DESCRIBE, IF_OPEN, on_describe},
	{PL_WIRE_WHY, IF_OPEN, on_why},
	{PL_WIRE_CLOSE, IF_NEW | IF_OPEN, on_close},
};

static void on_frame(struct pl_session *s, const void *frame, size_t n)
{
	int r = pl_wire_unpack(&incoming, frame, n);

	for (size_t i = 0; r == 0 && i < PL_ARRAY_LEN(handlers); i++)
		if (handlers[i].kind == incoming.kind && handlers[i].states & IF(s->state)) {
			handlers[i].handle(s, &incoming);
			return;
		}
	if (s->state == PL_SESSION_LEAVING)
		return;
	pl_session_fail(s, EPROTO, 1, "%s",
		r < 0 ? "not a message of this protocol" : "a message that does not belong here");
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *context)
{
	char frame[PL_FRAME_MAX];
	struct pl_session *s = context;
	size_t n;
	int r = 0;

	if (events & EPOLLOUT) {
		r = flush(s);
		if (r < 0)
			pl_session_end(s);
		end_if_done(s);
		if (s->state == PL_SESSION_OPEN && !s->out_first)
			s->events->next(s);
	}
	for (int i = 0; i < FRAMES_A_TURN && s->state != PL_SESSION_ENDED; i++) {
		r = pl_frame_receive(s->fd, frame, &n, NULL);
		if (r == -EAGAIN)
			return 0;
		if (r != 0)
			break;
		on_frame(s, frame, n);
	}
	if (r != 0)
		pl_session_end(s);
	return 0;
}

static int on_death(sd_event_source *source, int fd, uint32_t events, void *context)
{
	pl_session_end(context);
	return 0;
}

static void learn_peer(struct pl_session *s)
{
	struct ucred who = {0};
	socklen_t n = sizeof(who);

	if (getsockopt(s->fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0) {
		s->uid = who.uid;
		s->pid = (uint32_t)who.pid;
	}
	n = sizeof(s->pidfd);
	if (getsockopt(s->fd, SOL_SOCKET, SO_PEERPIDFD, &s->pidfd, &n) < 0)
		s->pidfd = -1;
}

int pl_session_create(struct pl_session **out, sd_event *loop, int fd,
	const struct pl_session_events *events, void *owner)
{
	struct pl_session *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->fd = fd;
	s->pidfd = -1;
	s->events = events;
	s->owner = owner;
	learn_peer(s);
	r = sd_event_add_io(loop, &s->io, fd, EPOLLIN, on_io, s);
	if (r >= 0 && s->pidfd >= 0)
		r = sd_event_add_io(loop, &s->death, s->pidfd, EPOLLIN, on_death, s);
	if (r < 0) {
		pl_session_free(s);
		return r;
	}
	*out = s;
	return 0;
}
