/* daemon/flow/premain.c - which records an epoch reads, in which order: the pre-main stage. */
#include "daemon/flow/premain.h"

#include <errno.h>

#define NAME_BYTES 1024

/* Order steps that also work on a stream of unknown length: what stays is one run of positions. */
static bool is_streaming(const struct pl_step *step)
{
	return step->op->stages & PL_STAGE_POST;
}

static int open_order(struct pl_premain *p, int i, uint64_t n_in, struct pl_err *err)
{
	const struct pl_step *step = &p->plan->pre.step[i];
	struct pl_order *o = &p->order[i];

	memset(o, 0, sizeof(*o));
	o->n_in = n_in;
	o->seed = p->plan->seed;
	o->epoch = p->epoch;
	o->place = step->place;
	o->mixture = i == 0 && p->mixture.n ? &p->mixture : NULL;
	return step->op->order(step->params, o, err);
}

/* Runs pulled step i on the record. 1: it stays, 0: it goes, or -errno. */
static int pull(struct pl_premain *p, int i, struct pl_sample *sample, struct pl_err *err)
{
	const struct pl_step *step = &p->plan->pre.step[i];
	struct pl_step_list one = {.n = 1, .step = (struct pl_step *)(uintptr_t)step};
	const struct pl_step *failed;
	void (*trace)(void *context, const char *label, const char *value) = p->steps->trace;
	int r;

	if (pl_step_is_order(step))
		return pl_step_keeps(step, &p->order[i], p->passed[i]++);
	if (p->is_quiet)
		p->steps->trace = NULL;
	r = pl_steps_run(p->steps, &one, sample, &failed, err);
	p->steps->trace = trace;
	if (r < 0)
		pl_err_prefix(err, "pre_main step '%s' (line %d): ", step->op->name, step->at.line);
	return r < 0 ? r : r != PL_OP_DROP;
}

/* Passes the record through the pulled steps [from, to). 1: it stays, 0: it goes, or -errno. */
static int pull_all(struct pl_premain *p, int from, int to, uint64_t index, struct pl_err *err)
{
	const struct pl_source_use *source = &p->plan->source;
	struct pl_sample sample;
	char name[NAME_BYTES] = "";
	int r = 1;

	if (from == to)
		return 1;
	memset(&sample.where, 0, sizeof(sample.where));
	memset(sample.value, 0, sizeof(sample.value[0]) * (size_t)p->plan->n_fields);
	memset(sample.row, 0, sizeof(sample.row[0]) * (size_t)p->plan->n_fields);
	memset(sample.room, 0, sizeof(sample.room[0]) * (size_t)p->plan->n_fields);
	sample.scratch = p->scratch;
	sample.where.key =
		(struct pl_draw_key){.seed = p->plan->seed, .epoch = p->epoch, .index = index};
	sample.where.source = source->name;
	sample.where.name = name;
	if (p->needs_key)
		pl_source_key(source->op, source->params, p->listing, index, name, sizeof(name));
	pl_scratch_reset(p->scratch);
	pl_steps_begin(p->steps);
	r = source->op->read(source->params, p->source_state, p->listing, index, source->field,
		true, &sample, err);
	if (r < 0)
		return r;
	pl_steps_identify(p->plan, &sample);
	for (r = 1; from < to && r == 1; from++)
		r = pull(p, from, &sample, err);
	return r;
}

/* Where mapped position `at` (after steps [low, high)) comes from. */
static uint64_t map_back(const struct pl_premain *p, int low, int high, uint64_t at)
{
	for (int i = high - 1; i >= low; i--)
		at = p->plan->pre.step[i].op->at(p->plan->pre.step[i].params, &p->order[i], at);
	return at;
}

/* Replaces what steps [low, high) with filters among them leave by a list, so that a shuffle can
 * follow. */
static int collect(struct pl_premain *p, int low, int high, struct pl_err *err)
{
	uint64_t *list = NULL, n = 0, room = 0;
	uint64_t *old = p->survivors;
	int r = 0;

	if (p->n_positions > PL_PREMAIN_COLLECT_MAX)
		return pl_err_set(err, -E2BIG,
			"pre_main: an order step after a filter needs a list of what passed, and "
			"the source has more than %u records: put the filter behind it",
			PL_PREMAIN_COLLECT_MAX);
	for (uint64_t at = 0; at < p->n_positions; at++) {
		uint64_t index = map_back(p, p->n_mapped, low, at);

		index = old ? old[index] : index;
		r = pull_all(p, low, high, index, err);
		if (r < 0)
			break;
		if (r == 0)
			continue;
		if (n == room) {
			uint64_t *more = realloc(list, (room = room * 2 + 1024) * sizeof(*list));

			if (!more) {
				r = pl_err_set(err, -ENOMEM, "out of memory for %llu records",
					(unsigned long long)room);
				break;
			}
			list = more;
		}
		list[n++] = index;
	}
	if (r < 0) {
		free(list);
		return r;
	}
	free(old);
	p->survivors = list ? list : calloc(1, sizeof(*list));
	p->n_positions = n;
	p->n_mapped = high;
	return 0;
}

