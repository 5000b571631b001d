/* daemon/plan/dump.h - a plan shown to people and tools: text, dot and JSON. */
#pragma once

#include "daemon/plan/plan.h"

#include <stdio.h>

enum pl_dump_format { PL_DUMP_TEXT, PL_DUMP_DOT, PL_DUMP_JSON };

/* What is known of a running pipeline; NULL for a file. ns and count are sums over all workers, by
 * step id. */
struct pl_dump_live {
	int dispatcher_pid;
	int n_workers;
	const int *worker_pid;
	const uint64_t *step_ns;
	const uint64_t *step_count;
	double seconds; /* the sums' age */
};

/* Every step with the process it runs in, its fields and types, the way of each delivered field
 * (zero copy or through a cell). */
int pl_dump_plan(FILE *out, const struct pl_plan *plan, enum pl_dump_format format,
	const struct pl_dump_live *live);

/* The steps, or the sources, with parameters, units, defaults and help, from their declarations.
 * is_json: one array. */
void pl_dump_ops(FILE *out, bool is_json);
void pl_dump_sources(FILE *out, bool is_json);

/* A JSON Schema (draft 2020-12) of pipeline files, for editors. */
void pl_dump_schema(FILE *out);
