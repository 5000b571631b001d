/* daemon/status.c - what is alive, as JSON. */
#include "daemon/status.h"

#include <jansson.h>
#include <stdio.h>

#include "daemon/member.h"

#define NS_PER_S 1000000000ull

struct pl_step_sum pl_status_step(const struct pl_progress *page, uint32_t n_workers, uint32_t step)
{
	struct pl_step_sum sum = {0};

	if (step >= PL_PROGRESS_STEPS)
		return sum;
	sum.ns = atomic_load(&page->post_ns[step]);
	sum.count = atomic_load(&page->post_count[step]);
	for (uint32_t w = 0; w < n_workers; w++) {
		sum.ns += atomic_load(&page->worker[w].step_ns[step]);
		sum.count += atomic_load(&page->worker[w].step_count[step]);
	}
	return sum;
}

/* Where the workers' busy time went: the dearest step's id, or -1 for what is no step's, which is
 * reading. */
static int dearest(const struct pl_instance *i, uint64_t busy_ns)
{
	const struct pl_progress *page = i->team.birth.progress;
	uint64_t most = 0, all = 0;
	int best = -1;

	for (uint32_t step = 0; step < i->card->n_steps && step < PL_PROGRESS_STEPS; step++) {
		uint64_t ns = 0;

		for (uint32_t w = 0; w < i->team.n_workers; w++)
			ns += atomic_load(&page->worker[w].step_ns[step]);
		all += ns;
		if (ns > most) {
			most = ns;
			best = (int)step;
		}
	}
	return busy_ns > all && busy_ns - all > most ? -1 : best;
}

char *pl_status_bottleneck(const struct pl_instance *i, char *out, size_t n)
{
	const struct pl_progress *page = i->team.birth.progress;
	uint64_t busy = 0, age, dispatcher;
	int step;

	snprintf(out, n, "none");
	if (!i->team.is_born || !i->team.is_ready || atomic_load(&page->samples) == 0)
		return out;
	age = pl_now_ns() - atomic_load(&page->born_ns);
	dispatcher = atomic_load(&page->dispatcher_busy_ns);
	for (uint32_t w = 0; w < i->team.n_workers; w++)
		busy += atomic_load(&page->worker[w].busy_ns);
	step = dearest(i, busy);
	if (atomic_load(&page->n_ready) > 0 && busy / i->team.n_workers < age / 2)
		snprintf(out, n, "client");
	else if (dispatcher > busy / i->team.n_workers)
		snprintf(out, n, "dispatcher");
	else if (step < 0)
		snprintf(out, n, "source");
	else
		snprintf(out, n, "worker: %s", i->card->step_name[step]);
	return out;
}

static json_t *worker_json(const struct pl_instance *i, const struct pl_member *m)
{
	const struct pl_progress_worker *page = &i->team.birth.progress->worker[m->number];
	uint64_t record = atomic_load(&page->record), since = atomic_load(&page->since_ns);
	uint32_t step = atomic_load(&page->step);
	bool is_busy = m->pid && record != PL_PROGRESS_IDLE;
	json_t *o = json_pack("{s:i,s:i,s:i,s:s,s:I}", "worker", (int)m->number, "pid", (int)m->pid,
		"generation", (int)m->generation, "state",
		m->pid == 0 ? "dead"
		: is_busy   ? "busy"
			    : "waiting",
		"samples", (json_int_t)atomic_load(&page->samples));

	if (o && is_busy) {
		json_object_set_new(o, "record", json_integer((json_int_t)record));
		if (step < i->card->n_steps && step < PL_STEPS_MAX)
			json_object_set_new(o, "step", json_string(i->card->step_name[step]));
		json_object_set_new(
			o, "since_s", json_real((double)(pl_now_ns() - since) / NS_PER_S));
	}
	return o;
}

static const char *stage_name(unsigned stage)
{
	return stage == PL_STAGE_PRE    ? "pre_main"
	       : stage == PL_STAGE_POST ? "post_main"
					: "workers";
}

static json_t *steps_json(const struct pl_instance *i)
{
	const struct pl_plan_card *card = i->card;
	json_t *list = json_array();

	for (uint32_t step = 0; step < card->n_steps && step < PL_STEPS_MAX; step++) {
		struct pl_step_sum sum = {0};

		if (i->team.is_born)
			sum = pl_status_step(i->team.birth.progress, i->team.n_workers, step);
		json_array_append_new(list,
			json_pack("{s:i,s:s,s:s,s:I,s:I}", "id", (int)step, "name",
				card->step_name[step], "stage", stage_name(card->step_stage[step]),
				"ns", (json_int_t)sum.ns, "count", (json_int_t)sum.count));
	}
	return list;
}

