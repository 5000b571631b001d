/* daemon/visitor.h - a connection that no dispatcher has: new, waiting for its pipeline, or being
 * answered. */
#pragma once

#include "daemon/allow.h"
#include "daemon/supervisor.h"

enum pl_visitor_state {
	PL_VISITOR_NEW,     /* its first datagram hasn't come */
	PL_VISITOR_WAITS,   /* for its pipeline to run */
	PL_VISITOR_RELOADS, /* for a reload's end */
	PL_VISITOR_ASKED,   /* for a child to draw its graph */
	PL_VISITOR_HOLDS, /* keeps a job daemon from lingering, for as long as it stays connected */
	PL_VISITOR_ANSWERED, /* what it was told is on its way */
	PL_VISITOR_GONE,     /* freed at the turn's end */
};

struct pl_visitor {
	struct pl_visitor *next;
	struct pl_supervisor *supervisor;
	enum pl_visitor_state state;
	struct pl_pipeline *pipeline; /* WAITS */
	uint64_t number;              /* no two are alike */
	int fd;
	struct pl_peer peer;
	struct sd_event_source *io;
	struct sd_event_source *deadline;
	char *answer; /* ANSWERED: the rest of it */
	size_t n_answer;
	size_t n_sent;
	int code;
	int exit_status;
};

/* Takes fd; adds the visitor to the supervisor's list and hears it as soon as it speaks. NULL: fd
 * is closed. */
struct pl_visitor *pl_visitor_create(struct pl_supervisor *s, int fd);

/* Sends one Error datagram and says goodbye. text may have several lines. */
void pl_visitor_error(struct pl_visitor *v, int code, int exit_status, const char *text);

/* Sends text as Answer datagrams, as fast as they are read, and says goodbye. Takes text
 * (malloc'ed; NULL: out of memory). */
void pl_visitor_answer(struct pl_visitor *v, int code, int exit_status, char *text);

/* It has opened: the deadline is off, it waits for the pipeline. */
void pl_visitor_wait(struct pl_visitor *v, struct pl_pipeline *p);

/* It stays, without a deadline, in this state. */
void pl_visitor_keep(struct pl_visitor *v, enum pl_visitor_state state);

/* Closes it; freed at the turn's end. */
void pl_visitor_dismiss(struct pl_visitor *v);

/* Its descriptor was given to somebody else: nothing is said, nothing shut down. */
void pl_visitor_part(struct pl_visitor *v);

/* Frees those who are gone. True: some were. */
bool pl_visitor_sweep(struct pl_supervisor *s);
