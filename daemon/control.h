/* daemon/control.h - what supervisor and dispatcher tell each other over their own socket pair. */
#pragma once

#include "proto/base.h"

enum pl_control_kind {
	/* to the dispatcher */
	PL_CONTROL_CLIENT =
		1, /* fd: a connected client whose Open is still queued; uid, pid are the peer's */
	PL_CONTROL_BORN,   /* worker, generation, pid: forked */
	PL_CONTROL_REAPED, /* worker, generation, pid, status (as of waitpid), shard, record: gone
			      for sure, writes no more */
	PL_CONTROL_PING,   /* serial: answer with PONG */
	PL_CONTROL_STOP,   /* end streams with an error text, then exit */
	PL_CONTROL_RENEW,  /* another instance serves new opens: exit after the last stream's end */
	/* to the supervisor */
	PL_CONTROL_HELLO = 32, /* the dispatcher listens; workers may be born */
	PL_CONTROL_READY,      /* first worker's hello arrived */
	PL_CONTROL_PONG,       /* serial */
	PL_CONTROL_KILL,       /* worker, generation: it missed its sample's deadline: SIGKILL it */
	PL_CONTROL_CLIENTS,    /* serial: number of clients now (after each change) */
	PL_CONTROL_HANDED,     /* the first batch of this birth was handed out */
	PL_CONTROL_FAILED,     /* text: this birth can't go on; status 1 follows */
};

/* One datagram on a SEQPACKET pair; at most one descriptor travels with it. */
struct pl_control {
	enum pl_control_kind kind;
	uint32_t worker;
	uint32_t generation;
	uint32_t pid;
	uint32_t uid;
	int32_t status;
	uint64_t serial;
	uint64_t shard; /* REAPED: what the worker had in hand (PL_PROGRESS_IDLE: nothing), read
			   before it was reborn */
	uint64_t record;
	char text[512];
};

/* 0 or -errno as pl_frame_send; never blocks. */
int pl_control_send(int socket, const struct pl_control *c, int fd) PL_MUST_CHECK;

/* 0, PL_FRAME_END, or -errno (-EAGAIN: nothing there). *fd is -1 or the caller's to close. */
int pl_control_receive(int socket, struct pl_control *c, int *fd) PL_MUST_CHECK;
