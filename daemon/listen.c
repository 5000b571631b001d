/* daemon/listen.c - the listening socket, and what a new connection's first datagram says. */
#include "daemon/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "daemon/ask.h"
#include "daemon/kit/registry.h"
#include "daemon/pipeline.h"
#include "daemon/sys/log.h"
#include "proto/frame.h"
#include "proto/wire.h"

#define DEFAULT_SOCKET "/run/pipeloader/socket"
#define BACKLOG        1024
#define ACCEPTS_A_TURN 16
#define SHORTAGE_MS    1000

static struct pl_wire wire;
static uint8_t frame[PL_FRAME_MAX];

static int handed_in(int *fd)
{
	int n = sd_listen_fds(1);

	if (n <= 0)
		return n;
	if (n > 1)
		return -E2BIG;
	if (sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, SOCK_SEQPACKET, 1) <= 0)
		return -EPROTOTYPE;
	*fd = SD_LISTEN_FDS_START;
	return 1;
}

/*
 * A path left by a daemon that was killed is removed only by who holds the lock of its folder, for
 * then no living daemon can be behind it. The lock is on the folder itself, so no file is left.
 */
static int lock_folder(struct pl_supervisor *s, const char *path, struct pl_err *err)
{
	PL_AUTO_FREE char *copy = strdup(path);
	const char *folder = copy ? dirname(copy) : NULL;

	if (!folder)
		return -ENOMEM;
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return pl_err_set(err, -errno, "%s can't be made: %s", folder, strerror(errno));
	s->lock_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock_fd < 0)
		return pl_err_set(err, -errno, "%s: %s", folder, strerror(errno));
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return pl_err_set(err, -errno, "%s: another pipeloaderd listens there", path);
	if (unlink(path) < 0 && errno != ENOENT)
		return pl_err_set(err, -errno, "%s: %s", path, strerror(errno));
	s->socket_path = strdup(path);
	return s->socket_path ? 0 : -ENOMEM;
}

static int bind_and_listen(struct pl_supervisor *s, const struct sockaddr_un *address, socklen_t n)
{
	PL_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)address, n) < 0)
		return -errno;
	/* Everybody may connect: `allow` decides who may open. */
	if (s->socket_path && chmod(s->socket_path, 0666) < 0)
		return -errno;
	if (listen(fd, BACKLOG) < 0)
		return -errno;
	s->listen_fd = pl_steal_fd(&fd);
	return 0;
}

static int own_socket(struct pl_supervisor *s, const char *name, struct pl_err *err)
{
	struct sockaddr_un address;
	unsigned n;
	bool is_abstract = name[0] == '@';
	int r = pl_frame_address(&address, &n, name + is_abstract);

	if (!is_abstract && name[0] != '/')
		return pl_err_set(err, -EINVAL, "%s: a socket is an absolute path or @name", name);
	if (r < 0)
		return pl_err_set(err, r, "%s: %s", name, strerror(-r));
	if (!is_abstract)
		r = lock_folder(s, name, err);
	if (r < 0)
		return r;
	r = bind_and_listen(s, &address, n);
	return r < 0 ? pl_err_set(err, r, "%s: %s", name, strerror(-r)) : 0;
}

int pl_listen_open(struct pl_supervisor *s, struct pl_err *err)
{
	const char *name = s->options->socket ? s->options->socket : getenv("PIPELOADER_SOCKET");
	int fd, r = handed_in(&fd);

	if (r < 0)
		return pl_err_set(err, r,
			"LISTEN_FDS: one listening SOCK_SEQPACKET socket is expected: %s",
			strerror(-r));
	if (r == 0)
		return own_socket(s, name && *name ? name : DEFAULT_SOCKET, err);
	s->listen_fd = fd;
	if (listen(fd, BACKLOG) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
		fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return pl_err_set(err, -errno, "LISTEN_FDS: %s", strerror(errno));
	return 0;
}

/* The oldest of a uid's silent connections makes room: who means it speaks at once. */
static void make_room(struct pl_supervisor *s, uint32_t uid)
{
	struct pl_visitor *oldest = NULL;
	int n = 0;

	for (struct pl_visitor *v = s->visitors; v; v = v->next) {
		if (v->state != PL_VISITOR_NEW || v->peer.uid != uid)
			continue;
		oldest = oldest ? oldest : v;
		n++;
	}
	if (n > PL_NOT_OPENED_MAX)
		pl_visitor_error(oldest, -EBUSY, 1,
			"too many connections of this user that were not opened");
}

static int on_shortage_over(sd_event_source *source, uint64_t now, void *context)
{
	pl_listen_resume(context);
	return 0;
}

static void pause_accepting(struct pl_supervisor *s, int code)
{
	pl_log(PL_LOG_WARNING, "errno=%d (%s): connections wait until descriptors are free", code,
		strerror(code));
	sd_event_source_set_enabled(s->accepting, SD_EVENT_OFF);
	(void)!pl_supervisor_after(s, &s->shortage, SHORTAGE_MS, on_shortage_over, s);
}

/* One connection. 0, or -errno. */
static int accept_one(struct pl_supervisor *s)
{
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct pl_visitor *v;

	if (fd < 0)
		return -errno;
	v = pl_visitor_create(s, fd);
	if (!v)
		return 0;
	if (v->peer.uid == PL_UID_NOBODY) {
		pl_visitor_error(v, -EACCES, 1, "this user has no name on this machine");
		return 0;
	}
	pl_listen_hear(v);
	if (v->state == PL_VISITOR_NEW)
		make_room(s, v->peer.uid);
	return 0;
}

static int on_accept(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct pl_supervisor *s = context;
	int r = 0;

	for (int i = 0; i < ACCEPTS_A_TURN && (r == 0 || r == -ECONNABORTED || r == -EINTR); i++)
		r = accept_one(s);
	if (r == -EMFILE || r == -ENFILE || r == -ENOBUFS || r == -ENOMEM)
		pause_accepting(s, -r);
	return 0;
}

int pl_listen_start(struct pl_supervisor *s)
{
	int r = sd_event_add_io(s->loop, &s->accepting, s->listen_fd, EPOLLIN, on_accept, s);

	return r < 0 ? r : 0;
}

void pl_listen_resume(struct pl_supervisor *s)
{
	if (!s->shortage)
		return;
	pl_supervisor_drop(&s->shortage);
	if (s->accepting)
		sd_event_source_set_enabled(s->accepting, SD_EVENT_ON);
}

static const char *allowed_name_at(const void *context, size_t i)
{
	const struct pl_visitor *v = context;
	const struct pl_pipeline *p = v->supervisor->pipelines;

	for (; p && i > 0; i--)
		p = p->next;
	return p && !p->is_gone && pl_pipeline_allows(p, &v->peer) ? p->name : NULL;
}

/* Only names that this user may open are told. */
static void refuse_name(struct pl_visitor *v, const char *name)
{
	const char *near;
	char text[1024], quoted[256];
	size_t n = 0, at;

	for (const struct pl_pipeline *p = v->supervisor->pipelines; p; p = p->next)
		n++;
	near = pl_nearest(name, n, allowed_name_at, v);
	pl_err_quote(quoted, sizeof(quoted), name);
	at = (size_t)snprintf(text, sizeof(text), "no pipeline '%s' is configured here", quoted);
	if (near)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " (did you mean '%s'?)", near);
	for (size_t i = 0, told = 0; i < n && at < sizeof(text); i++) {
		const char *one = allowed_name_at(v, i);

		if (one)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s",
				told++ ? ", " : "; there are: ", one);
	}
	pl_visitor_error(v, -ENOENT, 64, text);
}

