/* daemon/instance.h - one plan and listing of a pipeline, and what is alive of it. */
#pragma once

#include "daemon/team.h"
#include "daemon/task.h"

/*
 * PROBING -> IDLE -> LISTING -> BORN -> RUNNING -> STOPPING -> IDLE. FAILED from everywhere: then
 * `reason` is what openers are told, until a reload makes another instance. Plan and listing never
 * change, and outlive births.
 */
enum pl_instance_state {
	PL_INSTANCE_PROBING, /* also: waits for its turn to be probed */
	PL_INSTANCE_IDLE,
	PL_INSTANCE_LISTING,
	PL_INSTANCE_BORN, /* dispatcher forked; or a birth that died is being reaped and made anew
			   */
	PL_INSTANCE_RUNNING,
	PL_INSTANCE_STOPPING,
	PL_INSTANCE_FAILED,
};

enum { PL_BIRTHS_MAX = 5 }; /* in a row without a batch handed out */

struct pl_instance {
	struct pl_instance *next; /* among a pipeline's retired ones */
	struct pl_pipeline *pipeline;
	struct pl_supervisor *supervisor;
	enum pl_instance_state state;
	struct pl_plan_card *card; /* NULL until probed */
	struct pl_allow
		allow; /* resolved by the probe, for no name service may hang the supervisor */
	int plan_fd;
	int listing_fd;
	char *reason; /* FAILED */
	int exit_status;
	int n_barren; /* births in a row without a batch handed out */
	struct pl_task task;
	struct pl_team team;
	struct sd_event_source *idle; /* runs while nobody is a client */
	struct sd_event_source *rebirth;
	uint64_t idle_ping;  /* serial of the ping that confirms idleness; 0: none is out */
	uint64_t idle_given; /* team.n_given then */
	bool is_idle;        /* confirmed: no client, none on the way */
	bool wants_birth;    /* is listed in order to run */
	bool is_retired;
	bool is_over; /* retired and nothing left alive: may be freed */
};

const char *pl_instance_state_name(enum pl_instance_state state);

/* PROBING, not yet started. NULL: out of memory. */
struct pl_instance *pl_instance_create(struct pl_pipeline *pipeline);
void pl_instance_destroy(struct pl_instance *i);

/* Starts the probe; when it is through the pipeline is told (pl_pipeline_probed). */
void pl_instance_probe(struct pl_instance *i);

/* Somebody wants it to run: lists it and bears it if it is idle. */
void pl_instance_want(struct pl_instance *i);

/* Lists it without a birth, so that a reload can tell whether it is any good. */
void pl_instance_list(struct pl_instance *i);

/* No new opens; ends after its last stream, or at once when it has none. */
void pl_instance_retire(struct pl_instance *i);

/* Ends everything of it. */
void pl_instance_stop(struct pl_instance *i);

/* FAILED, with a reason (copied) that openers are told. */
void pl_instance_fail(struct pl_instance *i, int exit_status, const char *format, ...)
	PL_PRINTF(3, 4);

/* Asks for a proof that nobody is a client or on the way to become one; `is_idle` then says so
 * after a turn. */
void pl_instance_confirm_idle(struct pl_instance *i);

/* What its team tells it. */
void pl_instance_ready(struct pl_instance *i);
void pl_instance_clients(struct pl_instance *i);
void pl_instance_ponged(struct pl_instance *i);

/* At a turn's end: what follows when a team is wholly reaped, or when nobody uses it any more. */
void pl_instance_settle(struct pl_instance *i);
