/* daemon/status.h - what is alive, as JSON. */
#pragma once

#include "daemon/pipeline.h"

/*
 * {"version","pid","uptime_s","pipelines":[...]} of the pipelines that the peer may open; `only`
 * names one of them, "" all. Reads progress pages and cards, nothing that can block. malloc'ed;
 * NULL: out of memory.
 */
char *pl_status_json(const struct pl_supervisor *s, const struct pl_peer *peer, const char *only);

/* Nanoseconds and samples of a step over all processes of the birth. */
struct pl_step_sum {
	uint64_t ns;
	uint64_t count;
};

struct pl_step_sum pl_status_step(
	const struct pl_progress *page, uint32_t n_workers, uint32_t step);

/*
 * What the throughput hangs on: "client" when finished batches wait while the workers rest, else
 * what its processes spend their time with: "worker: decode_image", "source", "dispatcher"; "none"
 * while nothing runs. out has room for n bytes; returns it.
 */
char *pl_status_bottleneck(const struct pl_instance *i, char *out, size_t n);
