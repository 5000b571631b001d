/* daemon/flow/steps.h - runs a list of steps on one sample. */
#pragma once

#include "daemon/kit/listing.h"
#include "daemon/kit/pass.h"
#include "daemon/plan/plan.h"

/* The prepared state of every step of a plan in this process, by step id, and where their time is
 * booked. */
struct pl_steps {
	const struct pl_plan *plan;
	void *state[PL_STEPS_MAX];
	struct pl_pass *pass[PL_STEPS_MAX]; /* by id of its first step; NULL: none */
	_Atomic uint64_t *ns;               /* by step id; NULL: not booked */
	_Atomic uint64_t *count;
	_Atomic uint32_t *now; /* id of the step in hand; NULL: nobody looks */
	void (*trace)(void *context, const char *label, const char *value);
	void *trace_context;
	uint32_t n_begun;
	bool is_timed; /* this sample: one in 16 is, for a clock read costs as much as a small step
			*/
};

/* Prepares the steps of `list` (inner lists too). 0 or -errno with err; finish frees what was made,
 * also after an error. */
int pl_steps_prepare(
	struct pl_steps *s, const struct pl_step_list *list, struct pl_err *err) PL_MUST_CHECK;
void pl_steps_finish(struct pl_steps *s);

/* A new sample begins: decides whether it is timed. */
void pl_steps_begin(struct pl_steps *s);

/*
 * Runs the list on the sample. 0, PL_OP_DROP, or -errno with err; *failed is then the step (never
 * NULL). With s->trace NULL trace steps stay silent.
 */
int pl_steps_run(struct pl_steps *s, const struct pl_step_list *list, struct pl_sample *sample,
	const struct pl_step **failed, struct pl_err *err) PL_MUST_CHECK;

/* Sets _index, _key and _source in the sample where the plan uses them, from sample->where, which
 * must outlive it. */
void pl_steps_identify(const struct pl_plan *plan, struct pl_sample *sample);

/* What a message calls the record: its source's name for it, fit for one line of a terminal.
 * Returns out (n bytes). */
char *pl_record_quote(const struct pl_plan *plan, const struct pl_listing *listing, uint64_t index,
	char *out, size_t n);

/* take, skip, shuffle: a map of positions; everything else looks at the record. */
static inline bool pl_step_is_order(const struct pl_step *step)
{
	return step->op->order != NULL;
}

/* Whether an opened take or skip keeps the sample that reached it at position `at`: one run of
 * positions stays. */
static inline bool pl_step_keeps(const struct pl_step *step, const struct pl_order *o, uint64_t at)
{
	uint64_t first = step->op->at(step->params, o, 0);

	return at >= first && at - first < o->n_out;
}