static int n_waiting(const struct pl_supervisor *s, uint32_t uid)
{
	int n = 0;

	for (const struct pl_visitor *v = s->visitors; v; v = v->next)
		n += v->peer.uid == uid && v->state != PL_VISITOR_NEW &&
		     v->state != PL_VISITOR_GONE;
	return n;
}

static void hear_open(struct pl_visitor *v, const struct pl_wire_open *open)
{
	struct pl_pipeline *p = pl_pipeline_find(v->supervisor, open->pipeline);

	if (!p) {
		refuse_name(v, open->pipeline);
	} else {
		v->supervisor->was_visited = true;
		pl_pipeline_opened(p);
		pl_visitor_wait(v, p);
	}
}

void pl_listen_hear(struct pl_visitor *v)
{
	size_t n;
	int r = pl_frame_peek(v->fd, frame, &n);

	if (r == -EAGAIN)
		return;
	if (r == 0)
		r = pl_wire_unpack(&wire, frame, n);
	if (r == PL_FRAME_END || r == -ECONNRESET)
		pl_visitor_dismiss(v);
	else if (r != 0)
		pl_visitor_error(v, -EPROTO, 1,
			"the first message can't be read: is this client of another version?");
	else if (n_waiting(v->supervisor, v->peer.uid) >= PL_WAITING_MAX)
		pl_visitor_error(v, -EBUSY, 1, "too many connections of this user wait already");
	else if (wire.kind == PL_WIRE_OPEN)
		hear_open(v, &wire.open);
	else if (wire.kind == PL_WIRE_ASK)
		pl_ask_hear(v, &wire.ask);
	else
		pl_visitor_error(v, -EPROTO, 1, "the first message must be Open or Ask");
}

static int rebind(struct pl_supervisor *s, const struct sockaddr_un *address, socklen_t n)
{
	int r;

	pl_supervisor_drop(&s->accepting);
	pl_closep(&s->listen_fd);
	s->listen_fd = -1;
	if (s->socket_path)
		unlink(s->socket_path); /* ours: the folder's lock is still held */
	r = bind_and_listen(s, address, n);
	return r < 0 ? r : pl_listen_start(s);
}

/* After shutdown a connect is refused, but who had connected before can still be accepted. */
bool pl_listen_leave(struct pl_supervisor *s)
{
	struct sockaddr_un address;
	socklen_t n = sizeof(address);
	bool some = false;

	if (s->listen_fd < 0)
		return true;
	if (getsockname(s->listen_fd, (struct sockaddr *)&address, &n) < 0 ||
		shutdown(s->listen_fd, SHUT_RD) < 0)
		return false;
	while (accept_one(s) == 0)
		some = true;
	if (!some) {
		pl_listen_close(s);
		return true;
	}
	if (rebind(s, &address, n) < 0)
		pl_log(PL_LOG_INFO,
			"another daemon has taken the name: serves its last clients, then ends");
	return false;
}

void pl_listen_close(struct pl_supervisor *s)
{
	pl_supervisor_drop(&s->accepting);
	pl_supervisor_drop(&s->shortage);
	pl_closep(&s->listen_fd);
	s->listen_fd = -1;
	if (s->socket_path)
		unlink(s->socket_path);
	free(s->socket_path);
	s->socket_path = NULL;
	pl_closep(&s->lock_fd);
	s->lock_fd = -1;
}
