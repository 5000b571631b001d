/* daemon/sys/zsock.h - the two 0MQ sockets of a birth; zsock.c and zsource.c alone see <zmq.h>. */
#pragma once

#include "proto/err.h"

/*
 * One context and one socket, made after the fork, in the process that uses them. The dispatcher
 * binds a ROUTER, each worker connects a DEALER whose identity is "worker.generation"; endpoints
 * are abstract local sockets, so that nothing is left behind.
 */
struct pl_zsock {
	void *context;
	void *socket;
	uint64_t n_dropped; /* messages with a malformed identity or too many parts */
	char *aligned;      /* copy of a message that 0MQ left at an odd address */
	size_t aligned_room;
};

/* A received message: `data` is 8-byte aligned and valid until pl_zsock_message_close, which comes
 * before the next receive. */
struct pl_zmessage {
	uint64_t storage[8]; /* a zmq_msg_t */
	const void *data;
	size_t size;
	uint32_t worker;
	uint32_t generation;
	uint32_t pid; /* of the sender, as the kernel says; 0 when it could not be told */
};

int pl_zsock_bind(struct pl_zsock *z, const char *endpoint, struct pl_err *err) PL_MUST_CHECK;
int pl_zsock_connect(struct pl_zsock *z, const char *endpoint, uint32_t worker, uint32_t generation,
	struct pl_err *err) PL_MUST_CHECK;

/* Bounded: unsent messages are dropped. */
void pl_zsock_close(struct pl_zsock *z);

/* Dispatcher: to one worker. 0, -EAGAIN (its queue is full), -EHOSTUNREACH (it isn't connected),
 * -errno. Never blocks. */
int pl_zsock_send_to(struct pl_zsock *z, uint32_t worker, uint32_t generation, const void *bytes,
	size_t n) PL_MUST_CHECK;

/* Worker: to the dispatcher; blocks while its queue is full. */
int pl_zsock_send(struct pl_zsock *z, const void *bytes, size_t n) PL_MUST_CHECK;

/* The next message. blocks: waits for one; else -EAGAIN when there is none. Messages that aren't
 * well-formed are dropped and counted. */
int pl_zsock_receive(struct pl_zsock *z, struct pl_zmessage *m, bool blocks) PL_MUST_CHECK;
void pl_zsock_message_close(struct pl_zmessage *m);

/* Messages are waiting right now. */
bool pl_zsock_is_readable(struct pl_zsock *z);

/* The edge-triggered descriptor, for zsource.c alone. */
int pl_zsock_fd(struct pl_zsock *z);
