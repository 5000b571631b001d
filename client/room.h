/* client/room.h - what the files of the client library share; never installed. */
#pragma once

#include "client/pipeloader.h"
#include "client/tool.h"
#include "proto/base.h"
#include "proto/frame.h"
#include "proto/wire.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { PL_EXIT_FAILED = 1, PL_EXIT_USAGE = 64, PL_EXIT_NO_DAEMON = 69, PL_EXIT_CONFIG = 78 };

/* error.c: writes code (negative errno), exit status and text; error may be NULL. Returns code. */
int pl_error_set(struct pl_error *error, int code, int exit_status, const char *format, ...)
	PL_PRINTF(4, 5);
/* Takes over what a daemon's Error or Answer says. Returns the code, always negative. */
int pl_error_take(struct pl_error *error, int code, int exit_status, const char *text, size_t n);

/* clock.c: deadlines are milliseconds of CLOCK_MONOTONIC, -1 = never. */
int64_t pl_now_ms(void);
int64_t pl_deadline_after(int timeout_ms);
bool pl_deadline_is_over(int64_t deadline);
/* The earlier of two. */
int64_t pl_deadline_min(int64_t a, int64_t b);
/* Waits for `events` on fd (-1: only for the time): 0 = ready (also by hang-up), -ETIMEDOUT,
 * -errno. */
int pl_wait(int fd, short events, int64_t deadline);

/* place.c: where a pipeline's daemon is, and what the pipeline is called there. */
struct pl_place {
	bool is_job; /* a job daemon at its meeting point: it may be started, and must be ours */
	char socket[PATH_MAX];   /* as pl_frame_address takes it */
	char pipeline[PATH_MAX]; /* a name, or a file's real path */
	char **setting;          /* "name=value", sorted */
	size_t n_settings;
};

int pl_place_init(struct pl_place *place, const char *what, const struct pl_client_options *options,
	struct pl_error *error) PL_MUST_CHECK;
void pl_place_finish(struct pl_place *place);
/* True when `what` names a file and not a configured pipeline. */
bool pl_place_is_file(const char *what);
/* One attempt, never blocking: a connected socket, or -ECONNREFUSED, -ENOENT, -EAGAIN, -EPERM (not
 * ours), another -errno. */
int pl_place_connect(const struct pl_place *place) PL_MUST_CHECK;

/* launch.c: starts the job daemon of a place. PL_LAUNCH_LOST: somebody else has bound its name
 * meanwhile: join. */
enum { PL_LAUNCH_LOST = 1 };
int pl_launch(const struct pl_place *place, struct pl_error *error) PL_MUST_CHECK;

/* map.c: an arena mapped to read; counted, unmapped with its last holder. Any thread. */
struct pl_arena {
	atomic_int n_refs;
	const uint8_t *base;
	size_t bytes;
};

/* Takes fd. NULL with *error when the descriptor isn't a sealed memfd of at least that size. */
struct pl_arena *pl_arena_open(int fd, uint64_t bytes, struct pl_error *error);
struct pl_arena *pl_arena_acquire(struct pl_arena *arena);
void pl_arena_release(struct pl_arena *arena);
/* n bytes at offset, aligned; NULL when they are not inside. */
const void *pl_arena_at(const struct pl_arena *arena, uint64_t offset, uint64_t n, size_t align);

/* schema.c: the fields of a stream's batches, immutable once made. */
struct pl_schema {
	size_t n;
	struct pl_field *field;
	struct pl_wire_field *wire; /* holds the names */
};

int pl_schema_init(struct pl_schema *schema, const struct pl_wire_welcome *welcome) PL_MUST_CHECK;
void pl_schema_finish(struct pl_schema *schema);
/* NULL when it is the same, else the name of the first field that differs. */
const char *pl_schema_difference(
	const struct pl_schema *schema, const struct pl_wire_welcome *welcome);

