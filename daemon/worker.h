/* daemon/worker.h - what a worker process holds. */
#pragma once

#include "daemon/birth.h"
#include "daemon/flow/message.h"
#include "daemon/flow/steps.h"
#include "daemon/kit/listing.h"
#include "daemon/serve/arena.h"
#include "daemon/sys/zsock.h"

struct pl_worker {
	const struct pl_birth *birth;
	uint32_t number;
	uint32_t generation;
	struct pl_plan *plan;
	struct pl_listing listing;
	struct pl_arena arena;
	struct pl_steps steps;
	void *source_state;
	struct pl_zsock z;
	struct pl_scratch scratch;
	struct pl_sample sample;
	struct pl_progress_worker *progress;
	struct pl_message result;
	struct pl_message texts;
	uint8_t outcome[PL_SHARD_MAX];
	int64_t *shapes; /* [record][ragged or single field][PL_RANK_MAX + 1]: rank, lengths */
	int n_varying;   /* deliveries that aren't fixed */
	uint32_t n_texts;
	uint32_t at; /* position in the shard of the record in hand, for its trace lines */
};
