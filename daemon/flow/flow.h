/* daemon/flow/flow.h - the dispatcher's tables: streams, shards, workers, slots. */
#pragma once

#include "daemon/flow/stream.h"
#include "daemon/serve/progress.h"

/* A worker as the dispatcher sees it. */
struct pl_hand {
	uint32_t generation;
	uint32_t pid;
	bool is_ready;             /* its hello came */
	uint64_t heard_ns;         /* of its last result, or of the first shard after it had none */
	uint32_t n_out;            /* shards sent and not back */
	struct pl_shard *out;      /* those */
	struct pl_shard *again;    /* a predecessor's, to be sent first */
	uint32_t hello_generation; /* as its hello said, which may come before the supervisor's word
				    */
	uint32_t hello_pid;
	uint32_t kill_asked; /* generation that was reported for missing its deadline */
};

struct pl_flow {
	const struct pl_plan *plan;
	const struct pl_listing *listing;
	uint64_t n_epoch; /* records of one */
	struct pl_arena arena;
	struct pl_slots slots;
	struct pl_ready ready[PL_ARENA_SLOTS_MAX];     /* by slot */
	struct pl_wire_view *view[PL_ARENA_SLOTS_MAX]; /* by slot: one per result field */
	uint64_t *ragged_used[PL_ARENA_SLOTS_MAX]; /* by slot: values so far of each ragged delivery
						    */
	int64_t *single[PL_ARENA_SLOTS_MAX];       /* by slot, without batch: shapes as delivered */
	void *source_state; /* for the fields that are known without reading data */
	struct pl_steps pre_steps;
	struct pl_steps post_steps;
	struct pl_scratch scratch;
	struct pl_progress *progress;
	struct pl_hand hand[PL_WORKERS_MAX];
	uint32_t n_workers;
	uint32_t cursor; /* round robin */
	struct pl_stream *streams;
	struct pl_shard *free_shards; /* at most as many as were ever in flight at once */
	uint64_t next_shard_id;
	uint64_t next_stream_id;
	uint64_t ns_per_sample; /* moving average, for `shard: auto` */
	int n_varying;
	int n_before;            /* post steps that run on a sample before it is in a batch */
	bool samples_need_cells; /* a step stands before batch: every sample goes through a cell */
	bool has_ragged;
	struct pl_message message;
	bool wants_turn; /* a filter passed nothing for a while: call pl_deal again soon */
	struct pl_session *tracing;   /* whose trace lines are being written */
	struct pl_wire wire;          /* the message being made */
	struct pl_sample post_sample; /* post-main's: one at a time */
	/* A bad sample was met, in order; NULL: nobody keeps them. */
	void (*bad_sample)(struct pl_flow *f, uint64_t index, const char *text);
	/* Sends bytes to a worker: 0, or -errno when it isn't there (its death will be told). */
	int (*send)(struct pl_flow *f, uint32_t worker, uint32_t generation, const void *bytes,
		size_t n);
	void *owner;
};

/* Plan and listing are borrowed. The arena is cut, class names are written to it. 0 or -errno with
 * err. */
int pl_flow_init(struct pl_flow *f, const struct pl_plan *plan, const struct pl_listing *listing,
	void *arena, struct pl_err *err) PL_MUST_CHECK;
void pl_flow_finish(struct pl_flow *f);

/* Opens pre-main for an epoch with the tools of this process; the caller closes it, also after an
 * error. 0 or -errno with err. */
int pl_flow_premain(
	struct pl_flow *f, struct pl_premain *p, uint32_t epoch, struct pl_err *err) PL_MUST_CHECK;

/* flow/shard.c - the shard table. */
struct pl_shard *pl_shard_acquire(struct pl_flow *f, uint32_t room); /* NULL: out of memory */
void pl_shard_release(struct pl_flow *f, struct pl_shard *s);
uint64_t pl_shard_index(const struct pl_shard *s, uint32_t i);
void pl_shard_link(struct pl_stream *stream, struct pl_shard *s);
/* Gives back cells and slot references of a shard that nobody will write for any more; frees it. */
void pl_shard_discard(struct pl_flow *f, struct pl_shard *s);
/* Room for n flags, zeroed, in *flags; -ENOMEM. */
int pl_shard_flags(const struct pl_shard *s, uint8_t **flags) PL_MUST_CHECK;
int pl_shard_send(struct pl_flow *f, struct pl_shard *s, uint32_t worker);

/* flow/deal.c - sends as much as order, credit and room allow. Call after anything that may have
 * changed that. */
void pl_deal(struct pl_flow *f);

/* flow/hand.c - what workers tell, and what is told of them. */
void pl_hand_born(struct pl_flow *f, uint32_t worker, uint32_t generation, uint32_t pid);
/* A worker is gone for sure: `status` as of waitpid, shard and record what it had in hand. */
struct pl_death {
	uint32_t worker;
	uint32_t generation;
	int status;
	uint64_t shard;
	uint64_t record;
};
void pl_hand_reaped(struct pl_flow *f, const struct pl_death *death);
/* A message from a worker; false: malformed, or from nobody of ours. Of a living worker it means
 * that its shard won't come: kill it. */
bool pl_hand_message(struct pl_flow *f, uint32_t worker, uint32_t generation, uint32_t pid,
	const void *bytes, size_t n);
/* The worker whose sample is overdue at `now`, not yet reported, or -1. */
int pl_hand_overdue(struct pl_flow *f, uint64_t now);

/* flow/gather.c - takes what came back, strictly in record order, into batches. */
/* True when anything was taken or completed. */
bool pl_gather(struct pl_stream *s);

/* flow/postmain.c - the single-threaded stage: steps before batch on a sample, after it on a batch.
 */
/*
 * Runs post-main's steps before batch on the sample in a cell (slot PL_NO_SLOT), or those after it
 * on a batch's values: then results land in the slot's own rooms. 1: it stays, 0: it leaves the
 * stream, or -errno with err.
 */
int pl_postmain_run(struct pl_flow *f, struct pl_lap *lap, struct pl_sample *sample, uint32_t slot,
	struct pl_err *err) PL_MUST_CHECK;
/* The same for a finished batch of `size` samples: values are made from the slot, f->view[slot] is
 * filled. */
int pl_postmain_batch(struct pl_flow *f, struct pl_lap *lap, uint32_t slot, uint64_t size,
	struct pl_err *err) PL_MUST_CHECK;
/* On a resume: how many samples reached each take and skip before batch. */
void pl_postmain_resume(struct pl_flow *f, struct pl_lap *lap);

/* Trace lines to the member of a stream, when it asked for them. */
/* Pre-main's trace steps write to this stream's member from here on. */
void pl_trace_for(struct pl_stream *s);
void pl_trace_line(struct pl_stream *s, const char *line);
void pl_trace_sink(void *flow, const char *label, const char *value);
