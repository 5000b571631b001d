/* daemon/flow/steps.c - runs a list of steps on one sample. */
#include "daemon/flow/steps.h"

#include "daemon/serve/progress.h"

#include <errno.h>

#define TIMED_EVERY 16

static int prepare_step(struct pl_steps *s, const struct pl_step *step, struct pl_err *err)
{
	struct pl_type type[PL_FIELDS_MAX] = {0};
	bool is_live[PL_FIELDS_MAX] = {0};
	struct pl_infer io = {
		.type = type,
		.name = s->plan->field_name,
		.is_live = is_live,
		.n_fields = s->plan->n_fields,
		.in = step->in,
		.out = step->out,
		.n = step->n,
		.n_own = step->n_own,
		.dir = s->plan->dir,
		.roots = &s->plan->roots,
	};
	int r;

	if (!step->op->prepare)
		return 0;
	for (int f = 0; f < s->plan->n_fields; f++)
		is_live[f] = step->live >> f & 1;
	for (int i = 0; i < step->n; i++)
		type[step->out[i]] = step->type[i];
	r = step->op->prepare(&io, step->params, &s->state[step->id], err);
	if (r < 0)
		pl_err_prefix(err, "step '%s': ", step->op->name);
	return r;
}

static int prepare_pass(struct pl_steps *s, const struct pl_step *first, struct pl_err *err)
{
	struct pl_pass *pass;

	if (first->pass.at != 1)
		return 0;
	pass = calloc(1, sizeof(*pass));
	if (!pass)
		return pl_err_set(err, -ENOMEM, "out of memory");
	s->pass[first->id] = pass;
	for (const struct pl_step *step = first; pass->n < first->pass.n; step++)
		if (!step->op->move(step->params, &pass->move[pass->n++]))
			return pl_err_set(err, -EINVAL, "step '%s': no longer as it was planned",
				step->op->name);
	return 0;
}

