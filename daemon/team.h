/* daemon/team.h - the dispatcher and the workers of one birth: borne, reaped, replaced, ended
 * together. */
#pragma once

#include "daemon/control.h"
#include "daemon/retired.h"
#include "daemon/supervisor.h"

struct pl_instance;
struct pl_member; /* daemon/member.h */

enum pl_team_end {
	PL_TEAM_LIVES,
	PL_TEAM_STOPPED, /* as we asked: nothing went wrong */
	PL_TEAM_DIED,    /* its dispatcher did: a new birth is due */
	PL_TEAM_FAILED,  /* `reason` says why no other birth would do better */
};

struct pl_team {
	struct pl_instance *instance;
	struct pl_supervisor *supervisor;
	struct pl_birth birth;
	bool is_born; /* birth holds an arena */
	pid_t dispatcher;
	int control; /* our end; -1 */
	struct sd_event_source *child;
	struct sd_event_source *io;
	struct sd_event_source *deadline;  /* of a stop, then of the reaping */
	struct sd_event_source *suspicion; /* an answer to a ping is due */
	struct sd_event_source *crowded;   /* too many descriptors are under way: try again soon */
	struct pl_control *queue;          /* what the dispatcher's socket had no room for */
	size_t n_queued;
	size_t queue_room;
	uint32_t n_workers;
	struct pl_member *worker;
	bool is_ready;   /* connections may be handed over */
	bool has_handed; /* a batch reached a client */
	bool is_killed;  /* SIGKILL was sent to all */
	uint32_t n_clients;
	uint64_t n_given; /* connections handed over */
	struct pl_guests guests;
	uint64_t ping; /* serial of the last one sent */
	uint64_t pong; /* and of the last one answered */
	uint64_t pong_ns;
	int n_missed; /* ticks in a row without an answer */
	enum pl_team_end end;
	char reason[768];
};

/*
 * A new birth: arena, then the dispatcher; its workers follow at its hello. `number` counts a
 * pipeline's births. 0, or -errno with err and nothing left behind.
 */
int pl_team_bear(struct pl_team *team, struct pl_instance *instance, uint64_t number,
	struct pl_err *err) PL_MUST_CHECK;

/* Sends a message to the dispatcher, or keeps it until there is room. */
void pl_team_post(struct pl_team *team, const struct pl_control *c);

/* Hands over a connection with its first datagram still queued (borrows fd). 0, or -EAGAIN: later,
 * when the control socket has room. */
int pl_team_give(struct pl_team *team, int fd, uint32_t uid, uint32_t pid) PL_MUST_CHECK;

/* Asks the dispatcher to end its streams and exit; what lives after PL_STOP_MS is killed. */
void pl_team_stop(struct pl_team *team);

/* Tells it that others serve new opens: it exits after its last stream's end. */
void pl_team_renew(struct pl_team *team);

/* Kills all of them; once they are reaped the instance is told. The first reason stays. */
void pl_team_kill(struct pl_team *team, enum pl_team_end end, const char *format, ...)
	PL_PRINTF(3, 4);

/* A watchdog's tick: asks for a sign of life; kills a dispatcher that gave none for two ticks. */
void pl_team_tick(struct pl_team *team);

/* Asks for a sign of life now; the instance is told of the answer (pl_instance_ponged). */
uint64_t pl_team_ask(struct pl_team *team);

/* Nobody of it is left to reap. */
bool pl_team_is_reaped(const struct pl_team *team);

/* Unmaps the arena and frees everything; only when nobody is left. */
void pl_team_finish(struct pl_team *team);