/* link.c: what a handle shares with its batches; lives until the last of them is gone. */
struct pl_link {
	atomic_int n_refs;
	pid_t pid; /* of the opener: nobody else may touch the wire */
	struct pl_schema schema;
	pthread_mutex_t lock; /* all below; never held while something blocks */
	int fd;               /* -1: releases have nowhere to go */
	bool owns_fd; /* the handle was closed with batches out: the socket goes with the last */
	uint64_t connection; /* counts connections: a batch of an earlier one is released locally */
	struct pl_batch *pending; /* released, and the daemon does not know yet; in order */
	struct pl_batch *pending_last;
	int n_pending;
	struct pl_batch *idle;
	struct pl_wire wire;
	uint8_t bytes[PL_FRAME_MAX];
};

struct pl_link *pl_link_create(void);
void pl_link_release(struct pl_link *link);
bool pl_link_is_ours(const struct pl_link *link);
/* From here on releases go to fd (borrowed; -1: nowhere); what was pending for the last connection
 * is forgotten. */
void pl_link_attach(struct pl_link *link, int fd);
/* Takes the socket from a handle that closes: it stays open until the last batch was released, for
 * the daemon may use a batch's memory again once its holder's end is closed. */
void pl_link_keep(struct pl_link *link, int fd);
/* A batch object, its `link` and `connection` set, holding the link. NULL: no memory. */
struct pl_batch *pl_link_batch(struct pl_link *link);
/* Takes a batch back and tells the daemon, unless is_told is already true or its connection is
 * gone. */
void pl_link_return(struct pl_link *link, struct pl_batch *batch, bool is_told);
/* Sends Next with `credits` and all releases that fit. 0, -EAGAIN (nothing was sent), -errno. */
int pl_link_ask(struct pl_link *link, uint32_t credits) PL_MUST_CHECK;

/* batch.c */
struct pl_batch {
	struct pl_link *link;
	struct pl_arena *arena;
	struct pl_batch *next;
	uint64_t connection;
	struct pl_wire_release release;
	uint64_t size;
	uint64_t bad;
	bool is_last;
	struct pl_wire_position after;
	const uint64_t *indices;
	const uint32_t *generation; /* NULL: not told */
	struct {
		struct pl_tensor tensor;
		const int64_t *offsets;
	} view[]; /* one a field */
};

/* Fills a batch from its message, every offset checked against the arena. -EPROTO with *error. */
int pl_batch_fill(struct pl_batch *batch, const struct pl_wire_batch *from,
	struct pl_error *error) PL_MUST_CHECK;

/* trace.c: lines in order; beyond PL_TRACE_MAX the oldest are dropped. */
#define PL_TRACE_MAX 65536
struct pl_trace_line;
struct pl_trace {
	struct pl_trace_line *first;
	struct pl_trace_line *last;
	struct pl_trace_line *shown;
	size_t n;
};
int pl_trace_push(struct pl_trace *trace, const char *text) PL_MUST_CHECK;
const char *pl_trace_pop(struct pl_trace *trace);
void pl_trace_finish(struct pl_trace *trace);

/* position.c: where the stream is, in each mode (SEMANTICS B3, B4). */
struct pl_cursor {
	struct pl_token token;       /* behind the last batch handed out */
	struct pl_wire_position due; /* behind the last batch received */
	uint32_t rank;
	bool has_moved; /* a batch was handed out: `opened` is history */
	uint8_t opened[PL_WIRE_TOKEN_MAX];
	size_t opened_bytes;
};
/* Where Welcome says that this stream starts. -EPROTO, with text, when its token is none. */
int pl_cursor_start(struct pl_cursor *cursor, const struct pl_wire_welcome *welcome,
	struct pl_error *error) PL_MUST_CHECK;
/* Is this the batch that is due? Moves `due` behind it, or -EPROTO. */
int pl_cursor_expect(struct pl_cursor *cursor, const struct pl_wire_batch *batch,
	struct pl_error *error) PL_MUST_CHECK;
