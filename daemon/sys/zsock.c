/* daemon/sys/zsock.c - the two 0MQ sockets of a birth. */
#include "daemon/sys/zsock.h"

#include <errno.h>
#include <stdio.h>
#include <zmq.h>

#define QUEUE_MAX    4096       /* credit bounds what is under way; this only has to be more */
#define MESSAGE_MAX  (64 << 20) /* results with texts; far above what a shard can say */
#define IDENTITY_MAX 32

_Static_assert(sizeof(zmq_msg_t) <= sizeof(((struct pl_zmessage *)0)->storage), "zmq_msg_t fits");

static zmq_msg_t *message_of(struct pl_zmessage *m)
{
	return (zmq_msg_t *)(void *)m->storage;
}

static int open_socket(struct pl_zsock *z, int type, struct pl_err *err)
{
	int linger = 0, queue = QUEUE_MAX;
	int64_t largest = MESSAGE_MAX;

	memset(z, 0, sizeof(*z));
	z->context = zmq_ctx_new();
	if (!z->context)
		return pl_err_set(err, -errno, "0MQ: no context: %s", zmq_strerror(errno));
	z->socket = zmq_socket(z->context, type);
	if (!z->socket || zmq_setsockopt(z->socket, ZMQ_LINGER, &linger, sizeof(linger)) ||
		zmq_setsockopt(z->socket, ZMQ_SNDHWM, &queue, sizeof(queue)) ||
		zmq_setsockopt(z->socket, ZMQ_RCVHWM, &queue, sizeof(queue)) ||
		zmq_setsockopt(z->socket, ZMQ_MAXMSGSIZE, &largest, sizeof(largest)))
		return pl_err_set(err, -errno, "0MQ: no socket: %s", zmq_strerror(errno));
	return 0;
}

int pl_zsock_bind(struct pl_zsock *z, const char *endpoint, struct pl_err *err)
{
	int yes = 1, r = open_socket(z, ZMQ_ROUTER, err);

	if (r == 0 && (zmq_setsockopt(z->socket, ZMQ_ROUTER_MANDATORY, &yes, sizeof(yes)) ||
			      zmq_bind(z->socket, endpoint)))
		r = pl_err_set(
			err, -errno, "0MQ: can't bind %s: %s", endpoint, zmq_strerror(errno));
	if (r < 0)
		pl_zsock_close(z);
	return r;
}

int pl_zsock_connect(struct pl_zsock *z, const char *endpoint, uint32_t worker, uint32_t generation,
	struct pl_err *err)
{
	char identity[IDENTITY_MAX];
	int r = open_socket(z, ZMQ_DEALER, err);
	int n = snprintf(identity, sizeof(identity), "%u.%u", worker, generation);

	if (r == 0 && (zmq_setsockopt(z->socket, ZMQ_ROUTING_ID, identity, (size_t)n) ||
			      zmq_connect(z->socket, endpoint)))
		r = pl_err_set(
			err, -errno, "0MQ: can't connect %s: %s", endpoint, zmq_strerror(errno));
	if (r < 0)
		pl_zsock_close(z);
	return r;
}

void pl_zsock_close(struct pl_zsock *z)
{
	if (z->socket)
		zmq_close(z->socket);
	if (z->context)
		zmq_ctx_term(z->context);
	free(z->aligned);
	z->socket = NULL;
	z->context = NULL;
	z->aligned = NULL;
	z->aligned_room = 0;
}

int pl_zsock_send_to(
	struct pl_zsock *z, uint32_t worker, uint32_t generation, const void *bytes, size_t n)
{
	char identity[IDENTITY_MAX];
	int length = snprintf(identity, sizeof(identity), "%u.%u", worker, generation);

