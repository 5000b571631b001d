/* daemon/supervisor.h - the process that bears all others: one thread, no 0MQ, no plugin, no data
 * file. */
#pragma once

#include "daemon/birth.h"

#include <sys/types.h>

/*
 * HOW THE SUPERVISOR IS BUILT
 *
 *	supervisor.c  the loop, the signals, the end; the only fork of the house
 *	listen.c      accepts connections, reads their first datagram, finds their pipeline
 *	visitor.c     a connection that no dispatcher has yet: unopened, waiting, being answered
 *	pipeline.c    a configured name: its instance now, the one a reload tries, the ones that
 *serve their last streams instance.c    one plan and listing: probed, listed, born, running,
 *stopping, failed team.c        the dispatcher and the workers of one birth; reaping, replacing,
 *giving up task.c        a short-lived child and its answer: probe, lister, graph ask.c questions
 *to the supervisor itself
 *
 * Every callback only changes states and marks what has ended. What follows from the states
 *together (freeing what has ended, handing waiting connections over, lingering, the daemon's own
 *end) is done in one place after each turn: pl_supervisor_settle.
 */

struct sd_event;
struct sd_event_source;
struct pl_graph;
struct pl_pipeline;
struct pl_visitor;

enum {
	PL_NOT_OPENED_MAX = 64, /* connections of one uid whose first datagram hasn't come */
	PL_WAITING_MAX = 1024,  /* connections of one uid that wait for a pipeline or an answer */
	PL_PROBES_MAX = 4,      /* at once */
	PL_GRAPHS_MAX = 8,      /* at once */
	PL_FIRST_DATAGRAM_MS = 5000,
	PL_STOP_MS = 5000,  /* from a friendly stop to SIGKILL */
	PL_REAP_MS = 10000, /* from SIGKILL to giving up */
};

/* What the daemon was asked to be. Borrowed for as long as it runs. */
struct pl_supervisor_options {
	bool is_job; /* one pipeline file, any name, ends `linger` after its last client */
	int n_paths;
	const char *const *paths; /* pipeline files, or folders of them */
	int n_settings;
	const struct pl_setting *settings; /* job: --set */
	const char *config;                /* the daemon's own file, or NULL */
	struct pl_param_texts plugins;     /* loaded by every child, never here */
	const char *socket; /* path or "@name"; NULL: listening descriptor handed in, else the
			       default path */
};

struct pl_supervisor {
	const struct pl_supervisor_options *options;
	struct sd_event *loop;
	struct sd_event_source *watchdog;
	struct sd_event_source *linger;
	struct sd_event_source *last_stop; /* SIGKILL for what a stop left */
	struct pl_pipeline *pipelines;
	struct pl_visitor *visitors; /* in order of arrival */
	int listen_fd;               /* -1: accepts nobody any more */
	int lock_fd;                 /* the folder of our own socket, locked; -1: none */
	char *socket_path;           /* to unlink at the end; NULL: none */
	struct sd_event_source *accepting;
	struct sd_event_source *shortage; /* of descriptors: accepting pauses */
	uint64_t started_ns;
	uint64_t probe_timeout_ms;
	uint64_t list_timeout_ms;
	uint64_t linger_ms;
	uint64_t first_linger_ms; /* until the first client of a job daemon has come */
	uint64_t memory_max;      /* bytes of all arenas together; 0: no limit */
	uint64_t watchdog_us;
	uint32_t pid;
	uint32_t uid;
	uint64_t n_visitors; /* ever */
	struct pl_graph *graphs;
	int n_children;  /* forked and not yet reaped */
	bool is_checked; /* every file was probed once: names are known */
	bool is_reloading;
	bool was_visited;  /* job: a client came */
	bool has_lingered; /* job: the time is over, the proof that nobody is left is on its way */
	bool is_stopping;
	char status[96];
};

/* Runs until the daemon ends; the process's exit status: 0, 1, 64 (nothing to listen on) or 78 (its
 * own configuration). */
int pl_supervisor_run(const struct pl_supervisor_options *options);

/* Stops every pipeline, then the daemon. */
void pl_supervisor_stop(struct pl_supervisor *s);

/* Reads the folders again and probes every file; the end of it is told by READY=1 and to those who
 * asked for it. */
void pl_supervisor_reload(struct pl_supervisor *s);

/* Bytes of all arenas of living births. */
uint64_t pl_supervisor_arena_bytes(const struct pl_supervisor *s);

/* A child as the fork needs it. */
struct pl_child {
	const char *name; /* what ps shows, at most 15 bytes: "pl:disp photos" */
	const char *role; /* before its log lines: "dispatcher photos" */
	int nice;
	int n_keep;
	int *keep[6]; /* the only descriptors that stay, besides stdio and the log's; the child
			 finds its new numbers here */
	const struct pl_birth *birth; /* whose arena and progress page it inherits; NULL: none */
	int (*run)(void *context);
	/* Instead of run when it can't begin, and why; its result is the exit status. NULL: the log
	 * is told. */
	int (*refuse)(void *context, const char *text);
	void *context;
};

/*
 * Forks. The child takes its first steps (daemon/born.h), runs `run` and exits with its result; it
 * never returns from here. The parent gets the pid, or -errno.
 */
pid_t pl_supervisor_fork(struct pl_supervisor *s, const struct pl_child *child);

/* Kills a child that can't be watched, and reaps it. */
void pl_supervisor_bury(struct pl_supervisor *s, pid_t pid);

/* A one-shot timer, replacing *source; its callback is called once with context. 0 or -errno. */
int pl_supervisor_after(struct pl_supervisor *s, struct sd_event_source **source, uint64_t ms,
	int (*callback)(struct sd_event_source *, uint64_t, void *), void *context);

/* Takes a source out of the loop and forgets it; NULL inside is fine. */
void pl_supervisor_drop(struct sd_event_source **source);
