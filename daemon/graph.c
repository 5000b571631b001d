/* daemon/graph.c - the graph of a pipeline that runs, drawn by a child. */
#include "daemon/graph.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/member.h"
#include "daemon/plan/dump.h"
#include "daemon/status.h"
#include "daemon/sys/log.h"

#define GRAPH_MS 10000

struct pl_graph {
	struct pl_graph *next;
	struct pl_supervisor *supervisor;
	struct pl_task task;
	uint64_t visitor; /* its number: it may leave meanwhile */
};

/* What the child needs; numbers are taken before the fork, for it has no part in the progress page.
 */
struct order {
	int out;
	int plan_fd;
	enum pl_dump_format format;
	bool is_running;
	struct pl_dump_live live;
	int pid[PL_PROGRESS_WORKERS];
	uint64_t ns[PL_PROGRESS_STEPS];
	uint64_t count[PL_PROGRESS_STEPS];
};

static int run_graph(void *context)
{
	struct order *o = context;
	struct pl_probe_result head = {0};
	struct pl_err err = {0};
	struct pl_plan *plan = pl_plan_load(o->plan_fd, &err);
	char *text = NULL;
	size_t n;
	FILE *out = plan ? open_memstream(&text, &n) : NULL;

	if (out) {
		pl_dump_plan(out, plan, o->format, o->is_running ? &o->live : NULL);
		if (fclose(out) != 0)
			return 1;
	}
	head.exit_status = text ? 0 : 1;
	return pl_task_answer(o->out, &head, text ? text : err.text, -1) < 0;
}

static void take_numbers(struct order *o, const struct pl_instance *i)
{
	const struct pl_team *team = &i->team;

	o->is_running = team->is_born;
	if (!o->is_running)
		return;
	o->live = (struct pl_dump_live){.dispatcher_pid = (int)team->dispatcher,
		.n_workers = (int)team->n_workers,
		.worker_pid = o->pid,
		.step_ns = o->ns,
		.step_count = o->count};
	o->live.seconds = (double)(pl_now_ns() - atomic_load(&team->birth.progress->born_ns)) / 1e9;
	for (uint32_t w = 0; w < team->n_workers; w++)
		o->pid[w] = (int)team->worker[w].pid;
	for (uint32_t step = 0; step < PL_PROGRESS_STEPS; step++) {
		struct pl_step_sum sum =
			pl_status_step(team->birth.progress, team->n_workers, step);

		o->ns[step] = sum.ns;
		o->count[step] = sum.count;
	}
}

static void forget(struct pl_graph *graph)
{
	struct pl_graph **at = &graph->supervisor->graphs;

	while (*at != graph)
		at = &(*at)->next;
	*at = graph->next;
	free(graph);
}

static void on_drawn(struct pl_task *task, void *context)
{
	struct pl_graph *graph = context;
	struct pl_visitor *v = graph->supervisor->visitors;

	while (v && v->number != graph->visitor)
		v = v->next;
	forget(graph);
	if (!v || v->state != PL_VISITOR_ASKED)
		return;
	if (task->head.exit_status) {
		pl_visitor_error(v, -EIO, 1, task->text ? task->text : "out of memory");
		return;
	}
	pl_visitor_answer(v, 0, 0, task->text);
	task->text = NULL;
}

static int format_of(const char *name, enum pl_dump_format *format)
{
	static const char *const names[] = {"text", "dot", "json"};

	*format = PL_DUMP_TEXT;
	if (!*name)
		return 0;
	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*format = (enum pl_dump_format)i;
		return 0;
	}
	return -EINVAL;
}

static int start(struct pl_visitor *v, const struct pl_instance *i, struct order *order)
{
	struct pl_supervisor *s = v->supervisor;
	struct pl_graph *graph = calloc(1, sizeof(*graph));
	struct pl_child child = {.name = "pl:graph",
		.role = "graph",
		.run = run_graph,
		.context = order,
		.n_keep = 2,
		.keep = {&order->out, &order->plan_fd}};
	int r;

	if (!graph)
		return -ENOMEM;
	order->plan_fd = i->plan_fd;
	take_numbers(order, i);
	*graph = (struct pl_graph){.next = s->graphs, .supervisor = s, .visitor = v->number};
	graph->task = (struct pl_task){.supervisor = s,
		.what = "graph",
		.timeout_ms = GRAPH_MS,
		.done = on_drawn,
		.context = graph,
		.socket = -1,
		.fd = -1};
	r = pl_task_start(&graph->task, &child, &order->out);
	if (r < 0)
		free(graph);
	else
		s->graphs = graph;
	return r;
}

void pl_graph_draw(struct pl_visitor *v, struct pl_pipeline *p, const char *format)
{
	static struct order order; /* too large for the stack; the child has its copy */
	int n = 0, r;

	for (const struct pl_graph *g = v->supervisor->graphs; g; g = g->next)
		n++;
	order = (struct order){0};
	if (format_of(format, &order.format) < 0) {
		pl_visitor_error(v, -EINVAL, 64, "format: text, dot or json");
	} else if (p->now->plan_fd < 0) {
		pl_visitor_error(v, -EINVAL, p->now->exit_status ? p->now->exit_status : 1,
			p->now->reason ? p->now->reason : "the pipeline's file is being checked");
	} else if (n >= PL_GRAPHS_MAX) {
		pl_visitor_error(v, -EBUSY, 1, "too many graphs are being drawn");
	} else {
		r = start(v, p->now, &order);
		if (r < 0)
			pl_visitor_error(v, r, 1, strerror(-r));
		else
			pl_visitor_keep(v, PL_VISITOR_ASKED);
	}
}

void pl_graph_finish(struct pl_supervisor *s)
{
	while (s->graphs) {
		pl_task_cancel(&s->graphs->task);
		forget(s->graphs);
	}
}
