/* daemon/plan/dump_dot.c - a plan for Graphviz: one box a process, one node a step. */
#include <inttypes.h>

#include "daemon/plan/describe.h"

/* A label's text: quotes and backslashes escaped. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_step(FILE *out, const struct pl_plan *plan, const struct pl_step *step,
	const struct pl_dump_live *live)
{
	char value[120];
	char type[300];

	fprintf(out, "    s%d [label=\"", step->id);
	if (step->view[0])
		fprintf(out, "%s: ", step->view);
	fputs(step->op->name, out);
	if (pl_describe_value(step, value, sizeof(value))[0]) {
		fputs(": ", out);
		print_escaped(out, value);
	}
	if (step->p < 1)
		fprintf(out, " (p %g)", step->p);
	for (int k = 0; k < step->n; k++)
		fprintf(out, "\\n%s%s%s: %s%s", plan->field_name[step->in[k]],
			step->in[k] == step->out[k] ? "" : " -> ",
			step->in[k] == step->out[k] ? "" : plan->field_name[step->out[k]],
			pl_type_format(type, sizeof(type), &step->type[k]),
			step->writes_row[k] ? " (into the batch)" : "");
	if (live)
		fprintf(out, "\\n%.0f/s, %.1f%%", pl_describe_rate(live, step->id),
			100 * pl_describe_share(plan, live, step->id));
	fputs("\"];\n", out);
}

/* Nodes of a list, inner lists as boxes in it. Returns nothing: edges come later, in file order. */
static void print_nodes(FILE *out, const struct pl_plan *plan, const struct pl_step_list *list,
	const struct pl_dump_live *live)
{
	for (int i = 0; i < list->n; i++) {
		const struct pl_step *step = &list->step[i];

		if (step->pass.at == 1)
			fprintf(out,
				"    subgraph cluster_p%d {\n    label=\"one pass\"; "
				"style=dotted;\n",
				step->id);
		print_step(out, plan, step, live);
		if (step->pass.n > 1 && step->pass.at == step->pass.n)
			fputs("    }\n", out);
		for (int k = 0; k < step->n_lists; k++) {
			fprintf(out,
				"    subgraph cluster_s%d_%d {\n    label=\"%s %d\"; "
				"style=dashed;\n",
				step->id, k, step->op->name, k + 1);
			print_nodes(out, plan, &step->list[k], live);
			fputs("    }\n", out);
		}
	}
}

/* Edges along a list, from the node named `last`; leaves the last node's name there. */
static void print_edges(FILE *out, const struct pl_step_list *list, char *last, size_t n)
{
	for (int i = 0; i < list->n; i++) {
		const struct pl_step *step = &list->step[i];

		fprintf(out, "  %s -> s%d;\n", last, step->id);
		snprintf(last, n, "s%d", step->id);
		for (int k = 0; k < step->n_lists; k++) {
			char inner[32];

			snprintf(inner, sizeof(inner), "s%d", step->id);
			print_edges(out, &step->list[k], inner, sizeof(inner));
		}
	}
}

static void print_process(FILE *out, const char *id, const char *label, int pid)
{
	fprintf(out, "  subgraph cluster_%s {\n    label=\"%s", id, label);
	if (pid > 0)
		fprintf(out, ", pid %d", pid);
	fputs("\";\n", out);
}

static void print_client(FILE *out, const struct pl_plan *plan)
{
	fputs("  client [shape=ellipse, label=\"client", out);
	for (int i = 0; i < plan->n_results; i++) {
		struct pl_type type = pl_describe_result(plan, &plan->result[i]);
		char text[300];

		fprintf(out, "\\n%s: %s", plan->result[i].name,
			pl_type_format(text, sizeof(text), &type));
	}
	fputs("\"];\n", out);
}

void pl_dump_dot(FILE *out, const struct pl_plan *plan, const struct pl_dump_live *live)
{
	char last[32] = "source";
	char workers[64];

	snprintf(workers, sizeof(workers), "%" PRId64 " worker%s", plan->n_workers,
		plan->n_workers == 1 ? "" : "s");
	fprintf(out, "digraph \"%s\" {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans\"];\n",
		plan->name);
	fprintf(out, "  source [shape=ellipse, label=\"source %s\"];\n", plan->source.op->name);
	print_process(out, "pre", "dispatcher: pre_main", live ? live->dispatcher_pid : 0);
	print_nodes(out, plan, &plan->pre, live);
	fputs("  }\n", out);
	print_process(
		out, "worker", workers, live && live->n_workers == 1 ? live->worker_pid[0] : 0);
	fputs("    read [label=\"read\"];\n", out);
	print_nodes(out, plan, &plan->worker, live);
	fputs("  }\n", out);
	print_process(out, "post", "dispatcher: post_main", live ? live->dispatcher_pid : 0);
	print_nodes(out, plan, &plan->post, live);
	fputs("  }\n", out);
	print_client(out, plan);
	print_edges(out, &plan->pre, last, sizeof(last));
	fprintf(out, "  %s -> read;\n", last);
	snprintf(last, sizeof(last), "read");
	print_edges(out, &plan->worker, last, sizeof(last));
	print_edges(out, &plan->post, last, sizeof(last));
	fprintf(out, "  %s -> client;\n}\n", last);
}
