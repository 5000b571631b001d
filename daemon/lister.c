/* daemon/lister.c - lists a plan's source, once: the sealed listing, or the reason why there is
 * none. */
#include <errno.h>
#include <stdio.h>

#include "daemon/kit/listing.h"
#include "daemon/task.h"

static int refuse(const struct pl_lister_order *order, int exit_status, const char *text)
{
	struct pl_probe_result head = {.exit_status = exit_status};

	return pl_task_answer(order->out, &head, text, -1) < 0 ? 1 : 0;
}

/* 0 with *fd open, or -errno with err. */
static int list(const struct pl_plan *plan, int *fd, struct pl_err *err)
{
	struct pl_listing_writer writer;
	int r;

	pl_listing_writer_init(&writer);
	r = plan->source.op->list(plan->source.params, plan->dir, &writer, err);
	if (r == 0) {
		*fd = pl_listing_seal(&writer);
		if (*fd < 0)
			r = pl_err_set(err, *fd, "the listing can't be sealed: %s", strerror(-*fd));
	}
	pl_listing_writer_finish(&writer);
	if (r < 0 && err->code == 0)
		pl_err_set(err, r, "%s", strerror(-r));
	return r;
}

int pl_lister_run(const struct pl_lister_order *order)
{
	struct pl_probe_result head = {0};
	struct pl_err err = {0};
	struct pl_plan *plan = pl_plan_load(order->plan_fd, &err);
	int fd = -1, r;

	if (!plan)
		return refuse(order, 1, err.text);
	r = list(plan, &fd, &err);
	if (r < 0) {
		pl_err_prefix(&err, "%s:%d:%d: source '%s': ", plan->file, plan->source.at.line,
			plan->source.at.column, plan->source.name);
		return refuse(order, r == -ENOMEM ? 1 : 78, err.text);
	}
	return pl_task_answer(order->out, &head, err.text, fd) < 0 ? 1 : 0;
}