/* A batch was handed out. */
void pl_cursor_hand(struct pl_cursor *cursor, const struct pl_batch *batch);
size_t pl_cursor_token(const struct pl_cursor *cursor, uint8_t out[PL_WIRE_TOKEN_MAX]);

enum pl_client_state {
	PL_STATE_LOST,    /* no connection; the next attempt is due at retry_at */
	PL_STATE_OPENING, /* connected, Open sent, Welcome not here yet */
	PL_STATE_OPEN,
};

struct pl_client {
	struct pl_link *link;
	struct pl_arena *arena;
	struct pl_place place;
	struct pl_wire_open open; /* sent again, with the current token, at each connection */
	uint32_t credits_wanted;  /* the caller's; UINT32_MAX = by the pipeline */
	int reconnect_ms;

	enum pl_client_state state;
	int fd;           /* kept when it hung up, until there is a new one */
	bool is_welcomed; /* at least once */
	int64_t retry_at;
	int64_t give_up_at; /* -1: not before the caller's deadline */
	int backoff_ms;
	int n_starts;  /* of job daemons since the last Welcome */
	int n_hangups; /* before Welcome */

	uint32_t credits_max;
	uint32_t n_credits; /* asked for and not here yet */
	struct pl_cursor cursor;
	struct pl_batch *ready; /* received and not handed out, in order */
	struct pl_batch **ready_end;
	struct pl_trace trace;
	int final; /* 0, PL_END or a negative errno said in `failure`; comes after `ready` */
	struct pl_error failure;
	int n_whys; /* questions not yet answered */
	int n_describes;
	bool has_reason;
	char reason[PL_WIRE_TEXT_MAX];
	char **names; /* where describe wants its answer */
	size_t n_names;

	struct pl_wire_welcome facts; /* the last one */
	char *class_text;
	const char **class_name;
	uint32_t n_classes;
	struct pl_wire wire;
	uint8_t bytes[PL_FRAME_MAX];
};

/* client.c: the defaults with what the caller set; clears *error. */
int pl_options_take(struct pl_client_options *out, const struct pl_client_options *given,
	struct pl_error *error) PL_MUST_CHECK;
/*
 * One thing at a time: connects, or asks for batches (wants_batch) and takes one datagram, or waits
 * for one. 0: look at `ready` and `final`; -ETIMEDOUT.
 */
int pl_client_advance(struct pl_client *client, bool wants_batch, int64_t deadline) PL_MUST_CHECK;

/* connect.c: goes on until the stream is open. 0, -ETIMEDOUT (call again to go on), or a final
 * error. */
int pl_client_connect(
	struct pl_client *client, int64_t deadline, struct pl_error *error) PL_MUST_CHECK;
/* Batches that were received and not handed out go back. */
void pl_client_forget_ready(struct pl_client *client);
/* reconnect.c: the connection is gone: what was received and not handed out is forgotten; the next
 * attempt is due at once. */
void pl_client_lose(struct pl_client *client);
/* An attempt failed: when is the next? */
void pl_client_back_off(struct pl_client *client);
/* welcome.c: Welcome is here, with the arena's descriptor (taken). */
int pl_client_welcome(struct pl_client *client, const struct pl_wire_welcome *welcome, int fd,
	struct pl_error *error) PL_MUST_CHECK;

/* stream.c: takes one datagram and does what it says; what is final goes to client->final. 0,
 * -EAGAIN, -ECONNRESET (gone). */
int pl_client_receive(struct pl_client *client) PL_MUST_CHECK;
/* Packs client->wire and sends it; waits for room until the deadline. */
int pl_client_send(struct pl_client *client, int64_t deadline) PL_MUST_CHECK;
/* Packs `wire` and sends it on a non-blocking socket, waiting until the deadline. */
int pl_wire_send(int fd, const struct pl_wire *wire, void *bytes, int64_t deadline) PL_MUST_CHECK;
