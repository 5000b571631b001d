/* daemon/flow/deliver.h - brings a finished sample's fields to their row or cell. */
#pragma once

#include "daemon/kit/listing.h"
#include "daemon/plan/plan.h"
#include "daemon/serve/arena.h"

/*
 * Cuts the arena at `base` as plan and listing want it: the one place, so that dispatcher and
 * workers find the same slots and cells in it. 0 or -ENOSPC with err.
 */
int pl_arena_cut_for(struct pl_arena *a, void *base, const struct pl_plan *plan,
	const struct pl_listing *listing, struct pl_err *err) PL_MUST_CHECK;

/* Where one record's fields go. slot NULL: no row; cell NULL: no cell. */
struct pl_target {
	char *slot;
	uint64_t row;
	char *cell;
};

/* Lengths of a delivered value that isn't fixed: rank, then shape. */
#define PL_SHAPE_WORDS (PL_RANK_MAX + 1)

/* Memory of delivery d at this target. */
char *pl_target_at(const struct pl_target *t, const struct pl_delivery *d);

/* Points sample->row of every fixed delivery at its target, so that the last step can write there.
 */
void pl_deliver_prepare(
	const struct pl_layout *layout, const struct pl_target *target, struct pl_sample *sample);

/*
 * Copies what isn't there yet. shapes: PL_SHAPE_WORDS words for each delivery that isn't fixed, in
 * order. 0, -EINVAL when a value isn't what the plan says, -EMSGSIZE when it is larger than
 * sample_max; err says which field.
 */
int pl_deliver_sample(const struct pl_plan *plan, const struct pl_target *target,
	const struct pl_sample *sample, int64_t *shapes, struct pl_err *err) PL_MUST_CHECK;

/* Deliveries that aren't fixed. */
int pl_deliver_n_varying(const struct pl_layout *layout);
