/* client/ctl/status.c - pipeloaderctl status: pipelines, their processes, their pace. */
#include "client/ctl/ctl.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int64_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
	const char *value = json_string_value(json_object_get(o, key));

	return value ? value : "";
}

/* What a worker is at: "decode_image of record 17 for 0.2 s". */
static void print_worker(const json_t *w)
{
	const json_t *since = json_object_get(w, "since_s");

	printf("    worker %-3" PRId64 " pid %-8" PRId64 " %-8s %12" PRId64 " samples",
		number(w, "worker"), number(w, "pid"), text(w, "state"), number(w, "samples"));
	if (json_object_get(w, "record"))
		printf("  %s of record %" PRId64, *text(w, "step") ? text(w, "step") : "reading",
			number(w, "record"));
	if (since)
		printf(" for %.1f s", json_real_value(since));
	putchar('\n');
}

static double total_ns(const json_t *steps)
{
	double total = 0;
	const json_t *step;
	size_t i;

	json_array_foreach(steps, i, step) total += (double)number(step, "ns");
	return total;
}

static void print_steps(const json_t *steps)
{
	double total = total_ns(steps);
	const json_t *step;
	size_t i;

	json_array_foreach(steps, i, step)
	{
		double ns = (double)number(step, "ns");
		int64_t count = number(step, "count");

		if (count)
			printf("    %-9s %-22s %12" PRId64 " times %9.1f us each %5.1f %%\n",
				text(step, "stage"), text(step, "name"), count,
				ns / 1e3 / (double)count, total > 0 ? 100 * ns / total : 0);
		else
			printf("    %-9s %-22s not run yet\n", text(step, "stage"),
				text(step, "name"));
	}
}

static void print_pace(const json_t *p)
{
	const json_t *slots = json_object_get(p, "slots");
	double age = json_number_value(json_object_get(p, "age_s"));

	printf("    %" PRId64 " samples, %" PRId64 " batches, %.1f MB", number(p, "samples"),
		number(p, "batches"), (double)number(p, "bytes") / 1e6);
	if (age > 0)
		printf(" in %.1f s", age);
	if (number(p, "bad"))
		printf(", %" PRId64 " bad", number(p, "bad"));
	printf("; slots: %" PRId64 " of %" PRId64 " free, %" PRId64 " lent; bottleneck: %s\n",
		number(slots, "free"), number(slots, "total"), number(slots, "lent"),
		*text(p, "bottleneck") ? text(p, "bottleneck") : "unknown");
}

static void print_pipeline(const json_t *p)
{
	const json_t *retired = json_object_get(p, "retired");
	const json_t *workers = json_object_get(p, "workers");
	const json_t *worker;
	size_t i;

	printf("%s: %s, %" PRId64 " %s  (%s)\n", text(p, "name"), text(p, "state"),
		number(p, "clients"), number(p, "clients") == 1 ? "client" : "clients",
		text(p, "file"));
	if (*text(p, "error"))
		printf("    failed: %s\n", text(p, "error"));
	if (*text(p, "refused"))
		printf("    reload refused, the old file goes on: %s\n", text(p, "refused"));
	if (json_is_true(json_object_get(p, "sequential")))
		printf("    sequential: no step runs in parallel\n");
	if (number(retired, "arenas"))
		printf("    retired: %" PRId64 " arenas, up to %.1f MB, still mapped by clients\n",
			number(retired, "arenas"), (double)number(retired, "bytes") / 1e6);
	if (!workers)
		return;
	printf("    birth %" PRId64 ", dispatcher pid %" PRId64 "\n", number(p, "birth"),
		number(json_object_get(p, "dispatcher"), "pid"));
	json_array_foreach(workers, i, worker) print_worker(worker);
	print_steps(json_object_get(p, "steps"));
	print_pace(p);
}

static int render(const char *answer)
{
	json_error_t fault;
	json_t *status = json_loads(answer, 0, &fault);
	const json_t *list = json_object_get(status, "pipelines");
	const json_t *pipeline;
	size_t i;

	if (!status) {
		fprintf(stderr, "pipeloaderctl: the daemon's status can't be read: %s\n",
			fault.text);
		return CTL_FAILED;
	}
	printf("pipeloaderd %s, pid %" PRId64 ", %zu %s\n", text(status, "version"),
		number(status, "pid"), json_array_size(list),
		json_array_size(list) == 1 ? "pipeline" : "pipelines");
	json_array_foreach(list, i, pipeline) print_pipeline(pipeline);
	json_decref(status);
	return CTL_OK;
}

static int run(const struct ctl_line *line)
{
	static struct pl_error error;
	struct pl_client_options options;
	char *answer;
	int status = CTL_OK;

	ctl_options(line, &options);
	if (pl_ask(line->n_words ? line->word[0] : NULL, &options, "status", "json", &answer,
		    &error))
		return ctl_say(&error);
	if (ctl_option(line, "--json"))
		printf("%s%s", answer, answer[0] && answer[strlen(answer) - 1] == '\n' ? "" : "\n");
	else
		status = render(answer);
	free(answer);
	return status;
}

static const struct ctl_option options[] = {
	{"--json", NULL, "as the daemon tells it"},
	CTL_SET,
	CTL_SOCKET,
};

const struct ctl_command ctl_status = {
	.name = "status",
	.words = "[NAME|FILE]",
	.help = "Shows a daemon's pipelines: processes, slots, time per step, what they hang on.\n"
		"Without a word: all pipelines of the machine's daemon. A FILE: its job daemon.",
	.words_max = 1,
	.options = options,
	.n_options = CTL_LEN(options),
	.run = run,
};
