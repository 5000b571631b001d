/* daemon/check.c - checks and draws a pipeline file in this process. */
#include "daemon/check.h"

#include <errno.h>

#include "daemon/kit/listing.h"

/* The plan, with what was to be told on stderr. *status: what to exit with if there is none. */
static struct pl_plan *read_plan(const struct pl_check_order *order, int *status)
{
	struct pl_diag *diag = pl_diag_create();
	struct pl_plan *plan =
		diag ? pl_plan_read(order->file, order->settings, order->n_settings, diag) : NULL;
	PL_AUTO_FREE char *text = diag ? pl_diag_render(diag) : NULL;
	size_t n = text ? strlen(text) : 0;

	*status = text ? 78 : 1;
	if (n)
		fprintf(stderr, "%s%s", text, text[n - 1] == '\n' ? "" : "\n");
	else if (!text)
		fprintf(stderr, "pipeloaderd: out of memory\n");
	pl_diag_destroy(diag);
	return plan;
}

/* 0, or 78 when the source has nothing to read. */
static int first_record(const struct pl_plan *plan)
{
	struct pl_listing_writer writer;
	struct pl_err err = {0};
	int r;

	if (!plan->source.op->list_first)
		return 0;
	pl_listing_writer_init(&writer);
	r = plan->source.op->list_first(plan->source.params, plan->dir, &writer, &err);
	pl_listing_writer_finish(&writer);
	if (r == 0)
		return 0;
	fprintf(stderr, "%s:%d:%d: error: source '%s': %s\n", plan->file, plan->source.at.line,
		plan->source.at.column, plan->source.name, err.code ? err.text : strerror(-r));
	return 78;
}

static int print(const struct pl_plan *plan, enum pl_dump_format format)
{
	int r = pl_dump_plan(stdout, plan, format, NULL);

	return r < 0 || fflush(stdout) != 0 ? 1 : 0;
}

int pl_check_run(const struct pl_check_order *order)
{
	int status;
	struct pl_plan *plan = read_plan(order, &status);

	if (!plan)
		return status;
	status = first_record(plan);
	if (status == 0)
		status = print(plan, PL_DUMP_TEXT);
	pl_plan_destroy(plan);
	return status;
}

int pl_check_graph(const struct pl_check_order *order)
{
	int status;
	struct pl_plan *plan = read_plan(order, &status);

	if (!plan)
		return status;
	status = print(plan, order->format);
	pl_plan_destroy(plan);
	return status;
}
