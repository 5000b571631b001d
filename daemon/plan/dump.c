/* daemon/plan/dump.c - a plan as text: which step runs where, on which fields. */
#include "daemon/plan/dump.h"

#include <errno.h>
#include <inttypes.h>

#include "daemon/plan/describe.h"
#include "daemon/plan/format.h"

#define NAME_WIDTH 34

int pl_dump_plan(FILE *out, const struct pl_plan *plan, enum pl_dump_format format,
	const struct pl_dump_live *live)
{
	switch (format) {
	case PL_DUMP_TEXT:
		pl_dump_text(out, plan, live);
		return 0;
	case PL_DUMP_DOT:
		pl_dump_dot(out, plan, live);
		return 0;
	case PL_DUMP_JSON:
		return pl_dump_json(out, plan, live);
	}
	return -EINVAL;
}

/* "data -> image: image u8 [?, ?, 3]", or "image: ..." in place. */
static void print_pair(FILE *out, const struct pl_plan *plan, const struct pl_step *step, int k)
{
	const char *from = plan->field_name[step->in[k]];
	const char *to = plan->field_name[step->out[k]];
	char type[300];

	fprintf(out, "%s%s%s: %s", from, step->in[k] == step->out[k] ? "" : " -> ",
		step->in[k] == step->out[k] ? "" : to,
		pl_type_format(type, sizeof(type), &step->type[k]));
	if (step->writes_row[k])
		fputs(plan->layout.needs_cells ? "  => cell" : "  => row", out);
}

/* To the column of types, at least two blanks. */
static void print_gap(FILE *out, int width)
{
	fprintf(out, "%*s", width > 0 ? width + 2 : 2, "");
}

static void print_live(FILE *out, const struct pl_plan *plan, const struct pl_step *step,
	const struct pl_dump_live *live)
{
	if (live)
		fprintf(out, "%8.0f/s %5.1f%%  ", pl_describe_rate(live, step->id),
			100 * pl_describe_share(plan, live, step->id));
}

static void print_list(FILE *out, const struct pl_plan *plan, const struct pl_step_list *list,
	int depth, const struct pl_dump_live *live);

static void print_step(FILE *out, const struct pl_plan *plan, const struct pl_step *step, int depth,
	const struct pl_dump_live *live)
{
	char label[256];
	char value[120];
	char pass[40];
	int n;

	pl_describe_value(step, value, sizeof(value));
	n = snprintf(label, sizeof(label), "%s%s%s%s%s", step->view, step->view[0] ? ": " : "",
		step->op->name, value[0] ? ": " : "", value);
	if (step->p < 1 && n > 0 && (size_t)n < sizeof(label))
		snprintf(label + n, sizeof(label) - (size_t)n, " (p %g)", step->p);
	fprintf(out, "  %3d  ", step->id);
	print_live(out, plan, step, live);
	fprintf(out, "%*s%s", 2 * depth, "", label);
	for (int k = 0; k < step->n; k++) {
		if (k > 0)
			fprintf(out, "\n  %3s  %*s%*s", "", live ? 18 : 0, "", 2 * depth, "");
		print_gap(out, NAME_WIDTH - 2 * depth - (k ? 0 : (int)strlen(label)));
		print_pair(out, plan, step, k);
	}
	if (pl_describe_pass(step, pass, sizeof(pass))[0])
		fprintf(out, "  (%s)", pass);
	fputc('\n', out);
	for (int i = 0; i < step->n_lists; i++) {
		if (strcmp(step->op->name, "one_of") == 0)
			fprintf(out, "  %3s  %*s%*sbranch %d, weight %g\n", "", live ? 18 : 0, "",
				2 * depth + 2, "", i + 1, step->list[i].weight);
		print_list(out, plan, &step->list[i], depth + 2, live);
	}
}

static void print_list(FILE *out, const struct pl_plan *plan, const struct pl_step_list *list,
	int depth, const struct pl_dump_live *live)
{
	for (int i = 0; i < list->n; i++)
		print_step(out, plan, &list->step[i], depth, live);
}

