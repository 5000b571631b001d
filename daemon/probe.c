/* daemon/probe.c - reads, checks and types one pipeline file: the sealed plan, or every error. */
#include <errno.h>
#include <stdio.h>

#include "daemon/task.h"

static int answer(
	const struct pl_probe_order *order, struct pl_probe_result *head, const char *text, int fd)
{
	return pl_task_answer(order->out, head, text, fd) < 0 ? 1 : 0;
}

/* Names of `allow` that nobody has are no error, for the file may be meant for many machines; they
 * are told. */
static char *warnings_with(const char *warnings, const struct pl_plan *plan, const char *unknown)
{
	char *text = NULL;

	if (!unknown[0])
		return strdup(warnings);
	if (asprintf(&text, "%s%s%s: warning: serve: allow: not known on this machine: %s",
		    warnings, *warnings ? "\n" : "", plan->file, unknown) < 0)
		return NULL;
	return text;
}

static int answer_plan(
	const struct pl_probe_order *order, const struct pl_plan *plan, const char *warnings)
{
	struct pl_probe_result head = {0};
	char unknown[1024], text[256];
	PL_AUTO_CLOSE int fd = pl_plan_seal(plan);
	PL_AUTO_FREE char *told = NULL;

	if (fd < 0) {
		head.exit_status = 1;
		snprintf(text, sizeof(text), "%s: the plan can't be sealed: %s", order->path,
			strerror(-fd));
		return answer(order, &head, text, -1);
	}
	pl_allow_resolve(&head.allow, &plan->allow, unknown, sizeof(unknown));
	told = warnings_with(warnings, plan, unknown);
	return answer(order, &head, told ? told : warnings, fd);
}

int pl_probe_run(const struct pl_probe_order *order)
{
	struct pl_probe_result head = {.exit_status = 78};
	struct pl_diag *diag = pl_diag_create();
	struct pl_plan *plan =
		diag ? pl_plan_read(order->path, order->settings, order->n_settings, diag) : NULL;
	PL_AUTO_FREE char *text = diag ? pl_diag_render(diag) : NULL;

	if (!text) {
		head.exit_status = 1;
		return answer(order, &head, "out of memory", -1);
	}
	return plan ? answer_plan(order, plan, text) : answer(order, &head, text, -1);
}
