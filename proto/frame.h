/* proto/frame.h - one datagram with at most one descriptor on a local SEQPACKET socket. */
#pragma once

#include "proto/base.h"

/* No datagram is longer, either way; a longer one is a protocol error of its sender. */
#define PL_FRAME_MAX 65536

/* Positive conditions of pl_frame_receive. */
enum {
	PL_FRAME_END = 1,     /* the peer closed its end (or died) */
	PL_FRAME_REFUSED = 2, /* too long, truncated control data, or a descriptor where none is
				 allowed: drop this peer */
};

/*
 * Sends n bytes as one datagram, with descriptor fd (borrowed) unless it is -1. Never raises
 * SIGPIPE; interrupted calls are repeated. 0, or -EAGAIN (a non-blocking socket's buffer is full),
 * -EPIPE or -ECONNRESET (peer gone), another -errno.
 */
int pl_frame_send(int socket, const void *bytes, size_t n, int fd) PL_MUST_CHECK;

/*
 * Receives one datagram into bytes (room for PL_FRAME_MAX) and sets *n. fd NULL: descriptors are
 * not allowed, any that come are closed and the frame is refused. fd given: *fd is the descriptor
 * that came (CLOEXEC; the caller closes it) or -1; more than one, or MSG_CTRUNC, is refused. 0,
 * PL_FRAME_END, PL_FRAME_REFUSED, or -EAGAIN, -ECONNRESET, another -errno.
 */
int pl_frame_receive(int socket, void *bytes, size_t *n, int *fd) PL_MUST_CHECK;

/* The same without taking the datagram off the queue (MSG_PEEK; never takes descriptors). */
int pl_frame_peek(int socket, void *bytes, size_t *n) PL_MUST_CHECK;

/* Address of the abstract socket `name` (without the leading NUL), or of a path when name begins
 * with '/'. -ENAMETOOLONG. */
struct sockaddr_un;
int pl_frame_address(struct sockaddr_un *address, unsigned *length, const char *name) PL_MUST_CHECK;