static void print_head(FILE *out, const struct pl_plan *plan)
{
	char memory[32];
	char slot[32];
	char epochs[32] = "forever";

	if (plan->epochs > 0)
		snprintf(epochs, sizeof(epochs), "%" PRId64, plan->epochs);
	fprintf(out, "pipeline %s\n", plan->name);
	fprintf(out, "  seed %" PRIu64 ", epochs %s, dispatch %s\n", plan->seed, epochs,
		plan->dispatch == PL_DISPATCH_STRICT ? "strict" : "round_robin");
	fprintf(out, "  memory %s, one batch %s\n",
		pl_format_bytes(memory, sizeof(memory), (uint64_t)plan->memory),
		pl_format_bytes(slot, sizeof(slot), plan->layout.slot_bytes));
	if (plan->is_sequential)
		fputs("  sequential: workers: none, one process does all reading and all steps\n",
			out);
}

static void print_source(FILE *out, const struct pl_plan *plan)
{
	const struct pl_source_use *use = &plan->source;
	char type[300];

	fprintf(out, "\nsource %s", use->op->name);
	if (strcmp(use->name, use->op->name) != 0)
		fprintf(out, " (%s)", use->name);
	fputc('\n', out);
	for (int i = 0; i < use->n_fields; i++)
		fprintf(out, "       %-*s  %s%s\n", NAME_WIDTH, use->declared[i].name,
			pl_type_format(type, sizeof(type), &use->declared[i].type),
			use->field[i] < 0 ? "  (not used: not read)" : "");
}

static void print_dispatcher(FILE *out, const struct pl_dump_live *live)
{
	fputs("\ndispatcher", out);
	if (live)
		fprintf(out, ", pid %d", live->dispatcher_pid);
}

static void print_workers(FILE *out, const struct pl_plan *plan, const struct pl_dump_live *live)
{
	fprintf(out, "\nworker x %" PRId64 ", prefetch %" PRId64, plan->n_workers,
		plan->worker_prefetch);
	for (int i = 0; live && i < live->n_workers; i++)
		fprintf(out, "%s%d", i ? " " : ", pid ", live->worker_pid[i]);
	fputs(": workers\n", out);
	fputs("       read\n", out);
	print_list(out, plan, &plan->worker, 0, live);
}

static void print_results(FILE *out, const struct pl_plan *plan)
{
	fputs("\nclient", out);
	if (plan->layout.has_batch)
		fprintf(out, ": batches of %" PRId64 "%s\n", plan->layout.batch_size,
			plan->layout.drop_last ? "" : ", the last one shorter");
	else
		fputs(": one sample at a time\n", out);
	for (int i = 0; i < plan->n_results; i++) {
		const struct pl_result_field *r = &plan->result[i];
		const struct pl_delivery *d = pl_describe_delivery(plan, r->field);
		struct pl_type type = pl_describe_result(plan, r);
		char shape[300];
		char way[200] = "made by a step after batch";
		char label[500];

		if (d)
			pl_describe_way(plan, d, way, sizeof(way));
		snprintf(label, sizeof(label), "%s: %s %s%s", r->name, pl_dtype_name(type.dtype),
			pl_shape_format(shape, sizeof(shape), type.rank, type.shape),
			r->form == PL_FORM_RAGGED ? " each, with offsets" : "");
		fprintf(out, "       %-*s  %s\n", NAME_WIDTH, label, way);
	}
}

void pl_dump_text(FILE *out, const struct pl_plan *plan, const struct pl_dump_live *live)
{
	print_head(out, plan);
	print_source(out, plan);
	print_dispatcher(out, live);
	fputs(": pre_main\n", out);
	print_list(out, plan, &plan->pre, 0, live);
	print_workers(out, plan, live);
	print_dispatcher(out, live);
	fprintf(out, ", prefetch %" PRId64 ": post_main\n", plan->post_prefetch);
	print_list(out, plan, &plan->post, 0, live);
	print_results(out, plan);
}
