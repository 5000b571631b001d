/* daemon/visitor.c - a connection that no dispatcher has. */
#include "daemon/visitor.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "daemon/listen.h"
#include "daemon/sys/log.h"
#include "proto/frame.h"
#include "proto/wire.h"

#define ANSWER_MS 10000

static struct pl_wire wire; /* one thread: nobody else uses it meanwhile */
static uint8_t frame[PL_FRAME_MAX];

static int on_io(sd_event_source *source, int fd, uint32_t events, void *context);

static int on_deadline(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_visitor *v = context;

	if (v->state == PL_VISITOR_NEW)
		pl_visitor_error(v, -ETIMEDOUT, 1, "no first message came within 5 s");
	else
		pl_visitor_dismiss(v);
	return 0;
}

struct pl_visitor *pl_visitor_create(struct pl_supervisor *s, int fd)
{
	struct pl_visitor *v = calloc(1, sizeof(*v)), **last = &s->visitors;
	int r;

	if (!v) {
		close(fd);
		return NULL;
	}
	v->supervisor = s;
	v->fd = fd;
	v->number = ++s->n_visitors;
	r = pl_peer_read(&v->peer, fd);
	if (r == 0)
		r = sd_event_add_io(s->loop, &v->io, fd, EPOLLIN, on_io, v);
	if (r >= 0)
		r = pl_supervisor_after(s, &v->deadline, PL_FIRST_DATAGRAM_MS, on_deadline, v);
	if (r < 0) {
		pl_supervisor_drop(&v->io);
		close(fd);
		free(v);
		return NULL;
	}
	while (*last)
		last = &(*last)->next;
	*last = v;
	return v;
}

void pl_visitor_part(struct pl_visitor *v)
{
	pl_supervisor_drop(&v->io);
	pl_supervisor_drop(&v->deadline);
	pl_closep(&v->fd);
	v->fd = -1;
	v->pipeline = NULL;
	v->state = PL_VISITOR_GONE;
}

/*
 * A socket that is closed with something unread gives its peer ECONNRESET, before the datagrams
 * that we sent it. So nothing more may come in, and what came is taken.
 */
void pl_visitor_dismiss(struct pl_visitor *v)
{
	size_t n;

	if (v->state == PL_VISITOR_GONE)
		return;
	pl_supervisor_drop(&v->io);
	shutdown(v->fd, SHUT_RDWR);
	for (int i = 0; i < 1024; i++) {
		int r = pl_frame_receive(v->fd, frame, &n, NULL);

		if (r != 0 && r != PL_FRAME_REFUSED)
			break;
	}
	pl_visitor_part(v);
}

void pl_visitor_error(struct pl_visitor *v, int code, int exit_status, const char *text)
{
	int n;

	wire.kind = PL_WIRE_ERROR;
	wire.error = (struct pl_wire_error){.code = code, .exit_status = (uint32_t)exit_status};
	snprintf(wire.error.text, sizeof(wire.error.text), "%s", text);
	n = pl_wire_pack(&wire, frame);
	if (n > 0 && pl_frame_send(v->fd, frame, (size_t)n, -1) < 0)
		pl_log(PL_LOG_DEBUG, "uid=%u pid=%u left before its answer", v->peer.uid,
			v->peer.pid);
	pl_visitor_dismiss(v);
}

/* The next datagram of the answer. 0, PL_FRAME_END when that was the last, or -errno. */
static int answer_piece(struct pl_visitor *v)
{
	size_t n = pl_min_u64(v->n_answer - v->n_sent, sizeof(wire.answer.text));
	int packed, r;

	wire.kind = PL_WIRE_ANSWER;
	wire.answer.code = v->code;
	wire.answer.exit_status = (uint32_t)v->exit_status;
	wire.answer.is_more = v->n_sent + n < v->n_answer;
	wire.answer.n = n;
	memcpy(wire.answer.text, v->answer + v->n_sent, n);
	packed = pl_wire_pack(&wire, frame);
	r = packed < 0 ? packed : pl_frame_send(v->fd, frame, (size_t)packed, -1);
	if (r < 0)
		return r;
	v->n_sent += n;
	return v->n_sent == v->n_answer ? PL_FRAME_END : 0;
}

/* A full socket buffer ends the turn by itself. */
static void answer_on(struct pl_visitor *v)
{
	int r = 0;

	while (r == 0)
		r = answer_piece(v);
	if (r == -EAGAIN)
		sd_event_source_set_io_events(v->io, EPOLLOUT);
	else
		pl_visitor_dismiss(v);
}

void pl_visitor_answer(struct pl_visitor *v, int code, int exit_status, char *text)
{
	if (!text) {
		pl_visitor_error(v, -ENOMEM, 1, "out of memory for the answer");
		return;
	}
	free(v->answer);
	v->answer = text;
	v->n_answer = strlen(text);
	v->n_sent = 0;
	v->code = code;
	v->exit_status = exit_status;
	v->state = PL_VISITOR_ANSWERED;
	if (pl_supervisor_after(v->supervisor, &v->deadline, ANSWER_MS, on_deadline, v) < 0)
		pl_visitor_dismiss(v);
	else
		answer_on(v);
}

/* Without EPOLLIN only its hang-up is heard, which epoll always tells. */
void pl_visitor_keep(struct pl_visitor *v, enum pl_visitor_state state)
{
	v->state = state;
	pl_supervisor_drop(&v->deadline);
	sd_event_source_set_io_events(v->io, 0);
}

void pl_visitor_wait(struct pl_visitor *v, struct pl_pipeline *p)
{
	v->pipeline = p;
	pl_visitor_keep(v, PL_VISITOR_WAITS);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct pl_visitor *v = context;

	if (v->state == PL_VISITOR_GONE)
		return 0;
	if (v->state == PL_VISITOR_NEW && (events & EPOLLIN))
		pl_listen_hear(v);
	else if (events & (EPOLLHUP | EPOLLERR))
		pl_visitor_dismiss(v);
	else if (v->state == PL_VISITOR_ANSWERED)
		answer_on(v);
	return 0;
}

bool pl_visitor_sweep(struct pl_supervisor *s)
{
	bool some = false;

	for (struct pl_visitor **at = &s->visitors; *at;) {
		struct pl_visitor *v = *at;

		if (v->state != PL_VISITOR_GONE) {
			at = &v->next;
			continue;
		}
		*at = v->next;
		free(v->answer);
		free(v);
		some = true;
	}
	return some;
}
