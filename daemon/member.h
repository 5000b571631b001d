/* daemon/member.h - a worker's place in its team: its generations follow each other here. */
#pragma once

#include "daemon/team.h"

enum { PL_GENERATIONS_MAX = 5 }; /* in a row that finish no sample */

struct pl_member {
	struct pl_team *team;
	uint32_t number;
	uint32_t generation;
	pid_t pid; /* 0: nobody right now */
	struct sd_event_source *child;
	struct sd_event_source *rebirth;
	struct sd_event_source *reaping; /* it was killed alone, and must be gone by then */
	uint64_t samples_before; /* the progress page's counter when this generation was born */
	int n_barren; /* generations in a row that finished no sample and had none in hand */
	int n_stuck;  /* generations in a row that died with the same record in hand */
	uint64_t stuck_at;
};

/* Forks the next generation and tells the dispatcher. One that can't be forked is tried again after
 * a while. */
void pl_member_bear(struct pl_member *m);

/* SIGKILL for a worker that hangs; its replacement follows. One that doesn't die (it waits in the
 * kernel, for a file system that is gone) fails its team. */
void pl_member_replace(struct pl_member *m);

/* SIGKILL, and no rebirth. */
void pl_member_kill(struct pl_member *m);

/* How long to wait before the next generation or birth, after n in a row were barren. */
uint64_t pl_backoff_ms(int n_barren);
