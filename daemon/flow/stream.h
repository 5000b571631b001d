/* daemon/flow/stream.h - one traversal of a pipeline: its epochs under way, its shards, its
 * members. */
#pragma once

#include "daemon/flow/deliver.h"
#include "daemon/flow/message.h"
#include "daemon/flow/premain.h"
#include "daemon/serve/session.h"

struct pl_flow;

/*
 * One epoch of a stream. Rows and batches count from 0 here; `first_batch` is what the clients call
 * batch 0 after a resume. D, G, F of SEMANTICS A2: rows assigned, good samples gathered, records
 * dealt and not gathered.
 */
struct pl_lap {
	struct pl_lap *next;
	uint32_t epoch;
	uint64_t first_batch;
	uint64_t D;
	uint64_t G;
	uint64_t F;
	uint64_t bad;
	uint64_t n_handed; /* batches given to the client(s) */
	uint64_t n_ready;  /* batches complete */
	uint64_t n_slots;  /* batches that have a slot */
	bool has_next;     /* one record was pulled and not yet dealt */
	uint64_t next_index;
	bool is_dealt;                 /* pre-main has no more */
	bool is_complete;              /* every record gathered, the last batch published */
	uint64_t passed[PL_STEPS_MAX]; /* by index in plan->post: samples that reached a take or
					  skip before batch */
	uint32_t *slot_of; /* ring: batch b is in slot slot_of[b % PL_ARENA_SLOTS_MAX] */
	struct pl_premain premain;
};

/* What is known of one READY batch until it is handed out; by slot. */
struct pl_ready {
	uint64_t size;
	bool is_last;
	uint64_t bad;
	struct pl_wire_position after;
};

enum pl_shard_state { PL_SHARD_WAITING, PL_SHARD_DEALT, PL_SHARD_BACK };

/* Consecutive records of one lap, sent to one worker as one message. The truth about what is in
 * flight. */
struct pl_shard {
	struct pl_shard *next;    /* in its stream, in deal order; or in the free list */
	struct pl_shard *sibling; /* at its worker, or waiting for that worker's replacement */
	struct pl_stream *stream; /* NULL: the stream closed meanwhile */
	struct pl_lap *lap;
	uint64_t id;
	enum pl_shard_state state;
	uint32_t n;
	uint64_t first_position; /* of record 0 in pre-main's output */
	bool has_rows;
	bool has_cells;
	bool is_range;
	uint64_t first_row;
	uint64_t first; /* RANGE */
	uint32_t n_extents;
	struct pl_extent extent[PL_EXTENTS_MAX];
	uint32_t gathered; /* records of it that were gathered */
	bool all_good;
	uint8_t wants_trace;
	uint32_t room; /* of the arrays */
	uint64_t *index;
	uint32_t *cell;
	uint8_t *outcome;
	uint8_t *skip;  /* NULL: none; 1 = blamed twice, or done already: leave alone */
	uint8_t *blame; /* NULL: none */
	char *result;   /* copy of the result's shapes and texts */
	size_t result_room;
	const int64_t *shapes;
	const char *texts;
	size_t texts_bytes;
	struct pl_err *fatal; /* pre-main failed here: fails the stream in order */
	char *blame_text;     /* why a record was left alone */
	uint32_t attempts;    /* substitute: records tried in this one's place */
};

struct pl_stream {
	struct pl_stream *next;
	struct pl_flow *flow;
	uint64_t id;
	enum pl_mode mode;
	struct pl_session *member; /* private: the only one */
	struct pl_quota quota;
	struct pl_lap *lap; /* oldest under way */
	uint32_t n_laps;
	int64_t next_epoch; /* the next lap's */
	struct pl_shard *first_shard;
	struct pl_shard *last_shard;
	uint64_t n_dealt; /* shards: strict dispatch counts them */
	bool has_failed;
	bool has_ended;
	struct pl_err failure;
};

/* Epochs dealt and not wholly handed out; tiny ones pile up under a large prefetch. */
#define PL_LAPS_MAX 16

/* A private stream for the session, from the token (NULL: the beginning, or `epoch`). 0 or -errno
 * with err. */
int pl_stream_open(struct pl_stream **out, struct pl_flow *flow, struct pl_session *member,
	const struct pl_token *token, struct pl_err *err) PL_MUST_CHECK;

/* No more dealing; its slots drain (SEMANTICS A11); the struct is freed. */
void pl_stream_close(struct pl_stream *s);

/* The stream ends here with an error, after everything that is ready. Later failures don't replace
 * the first. */
void pl_stream_fail(struct pl_stream *s, const struct pl_err *err);

/* The lap that deals next; a new one when the last is dealt out and epochs are left; NULL: nothing
 * left. *err set on failure (-> NULL). */
struct pl_lap *pl_stream_dealing_lap(struct pl_stream *s, struct pl_err *err);

/* What is left of the epoch can't complete another batch: under drop_last it is not read. */
bool pl_lap_is_hopeless(const struct pl_stream *s, const struct pl_lap *lap);

/* Batches of this stream that are ready, filling or expected from what is dealt, and not handed. */
uint64_t pl_stream_outstanding(const struct pl_stream *s);

/* Batches that may be outstanding: asked for, or to be kept ready. */
uint64_t pl_stream_allowed(const struct pl_stream *s);

/* Pre-main has nothing more that could fill a batch, and nothing is in flight. */
bool pl_lap_is_out(const struct pl_stream *s, const struct pl_lap *lap);

/* Hands out every batch that is ready and asked for, then the error or the end. True when it did:
 * room for more was made. */
bool pl_stream_hand_out(struct pl_stream *s);

/* "worker 1 in decode_image of record 17 for 9.0 s", for a client that waits. */
void pl_stream_why(const struct pl_stream *s, char *text, size_t n);
