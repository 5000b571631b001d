/* daemon/birth.h - what a child process is born with, and the four roles it can take. */
#pragma once

#include "daemon/plan/plan.h"
#include "daemon/serve/progress.h"

/*
 * One life of an instance's dispatcher, workers and arena (SEMANTICS C1). Filled by the supervisor
 * before the fork; children read it as it was. Descriptors are open in the child and listed in its
 * exact set: plan_fd, listing_fd, arena_fd (dispatcher only, to give to clients), control_fd
 * (dispatcher only).
 */
struct pl_birth {
	char name[PL_NAME_MAX];
	uint64_t number;   /* 1, 2, ... */
	char endpoint[64]; /* 0MQ: "ipc://@pipeloader-<32 hex digits>" */
	void *arena;       /* the inherited writable mapping */
	uint64_t arena_bytes;
	int arena_fd;
	int plan_fd;
	int listing_fd;
	int control_fd;
	struct pl_progress *progress;
	uint32_t supervisor_pid;
	uint32_t n_workers;
};

/*
 * Arena, progress page, endpoint and what a plan says of a new birth, in the supervisor; number,
 * name and descriptors of plan and listing are the caller's to set. The arena is mapped once and
 * then sealed, so that no other writable mapping of it can ever be made, and hidden from children
 * until pl_birth_show. 0 or -errno with err; finish frees it, also half made.
 */
int pl_birth_init(
	struct pl_birth *birth, const struct pl_plan_card *card, struct pl_err *err) PL_MUST_CHECK;
void pl_birth_finish(struct pl_birth *birth);

/* Children forked between show and hide inherit arena and progress page; others have no trace of
 * them. 0 or -errno. */
int pl_birth_show(const struct pl_birth *birth) PL_MUST_CHECK;
void pl_birth_hide(const struct pl_birth *birth);

/*
 * Each runs to its end and returns the process's exit status; the caller _exits with it. They are
 * called after the fork's common part: death signal set, descriptors closed, signals reset, process
 * named.
 */
int pl_dispatcher_run(const struct pl_birth *birth);
int pl_worker_run(const struct pl_birth *birth, uint32_t worker, uint32_t generation);

/*
 * Parses, checks and types the file; answers on the socket `out` as daemon/task.h says, with the
 * sealed plan's descriptor when there is one.
 */
struct pl_probe_order {
	const char *path;
	const struct pl_setting *settings;
	int n_settings;
	int out;
};
int pl_probe_run(const struct pl_probe_order *order);

/* Lists the source of the plan; answers in the same way with the sealed listing. */
struct pl_lister_order {
	int plan_fd;
	int out;
};
int pl_lister_run(const struct pl_lister_order *order);
