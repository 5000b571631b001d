/* daemon/flow/message.h - what travels over 0MQ between dispatcher and workers: descriptors, never
 * payload. */
#pragma once

#include "daemon/plan/plan.h"
#include "proto/tensor/tensor.h"

#define PL_SHARD_MAX   1024 /* records of one shard */
#define PL_EXTENTS_MAX 8    /* runs of rows one shard writes */
#define PL_NO_CELL     UINT32_MAX

/* Both sides are of one binary and one birth: plain structs, in one message each. Sizes are still
 * checked on arrival. */

enum pl_worker_message_kind {
	PL_MESSAGE_HELLO = 1, /* worker -> dispatcher, once, first */
	PL_MESSAGE_SHARD,     /* dispatcher -> worker */
	PL_MESSAGE_RESULT,    /* worker -> dispatcher */
};

struct pl_hello_message {
	uint32_t kind;
	uint32_t worker;
	uint32_t generation;
	uint32_t pid;
};

/* Consecutive records of the shard whose fixed fields go to rows row, row + 1, ... of one slot. */
struct pl_extent {
	uint32_t slot;
	uint32_t row;
	uint32_t n;
};

/* How record numbers are carried. */
enum pl_index_form {
	PL_INDEX_RANGE, /* first, first + 1, ... */
	PL_INDEX_LIST,  /* one u64 each */
};

/*
 * Followed by: u64 index[n] (LIST only), u32 cell[n] (has_cells), u8 skip[n] (has_skips: 1 = leave
 * this record alone).
 */
struct pl_shard_message {
	uint32_t kind;
	uint32_t n;
	uint64_t shard;
	uint64_t seed;
	uint32_t epoch;
	uint32_t index_form;
	uint64_t first;
	uint32_t n_extents; /* 0: no rows, everything goes to cells */
	uint8_t has_cells;
	uint8_t has_skips;
	uint8_t wants_trace;
	uint8_t padding;
	struct pl_extent extent[PL_EXTENTS_MAX];
};

/* What became of a record. */
enum pl_outcome {
	PL_OUTCOME_GOOD,
	PL_OUTCOME_DROPPED, /* filter */
	PL_OUTCOME_BAD,
	PL_OUTCOME_SKIPPED, /* was told to leave it alone */
};

/*
 * Followed by: u8 outcome[n] (unless all_good), i64 length[n_var][n] for ragged fields or
 * shape[PL_RANK_MAX + 1] (rank first) for single ones (has_shapes), then n_texts of struct
 * pl_result_text, each with its bytes, padded to 8.
 */
struct pl_result_message {
	uint32_t kind;
	uint32_t worker;
	uint32_t generation;
	uint32_t n;
	uint64_t shard;
	uint64_t busy_ns;
	uint32_t n_texts;
	uint8_t all_good;
	uint8_t has_shapes;
	uint8_t padding[2];
};

struct pl_result_text {
	uint32_t record; /* position in the shard */
	uint16_t is_trace;
	uint16_t step; /* id of the step that failed; PL_STEPS_MAX: reading */
	uint32_t code;
	uint32_t n;
};

#define PL_TEXT_STEP_READ PL_STEPS_MAX

/* A growing message; keeps its room from one use to the next. */
struct pl_message {
	char *data;
	size_t used;
	size_t room;
};

static inline int pl_message_append(struct pl_message *m, const void *bytes, size_t n)
{
	if (m->used + n > m->room) {
		size_t room = (m->used + n) * 2 + 4096;
		char *data = realloc(m->data, room);

		if (!data)
			return -1;
		m->data = data;
		m->room = room;
	}
	if (n)
		memcpy(m->data + m->used, bytes, n);
	m->used += n;
	return 0;
}

/* Reads forward through a received message; NULL when fewer than n bytes are left. */
struct pl_reader {
	const char *at;
	size_t left;
};

static inline const void *pl_reader_take(struct pl_reader *r, size_t n)
{
	const char *p = r->at;

	if (n > r->left)
		return NULL;
	r->at += n;
	r->left -= n;
	return p;
}
