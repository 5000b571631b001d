/* daemon/flow/flow.c - the dispatcher's tables: made, filled with what the plan says, and freed. */
#include "daemon/flow/flow.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

_Static_assert(PL_PROGRESS_STEPS >= PL_STEPS_MAX, "every step has its counters");
_Static_assert(PL_PROGRESS_WORKERS >= PL_WORKERS_MAX, "every worker has its counters");

#define ARENA_MAGIC "PLARENA1"
#define PRE_SCRATCH (64u << 20) /* known fields of one record */

/* Per-slot tables in one block each; the pages of slots that are never used stay untouched. */
static int init_slot_tables(struct pl_flow *f)
{
	size_t n_results = (size_t)(f->plan->n_results ? f->plan->n_results : 1);
	size_t n_words = (size_t)(f->n_varying ? f->n_varying : 1) * PL_SHAPE_WORDS;
	struct pl_wire_view *views = calloc(f->arena.n_slots * n_results, sizeof(*views));
	uint64_t *used = f->has_ragged
				 ? calloc((size_t)f->arena.n_slots * PL_FIELDS_MAX, sizeof(*used))
				 : NULL;
	int64_t *single = f->n_varying ? calloc(f->arena.n_slots * n_words, sizeof(*single)) : NULL;

	f->view[0] = views;
	f->ragged_used[0] = used;
	f->single[0] = single;
	if (!views || (f->has_ragged && !used) || (f->n_varying && !single))
		return -ENOMEM;
	for (uint32_t i = 1; i < f->arena.n_slots; i++) {
		f->view[i] = views + i * n_results;
		f->ragged_used[i] = used ? used + (size_t)i * PL_FIELDS_MAX : NULL;
		f->single[i] = single ? single + i * n_words : NULL;
	}
	return 0;
}

static void write_head(struct pl_flow *f)
{
	size_t n;
	const void *names = f->arena.names_bytes ? pl_listing_section_at(f->listing, 0, &n) : NULL;

	memcpy(f->arena.base, ARENA_MAGIC, sizeof(ARENA_MAGIC) - 1);
	if (names)
		memcpy(f->arena.base + f->arena.names_offset, names, f->arena.names_bytes);
}

static int init_arena(struct pl_flow *f, void *arena, struct pl_err *err)
{
	int r = pl_arena_cut_for(&f->arena, arena, f->plan, f->listing, err);

	if (r == 0 && pl_slots_init(&f->slots, &f->arena) < 0)
		r = pl_err_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		write_head(f);
	if (r == 0 && f->plan->populate && madvise(arena, f->arena.bytes, MADV_POPULATE_WRITE) < 0)
		r = pl_err_set(err, -errno, "populate: %s", strerror(errno));
	return r;
}

int pl_flow_init(struct pl_flow *f, const struct pl_plan *plan, const struct pl_listing *listing,
	void *arena, struct pl_err *err)
{
	int r;

	f->plan = plan;
	f->listing = listing;
	f->n_workers = (uint32_t)plan->n_workers;
	f->n_varying = pl_deliver_n_varying(&plan->layout);
	f->n_before = plan->batch_at >= 0 ? plan->batch_at : 0;
	f->samples_need_cells = f->n_before > 0;
	for (int i = 0; i < plan->layout.n_deliveries; i++)
		f->has_ragged = f->has_ragged || plan->layout.delivery[i].form == PL_FORM_RAGGED;
	pl_scratch_init(&f->scratch, PRE_SCRATCH);
	f->pre_steps.plan = plan;
	f->pre_steps.trace_context = f;
	f->pre_steps.ns = f->progress->post_ns;
	f->pre_steps.count = f->progress->post_count;
	f->post_steps = f->pre_steps;
	r = init_arena(f, arena, err);
	if (r == 0 && init_slot_tables(f) < 0)
		r = pl_err_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = pl_steps_prepare(&f->pre_steps, &plan->pre, err);
	if (r == 0 && plan->source.op->open)
		r = plan->source.op->open(plan->source.params, listing, &f->source_state, err);
	f->n_epoch = pl_source_epoch(plan->source.op, listing);
	if (r == 0)
		r = pl_steps_prepare(&f->post_steps, &plan->post, err);
	return r;
}

int pl_flow_premain(struct pl_flow *f, struct pl_premain *p, uint32_t epoch, struct pl_err *err)
{
	p->steps = &f->pre_steps;
	p->scratch = &f->scratch;
	p->source_state = f->source_state;
	return pl_premain_open(p, f->plan, f->listing, epoch, err);
}

void pl_flow_finish(struct pl_flow *f)
{
	while (f->streams)
		pl_stream_close(f->streams);
	pl_steps_finish(&f->pre_steps);
	pl_steps_finish(&f->post_steps);
	if (f->source_state && f->plan->source.op->close)
		f->plan->source.op->close(f->source_state);
	pl_slots_finish(&f->slots);
	pl_scratch_finish(&f->scratch);
	free(f->view[0]);
	free(f->ragged_used[0]);
	free(f->single[0]);
	free(f->message.data);
}

void pl_trace_for(struct pl_stream *s)
{
	s->flow->pre_steps.trace = s->member->wants_trace ? pl_trace_sink : NULL;
	s->flow->tracing = s->member;
}

void pl_trace_line(struct pl_stream *s, const char *line)
{
	struct pl_flow *f = s->flow;

	if (!s->member->wants_trace)
		return;
	f->wire.kind = PL_WIRE_TRACE;
	snprintf(f->wire.text, sizeof(f->wire.text), "%s", line);
	pl_session_send(s->member, &f->wire, -1);
}

void pl_trace_sink(void *context, const char *label, const char *value)
{
	struct pl_flow *f = context;

	if (!f->tracing)
		return;
	f->wire.kind = PL_WIRE_TRACE;
	snprintf(f->wire.text, sizeof(f->wire.text), "%s %s %d", label, value, (int)getpid());
	pl_session_send(f->tracing, &f->wire, -1);
}