static void add_page(json_t *o, const struct pl_progress *page)
{
	json_t *slots = json_pack("{s:i,s:i,s:i,s:i}", "total", (int)atomic_load(&page->n_slots),
		"free", (int)atomic_load(&page->n_free), "lent", (int)atomic_load(&page->n_lent),
		"ready", (int)atomic_load(&page->n_ready));

	json_object_set_new(o, "slots", slots);
	json_object_set_new(o, "samples", json_integer((json_int_t)atomic_load(&page->samples)));
	json_object_set_new(o, "batches", json_integer((json_int_t)atomic_load(&page->batches)));
	json_object_set_new(o, "bytes", json_integer((json_int_t)atomic_load(&page->bytes)));
	json_object_set_new(o, "bad", json_integer((json_int_t)atomic_load(&page->bad)));
	json_object_set_new(o, "age_s",
		json_real((double)(pl_now_ns() - atomic_load(&page->born_ns)) / NS_PER_S));
}

static void add_team(json_t *o, const struct pl_instance *i)
{
	json_t *workers = json_array();
	char bottleneck[64];

	for (uint32_t w = 0; w < i->team.n_workers; w++)
		json_array_append_new(workers, worker_json(i, &i->team.worker[w]));
	json_object_set_new(o, "birth", json_integer((json_int_t)i->team.birth.number));
	json_object_set_new(o, "dispatcher", json_pack("{s:i}", "pid", (int)i->team.dispatcher));
	json_object_set_new(o, "workers", workers);
	json_object_set_new(o, "clients", json_integer(i->team.n_clients));
	json_object_set_new(o, "arena_bytes", json_integer((json_int_t)i->team.birth.arena_bytes));
	add_page(o, i->team.birth.progress);
	json_object_set_new(o, "bottleneck",
		json_string(pl_status_bottleneck(i, bottleneck, sizeof(bottleneck))));
}

static int n_waiting(const struct pl_pipeline *p)
{
	int n = 0;

	for (const struct pl_visitor *v = p->supervisor->visitors; v; v = v->next)
		n += v->state == PL_VISITOR_WAITS && v->pipeline == p;
	return n;
}

static int n_retired(const struct pl_pipeline *p)
{
	int n = 0;

	for (const struct pl_instance *i = p->retired; i; i = i->next)
		n += i->team.is_born;
	return n;
}

static json_t *pipeline_json(const struct pl_pipeline *p)
{
	const struct pl_instance *i = p->now;
	uint64_t retired_bytes;
	int retired = pl_retired_count(&p->arenas, &retired_bytes);
	json_t *o = json_pack("{s:s,s:s,s:s,s:I,s:i,s:i,s:{s:i,s:I}}", "name", p->name, "file",
		p->file, "state", pl_instance_state_name(i->state), "births",
		(json_int_t)p->n_births, "waiting", n_waiting(p), "old_instances", n_retired(p),
		"retired", "arenas", retired, "bytes", (json_int_t)retired_bytes);

	if (!o)
		return NULL;
	if (i->card) {
		json_object_set_new(o, "source", json_string(i->card->source_kind));
		json_object_set_new(o, "sequential", json_boolean(i->card->is_sequential));
		json_object_set_new(o, "memory", json_integer((json_int_t)i->card->memory));
		json_object_set_new(o, "steps", steps_json(i));
	}
	if (i->team.is_born)
		add_team(o, i);
	if (i->state == PL_INSTANCE_FAILED && i->reason)
		json_object_set_new(o, "error", json_string(i->reason));
	if (p->refused)
		json_object_set_new(o, "refused", json_string(p->refused));
	return o;
}

char *pl_status_json(const struct pl_supervisor *s, const struct pl_peer *peer, const char *only)
{
	json_t *list = json_array(), *root;
	char *text;

	for (const struct pl_pipeline *p = s->pipelines; p; p = p->next)
		if (!p->is_gone && pl_pipeline_allows(p, peer) &&
			(!*only || s->options->is_job || strcmp(only, p->name) == 0))
			json_array_append_new(list, pipeline_json(p));
	root = json_pack("{s:s,s:i,s:f,s:b,s:o}", "version", PL_VERSION, "pid", (int)s->pid,
		"uptime_s", (double)(pl_now_ns() - s->started_ns) / NS_PER_S, "job",
		(int)s->options->is_job, "pipelines", list);
	text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	json_decref(root);
	return text;
}