int pl_steps_prepare(struct pl_steps *s, const struct pl_step_list *list, struct pl_err *err)
{
	for (int i = 0; i < list->n; i++) {
		const struct pl_step *step = &list->step[i];
		int r = prepare_step(s, step, err);

		if (r == 0)
			r = prepare_pass(s, step, err);
		for (int k = 0; r == 0 && k < step->n_lists; k++)
			r = pl_steps_prepare(s, &step->list[k], err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void finish_list(struct pl_steps *s, const struct pl_step_list *list)
{
	for (int i = 0; i < list->n; i++) {
		const struct pl_step *step = &list->step[i];

		if (s->state[step->id] && step->op->destroy)
			step->op->destroy(s->state[step->id]);
		s->state[step->id] = NULL;
		free(s->pass[step->id]);
		s->pass[step->id] = NULL;
		for (int k = 0; k < step->n_lists; k++)
			finish_list(s, &step->list[k]);
	}
}

void pl_steps_finish(struct pl_steps *s)
{
	if (!s->plan)
		return;
	finish_list(s, &s->plan->pre);
	finish_list(s, &s->plan->worker);
	finish_list(s, &s->plan->post);
}

/* Which of a one_of's lists this sample takes. */
static int choose_list(const struct pl_step *step, struct pl_rng *rng)
{
	double sum = 0, at;

	for (int k = 0; k < step->n_lists; k++)
		sum += step->list[k].weight;
	at = pl_rng_unit(rng) * sum;
	for (int k = 0; k < step->n_lists; k++) {
		at -= step->list[k].weight;
		if (at < 0)
			return k;
	}
	return step->n_lists - 1;
}

static int run_structure(struct pl_steps *s, struct pl_run *run, const struct pl_step *step,
	const struct pl_step **failed)
{
	if (step->n_lists == 0) { /* views: each out is its own name for the same value, until a
				     step writes it */
		for (int i = 0; i < step->n; i++)
			run->sample->value[step->out[i]] = run->sample->value[step->in[i]];
		return 0;
	}
	return pl_steps_run(s, &step->list[step->n_lists > 1 ? choose_list(step, &run->rng) : 0],
		run->sample, failed, run->err);
}

/* `draw: each`: one run a pair, each with its own generator. */
static int run_each(struct pl_run *run, const struct pl_step *step)
{
	for (int i = 0; i < step->n; i++) {
		struct pl_run one = *run;
		int r;

		one.in = &step->in[i];
		one.out = &step->out[i];
		one.writes_row = &step->writes_row[i];
		one.n = one.n_own = 1;
		pl_rng_init(&one.rng, &run->sample->where.key, step->place, (uint32_t)i + 1);
		r = step->op->run(&one);
		if (r != 0)
			return r;
	}
	return 0;
}

static bool is_taken(const struct pl_step *step, const struct pl_sample *sample)
{
	struct pl_rng rng;

	if (step->p >= 1)
		return true;
	pl_rng_init(&rng, &sample->where.key, step->p_place, 0);
	return pl_rng_unit(&rng) < step->p;
}

/* A step left out by `p` that would have written another field leaves the input there. */
static void pass_by(const struct pl_step *step, struct pl_sample *sample)
{
	for (int i = 0; i < step->n; i++)
		if (step->out[i] != step->in[i])
			sample->value[step->out[i]] = sample->value[step->in[i]];
}

static int run_step(struct pl_steps *s, const struct pl_step *step, struct pl_sample *sample,
	const struct pl_step **failed, struct pl_err *err)
{
	struct pl_run run = {
		.sample = sample,
		.op = step->op,
		.params = step->params,
		.state = s->state[step->id],
		.in = step->in,
		.out = step->out,
		.n = step->n,
		.n_own = step->n_own,
		.writes_row = step->writes_row,
		.err = err,
		.trace = s->trace,
		.trace_context = s->trace_context,
	};

	if (!is_taken(step, sample)) {
		pass_by(step, sample);
		return 0;
	}
	if (step->op->flags & (PL_OP_RANDOM | PL_OP_STRUCTURE))
		pl_rng_init(&run.rng, &sample->where.key, step->place, 0);
	if (step->op->flags & PL_OP_STRUCTURE)
		return run_structure(s, &run, step, failed);
	if (!step->op->run)
		return 0;
	return step->draws_each ? run_each(&run, step) : step->op->run(&run);
}

/* The steps from `first` on in one pass. 0 or PL_PASS_APART. */
static int run_pass(struct pl_steps *s, const struct pl_step *first, struct pl_sample *sample)
{
	const struct pl_step *last = first + first->pass.n - 1;
	struct pl_run run = {
		.sample = sample,
		.op = last->op,
		.in = first->in,
		.out = last->out,
		.n = first->n,
		.writes_row = last->writes_row,
	};

	return pl_pass_run(&run, s->pass[first->id]);
}

void pl_steps_begin(struct pl_steps *s)
{
	s->is_timed = s->n_begun++ % TIMED_EVERY == 0;
}

/* n steps from `step` on took the time since `began`: booked to the first, counted for all. */
static void book(struct pl_steps *s, const struct pl_step *step, int n, uint64_t began)
{
	if (s->ns)
		s->ns[step->id] += (pl_now_ns() - began) * TIMED_EVERY;
	for (int i = 0; s->count && i < n; i++)
		s->count[step[i].id] += TIMED_EVERY;
}

int pl_steps_run(struct pl_steps *s, const struct pl_step_list *list, struct pl_sample *sample,
	const struct pl_step **failed, struct pl_err *err)
{
	for (int i = 0, n; i < list->n; i += n) {
		const struct pl_step *step = &list->step[i];
		uint64_t began = 0;
		int r = 0;

		if (s->now)
			atomic_store_explicit(s->now, (uint32_t)step->id, memory_order_relaxed);
		if (s->is_timed)
			began = pl_now_ns();
		*failed = step;
		n = s->pass[step->id] && run_pass(s, step, sample) == 0 ? step->pass.n : 1;
		if (n == 1)
			r = run_step(s, step, sample, failed, err);
		if (s->is_timed)
			book(s, step, n, began);
		if (r != 0)
			return r;
	}
	return 0;
}

void pl_steps_identify(const struct pl_plan *plan, struct pl_sample *sample)
{
	const struct pl_where *w = &sample->where;

	if (plan->index_field >= 0)
		sample->value[plan->index_field] = (struct pl_tensor){
			.data = (void *)(uintptr_t)&w->key.index, .dtype = PL_I64};
	if (plan->key_field >= 0)
		sample->value[plan->key_field] =
			(struct pl_tensor){.data = (void *)(uintptr_t)w->name,
				.dtype = PL_U8,
				.rank = 1,
				.shape = {(int64_t)strlen(w->name)},
				.stride = {1}};
	if (plan->source_field >= 0)
		sample->value[plan->source_field] =
			(struct pl_tensor){.data = (void *)(uintptr_t)w->source,
				.dtype = PL_U8,
				.rank = 1,
				.shape = {(int64_t)strlen(w->source)},
				.stride = {1}};
}

char *pl_record_quote(const struct pl_plan *plan, const struct pl_listing *listing, uint64_t index,
	char *out, size_t n)
{
	char name[1024] = "";

	plan->source.op->describe(plan->source.params, listing, index, name, sizeof(name));
	return pl_err_quote(out, n, name);
}
