/* client/ctl/try.c - pipeloaderctl try: the first batch, then the stream as fast as it goes. */
#include "client/ctl/ctl.h"

#include <inttypes.h>

static struct pl_error error;

static void print_first(const struct pl_client *client, const struct pl_batch *batch)
{
	printf("%s: %" PRId64 " records, daemon %d, dispatcher %d\n", pl_client_pipeline(client),
		pl_client_records(client), pl_client_daemon_pid(client),
		pl_client_dispatcher_pid(client));
	printf("first batch, %" PRIu64 " samples:\n", pl_batch_size(batch));
	for (size_t i = 0; i < pl_client_n_fields(client); i++) {
		fputs("  ", stdout);
		ctl_summary_field(stdout, client, batch, i);
		putchar('\n');
	}
	fflush(stdout);
}

/* 0 at the stream's end or after n batches (-1: all), else the status to exit with. */
static int drain(struct ctl_meter *meter, struct pl_client *client, int64_t n)
{
	for (int64_t i = 0; i != n; i++) {
		const struct pl_batch *batch;
		int r = pl_client_next(client, -1, &batch, &error);

		if (r == PL_END)
			return CTL_OK;
		if (r)
			return ctl_say(&error);
		if (i == 0)
			print_first(client, batch);
		ctl_meter_count(meter, batch);
		pl_batch_release(batch);
	}
	return CTL_OK;
}

static int run(const struct ctl_line *line)
{
	struct pl_client_options options;
	struct pl_client *client;
	struct ctl_meter meter;
	int64_t n;
	int status;

	if (!ctl_number(line, "--batches", -1, &n))
		return CTL_USAGE;
	ctl_options(line, &options);
	client = ctl_open(line, &options, &status);
	if (!client)
		return status;
	ctl_meter_start(&meter, line, client);
	status = drain(&meter, client, n);
	if (status == CTL_OK)
		ctl_meter_end(&meter);
	pl_client_close(client);
	return status;
}

static const struct ctl_option options[] = {
	{"--batches", "N", "stop after N batches (default: at the stream's end)"},
	CTL_SET,
	CTL_SOCKET,
};

const struct ctl_command ctl_try = {
	.name = "try",
	.words = "FILE|NAME",
	.help = "Shows the first batch, then runs the stream and tells how fast it goes and what "
		"it hangs on.",
	.words_min = 1,
	.words_max = 1,
	.options = options,
	.n_options = CTL_LEN(options),
	.run = run,
};
