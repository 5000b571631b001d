/* daemon/serve/progress.h - one birth's shared page of counters: who does what, and since when. */
#pragma once

#include "proto/base.h"

#include <stdatomic.h>

#define PL_PROGRESS_WORKERS 256
#define PL_PROGRESS_STEPS   128

/* worker.record when it is between samples. */
#define PL_PROGRESS_IDLE UINT64_MAX

/*
 * Anonymous shared memory, made by the supervisor, inherited by dispatcher and workers of one
 * birth. Each word has one writer, and readers take each word as it is: nothing here decides what
 * is delivered. Times are CLOCK_MONOTONIC nanoseconds.
 */
struct pl_progress_worker {
	_Atomic uint32_t pid;
	_Atomic uint32_t generation;
	_Atomic uint64_t shard;    /* in hand, or PL_PROGRESS_IDLE */
	_Atomic uint64_t record;   /* index in the listing of the sample in hand: the progress word;
				      PL_PROGRESS_IDLE between samples */
	_Atomic uint32_t step;     /* id of the step in hand */
	_Atomic uint64_t since_ns; /* when this sample began */
	_Atomic uint64_t samples;
	_Atomic uint64_t busy_ns;
	_Atomic uint64_t step_ns[PL_PROGRESS_STEPS];
	_Atomic uint64_t step_count[PL_PROGRESS_STEPS];
};

struct pl_progress {
	_Atomic uint32_t dispatcher_pid;
	_Atomic uint64_t born_ns;
	_Atomic uint64_t heartbeat; /* last ping answered */
	_Atomic uint32_t n_workers; /* wanted */
	_Atomic uint32_t n_clients;
	_Atomic uint32_t n_slots;
	_Atomic uint32_t n_free;
	_Atomic uint32_t n_lent;
	_Atomic uint32_t n_ready; /* batches finished and waiting for a client */
	_Atomic uint64_t shards_dealt;
	_Atomic uint64_t samples;
	_Atomic uint64_t batches; /* handed out */
	_Atomic uint64_t bytes;   /* handed out */
	_Atomic uint64_t bad;
	_Atomic uint64_t dispatcher_busy_ns;
	_Atomic uint64_t post_ns[PL_PROGRESS_STEPS]; /* steps that run in the dispatcher */
	_Atomic uint64_t post_count[PL_PROGRESS_STEPS];
	struct pl_progress_worker worker[PL_PROGRESS_WORKERS];
};

/* A new zeroed page (sparse: only what is written takes memory); NULL when out of memory. */
struct pl_progress *pl_progress_create(void);
void pl_progress_destroy(struct pl_progress *p);

uint64_t pl_now_ns(void);

/* The same clock as of the kernel's last tick, some milliseconds ago: a fifth of the price. */
uint64_t pl_now_coarse_ns(void);
