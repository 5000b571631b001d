/* daemon/pipeline.h - a configured name, and the instances that serve it. */
#pragma once

#include "daemon/instance.h"
#include "daemon/visitor.h"

struct pl_pipeline {
	struct pl_pipeline *next;
	struct pl_supervisor *supervisor;
	char name[PL_NAME_MAX]; /* the plan's; before one is known, the file's */
	char *file;
	struct pl_instance *now;       /* serves new opens */
	struct pl_instance *candidate; /* a reload's: takes its place when it is good */
	struct pl_instance *retired;   /* they serve their last streams */
	char *refused;                 /* errors of a file that a reload did not take; NULL */
	uint64_t n_births;
	struct pl_retired arenas; /* of births that are over */
	bool is_asked_anew;       /* job: who opens waits for the file to be read again */
	bool is_gone;             /* its file is no more: no new opens */
};

/* Makes a pipeline of the file with an instance to be probed, and puts it in the supervisor's list.
 * NULL: out of memory. */
struct pl_pipeline *pl_pipeline_create(struct pl_supervisor *s, const char *file);
void pl_pipeline_destroy(struct pl_pipeline *p);

/* The one of that name that new opens may use; in a job daemon the only one, whatever the name. */
struct pl_pipeline *pl_pipeline_find(struct pl_supervisor *s, const char *name);
struct pl_pipeline *pl_pipeline_of_file(struct pl_supervisor *s, const char *file);

/* This peer may open it, as far as is known: before its file was read, root and the daemon's own
 * user. */
bool pl_pipeline_allows(const struct pl_pipeline *p, const struct pl_peer *peer);

/* Tries the file again: a candidate is probed. */
void pl_pipeline_renew(struct pl_pipeline *p);

/*
 * Somebody opens it. In a job daemon whose last client has left, or whose file was broken, the file
 * is read again first, for whoever edits a file and runs it again means the new one; an unchanged
 * plan goes on with its listing and its processes.
 */
void pl_pipeline_opened(struct pl_pipeline *p);

/* No new opens; it is forgotten when its last stream has ended. */
void pl_pipeline_remove(struct pl_pipeline *p);

/* What its instances tell it: the probe, the listing of `i` came out well or badly (state says
 * which). */
void pl_pipeline_probed(struct pl_pipeline *p, struct pl_instance *i);
void pl_pipeline_listed(struct pl_pipeline *p, struct pl_instance *i);

/* Everybody who waits for it now is told this error; it stays as it is. */
void pl_pipeline_refuse(struct pl_pipeline *p, int code, const char *text);

/* A connection that waits for it: handed over, refused, or left to wait while the pipeline is made
 * to run. */
void pl_pipeline_serve(struct pl_pipeline *p, struct pl_visitor *v);

/* Frees instances that are over. True: the pipeline itself is. */
bool pl_pipeline_settle(struct pl_pipeline *p);

/* Something of it is still being probed. */
bool pl_pipeline_is_probing(const struct pl_pipeline *p);
