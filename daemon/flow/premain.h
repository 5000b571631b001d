/* daemon/flow/premain.h - which records an epoch reads, in which order: the pre-main stage. */
#pragma once

#include "daemon/flow/steps.h"
#include "daemon/kit/listing.h"

/*
 * One epoch's walk through pre-main. Order steps (shuffle, take, skip) up to the first one that
 * looks at a record are position arithmetic in O(1) memory; from there on (filter, trace, and take
 * or skip after them) records are pulled one by one. An order step that needs a count (shuffle)
 * after a filter is served from a list of the survivors' indices (8 bytes a record, for as long as
 * the epoch is dealt).
 */
struct pl_premain {
	const struct pl_plan *plan;
	const struct pl_listing *listing;
	struct pl_steps *steps;
	struct pl_scratch *scratch;
	void *source_state;
	struct pl_mixture mixture; /* n 0: the source is none */
	uint32_t epoch;
	int n_mapped;                        /* order steps served by arithmetic */
	int first_pulled;                    /* index in plan->pre of the first pulled step */
	struct pl_order order[PL_STEPS_MAX]; /* by index in plan->pre */
	uint64_t passed[PL_STEPS_MAX];       /* pulled take and skip: records that reached them */
	uint64_t *survivors;                 /* NULL: positions are the listing's */
	uint64_t n_positions;                /* after the mapped steps */
	uint64_t position;                   /* next one to look at */
	uint64_t emitted;                    /* records given out: the R of tokens */
	bool needs_key;                      /* a step looks at it */
	bool is_quiet;                       /* seeking: traces stay silent */
};

/* Starts epoch `epoch`. 0 or -errno with err. */
int pl_premain_open(struct pl_premain *p, const struct pl_plan *plan,
	const struct pl_listing *listing, uint32_t epoch, struct pl_err *err) PL_MUST_CHECK;
void pl_premain_close(struct pl_premain *p);

/* What pl_premain_next answers after so many records that passed no filter: others want their turn,
 * call again. */
enum { PL_PREMAIN_AGAIN = 2 };
#define PL_PREMAIN_TURN 20000

/* A list of survivors for an order step after a filter is made in one go: from no larger source. */
#define PL_PREMAIN_COLLECT_MAX 50000000u

/* The next record: 1 and *index, 0 at the epoch's end, PL_PREMAIN_AGAIN, or -errno with err (an
 * expression failed on a record). */
int pl_premain_next(struct pl_premain *p, uint64_t *index, struct pl_err *err) PL_MUST_CHECK;

/* Goes to just before emitted record R, silently. Beyond the end is the end. 0 or -errno. */
int pl_premain_seek(struct pl_premain *p, uint64_t record, struct pl_err *err) PL_MUST_CHECK;

/* Records left, when that is known without looking at them; UINT64_MAX otherwise. */
uint64_t pl_premain_left(const struct pl_premain *p);
