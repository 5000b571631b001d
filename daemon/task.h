/* daemon/task.h - a short-lived child and its answer: the probe, the lister, a graph. */
#pragma once

#include "daemon/allow.h"
#include "daemon/supervisor.h"

#define PL_ANSWER_MAX (256u << 10)

/*
 * How a task answers: one datagram with this head, and with it the sealed result's descriptor if
 * there is one; then its text in datagrams of at most 32 KiB. The text is what the file's reader
 * should see: every error, or the warnings of a file that is good.
 */
struct pl_probe_result {
	int32_t exit_status;   /* 0, 1, 69 or 78 */
	uint32_t n_text;       /* bytes that follow; longer texts were cut */
	struct pl_allow allow; /* probe: `serve: allow`, resolved */
};

/* Sends an answer through `out`, blocking; head->n_text is set here. Borrows fd (-1: none). For the
 * child. 0 or -errno. */
int pl_task_answer(int out, struct pl_probe_result *head, const char *text, int fd) PL_MUST_CHECK;

/* A task as the supervisor sees it. Zero is an idle one. */
struct pl_task {
	struct pl_supervisor *supervisor;
	pid_t pid;        /* 0: none runs */
	const char *what; /* "probe", "lister": static */
	int socket;
	struct sd_event_source *child;
	struct sd_event_source *io;
	struct sd_event_source *deadline;
	uint64_t timeout_ms;
	uint64_t started_ns;
	bool is_late;
	bool has_head;
	struct pl_probe_result head;
	char *text; /* NUL-terminated */
	size_t n_text;
	int fd; /* -1: none came */
	void (*done)(struct pl_task *task, void *context);
	void *context;
};

/*
 * Forks `child` as this task; *out_fd is where the child finds the socket to answer on (it must be
 * in child->keep). When the child has exited and its answer was read, or the answer is broken, or
 * the time was over, `done` is called from the loop: exit_status, text and fd then always say what
 * came of it. `done` may steal text and fd; the rest is freed after it. 0 or -errno.
 */
int pl_task_start(struct pl_task *task, const struct pl_child *child, int *out_fd) PL_MUST_CHECK;

/* Kills and forgets it without a call of `done`; it is reaped by the loop later. */
void pl_task_cancel(struct pl_task *task);
