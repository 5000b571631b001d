/* daemon/dispatcher.h - what the dispatcher holds, for its two files: the loop, and the clients. */
#pragma once

#include "daemon/birth.h"
#include "daemon/control.h"
#include "daemon/flow/flow.h"
#include "daemon/sys/zsource.h"

struct pl_dispatcher {
	const struct pl_birth *birth;
	sd_event *loop;
	struct pl_plan *plan;
	struct pl_listing listing;
	struct pl_flow flow;
	struct pl_zsock z;
	struct pl_zsource *zsource;
	sd_event_source *control;
	sd_event_source *clock;   /* sample_timeout; off while nothing is in flight */
	sd_event_source *turn;    /* goes on with a long filter after everybody else had a turn */
	sd_event_source *cleaner; /* frees ended sessions between callbacks */
	struct pl_session *sessions;
	uint32_t n_sessions;
	bool has_worker;
	bool has_handed;
	bool is_leaving; /* a newer instance serves new opens: end with the last stream */
	uint64_t n_foreign;
};

/* To the supervisor; never blocks. */
void pl_dispatcher_tell(struct pl_dispatcher *d, const struct pl_control *c);

/* Something changed: deals, hands out, and says so once it is the first time. */
void pl_dispatcher_go_on(struct pl_dispatcher *d);

/* A connected client, its Open still queued. Takes *fd. */
void pl_clients_add(struct pl_dispatcher *d, const struct pl_control *c, int *fd);

/* The number of clients, to the supervisor. */
void pl_clients_tell(struct pl_dispatcher *d);

/* Ends what has ended, when no callback holds it any more: the loop's defer source of that name. */
int pl_clients_clean(sd_event_source *source, void *dispatcher);

/* Everybody hears why. */
void pl_clients_stop(struct pl_dispatcher *d, const char *text);
