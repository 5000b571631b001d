/* daemon/retired.h - arenas of births that are over, for as long as clients may still map them. */
#pragma once

#include "proto/base.h"

#define PL_RETIRED_MAX 16
#define PL_GUESTS_MAX  64

/* Who was given to a birth's dispatcher: the processes that may map its arena. */
struct pl_guests {
	int n;
	bool has_more; /* more came than fit, or one without a pid of ours: unknown, so taken for
			  alive */
	struct {
		uint32_t pid;
		uint64_t start; /* the process's start time, for pids are used again */
	} guest[PL_GUESTS_MAX];
};

struct pl_retired {
	int n;
	struct {
		uint64_t bytes;
		struct pl_guests guests;
	} arena[PL_RETIRED_MAX];
};

/* Remembers the process of a connection that is given away. */
void pl_guests_add(struct pl_guests *guests, uint32_t pid);

/* The birth is over: its arena stays in memory until its guests are gone. Forgets what nobody can
 * map any more, then the oldest. */
void pl_retired_add(struct pl_retired *r, uint64_t bytes, const struct pl_guests *guests);

/*
 * Number and bytes of arenas that living processes may still map: an upper bound, for a process may
 * have unmapped and live on. Looks at /proc: for questions and births, not for every turn.
 */
int pl_retired_count(const struct pl_retired *r, uint64_t *bytes);