	if (zmq_send(z->socket, identity, (size_t)length, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
		return -errno;
	return zmq_send(z->socket, bytes, n, ZMQ_DONTWAIT) < 0 ? -errno : 0;
}

int pl_zsock_send(struct pl_zsock *z, const void *bytes, size_t n)
{
	while (zmq_send(z->socket, bytes, n, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* The pid at the end of "...:uid:gid:pid", which libzmq reads from SO_PEERCRED of the accepted
 * socket. */
static uint32_t sender_pid(zmq_msg_t *m)
{
	const char *address = zmq_msg_gets(m, "Peer-Address");
	const char *colon = address ? strrchr(address, ':') : NULL;

	return colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

static bool parse_identity(const void *bytes, size_t n, struct pl_zmessage *m)
{
	char text[IDENTITY_MAX], end;

	if (n >= sizeof(text))
		return false;
	memcpy(text, bytes, n);
	text[n] = '\0';
	return sscanf(text, "%9u.%9u%c", &m->worker, &m->generation, &end) == 2;
}

/* One frame into *m; *more tells whether another belongs to it. */
static int receive_frame(struct pl_zsock *z, zmq_msg_t *m, int flags, bool *more)
{
	zmq_msg_init(m);
	while (zmq_msg_recv(m, z->socket, flags) < 0) {
		if (errno == EINTR)
			continue;
		return -errno;
	}
	*more = zmq_msg_more(m);
	return 0;
}

/* Takes the frames that are left of a malformed message. */
static void drop_rest(struct pl_zsock *z, bool more)
{
	zmq_msg_t rest;

	z->n_dropped++;
	while (more && receive_frame(z, &rest, 0, &more) == 0)
		zmq_msg_close(&rest);
}

static bool is_router(struct pl_zsock *z)
{
	int type = 0;
	size_t n = sizeof(type);

	return zmq_getsockopt(z->socket, ZMQ_TYPE, &type, &n) == 0 && type == ZMQ_ROUTER;
}

/* Small messages lie inside larger buffers of 0MQ's, at any address; structs need theirs. */
static int align(struct pl_zsock *z, struct pl_zmessage *m)
{
	if ((uintptr_t)m->data % sizeof(uint64_t) == 0)
		return 0;
	if (m->size > z->aligned_room) {
		char *more = realloc(z->aligned, m->size * 2);

		if (!more)
			return -ENOMEM;
		z->aligned = more;
		z->aligned_room = m->size * 2;
	}
	memcpy(z->aligned, m->data, m->size);
	m->data = z->aligned;
	return 0;
}

int pl_zsock_receive(struct pl_zsock *z, struct pl_zmessage *m, bool blocks)
{
	int flags = blocks ? 0 : ZMQ_DONTWAIT, r;
	bool has_identity = is_router(z), more;

	for (;;) {
		zmq_msg_t first;

		m->worker = m->generation = m->pid = 0;
		if (has_identity) {
			r = receive_frame(z, &first, flags, &more);
			if (r < 0)
				return r;
			if (!more ||
				!parse_identity(zmq_msg_data(&first), zmq_msg_size(&first), m)) {
				drop_rest(z, more);
				zmq_msg_close(&first);
				continue;
			}
			zmq_msg_close(&first);
		}
		r = receive_frame(z, message_of(m), flags, &more);
		if (r < 0)
			return r;
		if (more) {
			zmq_msg_close(message_of(m));
			drop_rest(z, more);
			continue;
		}
		m->data = zmq_msg_data(message_of(m));
		m->size = zmq_msg_size(message_of(m));
		if (has_identity)
			m->pid = sender_pid(message_of(m));
		r = align(z, m);
		if (r < 0)
			zmq_msg_close(message_of(m));
		return r;
	}
}

void pl_zsock_message_close(struct pl_zmessage *m)
{
	zmq_msg_close(message_of(m));
}

bool pl_zsock_is_readable(struct pl_zsock *z)
{
	int events = 0;
	size_t n = sizeof(events);

	return zmq_getsockopt(z->socket, ZMQ_EVENTS, &events, &n) == 0 && (events & ZMQ_POLLIN);
}

int pl_zsock_fd(struct pl_zsock *z)
{
	int fd = -1;
	size_t n = sizeof(fd);

	return zmq_getsockopt(z->socket, ZMQ_FD, &fd, &n) == 0 ? fd : -1;
}