/* The first step from `at` on that needs a count but stands behind one that looks at records; -1:
 * none. */
static int next_counting(const struct pl_premain *p, int at)
{
	bool seen = false;

	for (; at < p->plan->pre.n; at++) {
		const struct pl_step *step = &p->plan->pre.step[at];

		if (seen && pl_step_is_order(step) && !is_streaming(step))
			return at;
		seen = seen || !pl_step_is_order(step);
	}
	return -1;
}

/* Opens the order steps from `at` that can be mapped; returns the index of the first that can't. */
static int open_mapped(struct pl_premain *p, int at, struct pl_err *err)
{
	for (; at < p->plan->pre.n && pl_step_is_order(&p->plan->pre.step[at]); at++) {
		int r = open_order(p, at, p->n_positions, err);

		if (r < 0)
			return r;
		p->n_positions = p->order[at].n_out;
	}
	return at;
}

static int open_pulled(struct pl_premain *p, int from, int to, struct pl_err *err)
{
	for (int i = from; i < to; i++)
		if (pl_step_is_order(&p->plan->pre.step[i])) {
			int r = open_order(p, i, UINT64_MAX, err);

			if (r < 0)
				return r;
		}
	return 0;
}

static bool needs_key(const struct pl_plan *plan)
{
	for (int i = 0; i < plan->pre.n; i++)
		if (plan->pre.step[i].op->flags & PL_OP_BY_KEY)
			return true;
	return plan->key_field >= 0;
}

int pl_premain_open(struct pl_premain *p, const struct pl_plan *plan,
	const struct pl_listing *listing, uint32_t epoch, struct pl_err *err)
{
	struct pl_steps *steps = p->steps;
	struct pl_scratch *scratch = p->scratch;
	void *source_state = p->source_state;
	int r, counting;

	memset(p, 0, sizeof(*p));
	p->plan = plan;
	p->listing = listing;
	p->steps = steps;
	p->scratch = scratch;
	p->source_state = source_state;
	p->epoch = epoch;
	p->needs_key = needs_key(plan);
	p->n_positions = listing->head->n_records;
	if (plan->source.op->mixture) {
		r = plan->source.op->mixture(listing, &p->mixture, err);
		if (r < 0)
			return r;
		p->n_positions = p->mixture.n;
	}
	r = open_mapped(p, 0, err);
	while (r >= 0 && (counting = next_counting(p, r)) >= 0) {
		int pulled = r;

		r = open_pulled(p, pulled, counting, err);
		if (r == 0)
			r = collect(p, pulled, counting, err);
		if (r == 0)
			r = open_mapped(p, counting, err);
	}
	if (r < 0)
		return r;
	p->first_pulled = r;
	return open_pulled(p, r, plan->pre.n, err);
}

void pl_premain_close(struct pl_premain *p)
{
	free(p->survivors);
	p->survivors = NULL;
}

int pl_premain_next(struct pl_premain *p, uint64_t *index, struct pl_err *err)
{
	for (int n = 0; p->position < p->n_positions; n++) {
		uint64_t at;
		int r;

		if (n == PL_PREMAIN_TURN)
			return PL_PREMAIN_AGAIN;
		at = map_back(p, p->n_mapped, p->first_pulled, p->position++);
		*index = p->survivors ? p->survivors[at] : at;
		r = pull_all(p, p->first_pulled, p->plan->pre.n, *index, err);
		if (r == 1)
			p->emitted++;
		if (r != 0)
			return r;
	}
	return 0;
}

int pl_premain_seek(struct pl_premain *p, uint64_t record, struct pl_err *err)
{
	uint64_t index;
	int r = 1;

	if (p->first_pulled == p->plan->pre.n) {
		p->position = pl_min_u64(record, p->n_positions);
		p->emitted = p->position;
		return 0;
	}
	p->is_quiet = true;
	while (p->emitted < record && r > 0)
		r = pl_premain_next(p, &index, err);
	p->is_quiet = false;
	return r < 0 ? r : 0;
}

uint64_t pl_premain_left(const struct pl_premain *p)
{
	return p->first_pulled == p->plan->pre.n ? p->n_positions - p->position : UINT64_MAX;
}
