/* client/ctl/cat.c - pipeloaderctl cat: batches as JSON, as NumPy files, or for people. */
#include "client/ctl/ctl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_STANDARD 1024
#define TOKEN_MAX       2048
#define NAMES_AT_ONCE   256

struct cat {
	const struct ctl_line *line;
	struct pl_client *client;
	bool is_json;
	bool is_trace;
	bool is_provenance;
	const char *npy;
	int64_t n_values;   /* -1: all */
	int64_t n_batches;  /* -1: all */
	int64_t timeout_ms; /* -1: for ever */
};

static struct pl_error error;

static bool read_line(struct cat *c, const struct ctl_line *line)
{
	const char *values = ctl_option(line, "--values");

	c->line = line;
	c->is_json = ctl_option(line, "--json");
	c->is_trace = ctl_option(line, "--trace");
	c->is_provenance = ctl_option(line, "--provenance");
	c->npy = ctl_option(line, "--npy");
	c->n_values = -1;
	if (!(values && strcmp(values, "all") == 0) &&
		!ctl_number(line, "--values", VALUES_STANDARD, &c->n_values))
		return false;
	if (!ctl_number(line, "--batches", -1, &c->n_batches) ||
		!ctl_number(line, "--timeout", -1, &c->timeout_ms))
		return false;
	if (c->timeout_ms <= INT32_MAX)
		return true;
	ctl_usage("--timeout wants at most %d ms", INT32_MAX);
	return false;
}

static void print_trace(const struct cat *c)
{
	const char *text;

	while ((text = pl_client_trace(c->client))) {
		if (c->is_json) {
			fputs("{\"trace\":", stdout);
			ctl_json_text(stdout, text, strlen(text));
			fputs("}\n", stdout);
		} else {
			printf("%s\n", text);
		}
	}
}

/* The names of a batch's samples; NULL after having said why. */
static char **find_names(const struct cat *c, const struct pl_batch *batch)
{
	const uint64_t *indices = pl_batch_indices(batch);
	size_t n = (size_t)pl_batch_size(batch);
	char **names = calloc(n + 1, sizeof(*names));

	if (!indices || !names) {
		fprintf(stderr,
			"pipeloaderctl: this pipeline's batches don't tell their records\n");
		free(names);
		return NULL;
	}
	for (size_t at = 0; at < n; at += NAMES_AT_ONCE) {
		size_t some = n - at < NAMES_AT_ONCE ? n - at : NAMES_AT_ONCE;

		if (pl_client_describe(c->client, indices + at, some, names + at, 30000, &error)) {
			ctl_say(&error);
			for (size_t i = 0; i < at; i++)
				free(names[i]);
			free(names);
			return NULL;
		}
	}
	return names;
}

static void print_provenance(const struct pl_batch *batch, char **names)
{
	for (uint64_t i = 0; i < pl_batch_size(batch); i++)
		printf("  %" PRIu64 " record %" PRIu64 " %s\n", i, pl_batch_indices(batch)[i],
			names[i]);
}

static int print_batch(const struct cat *c, const struct pl_batch *batch)
{
	char **names = c->is_provenance ? find_names(c, batch) : NULL;

	if (c->is_provenance && !names)
		return CTL_FAILED;
	if (c->is_json)
		ctl_json_batch(stdout, c->client, batch, c->n_values, names);
	else
		ctl_summary_batch(stdout, c->client, batch);
	if (names && !c->is_json)
		print_provenance(batch, names);
	for (uint64_t i = 0; names && i < pl_batch_size(batch); i++)
		free(names[i]);
	free(names);
	return c->npy ? ctl_npy_batch(c->npy, c->client, batch) : CTL_OK;
}

static int take(const struct cat *c, struct ctl_bad *bad)
{
	int status = CTL_OK;

	for (int64_t n = 0; status == CTL_OK && n != c->n_batches; n++) {
		const struct pl_batch *batch;
		int r = pl_client_next(c->client, (int)c->timeout_ms, &batch, &error);

		if (c->is_trace)
			print_trace(c);
		if (r == PL_END)
			return CTL_OK;
		if (r)
			return ctl_say(&error);
		ctl_bad_count(bad, batch);
		status = print_batch(c, batch);
		pl_batch_release(batch);
		if (fflush(stdout))
			return CTL_FAILED;
	}
	return status;
}

static int loop(const struct cat *c)
{
	struct ctl_bad bad = {0};
	int status = take(c, &bad);

	ctl_bad_say(&bad);
	return status;
}

static int save_state(const struct cat *c, const char *path)
{
	uint8_t token[TOKEN_MAX];
	size_t n = pl_client_state(c->client, token, sizeof(token));

	return ctl_file_write(path, token, n) ? CTL_OK : CTL_FAILED;
}

static int run(const struct ctl_line *line)
{
	const char *state_in = ctl_option(line, "--state-in");
	const char *state_out = ctl_option(line, "--state-out");
	struct pl_client_options options;
	struct cat cat = {0};
	uint8_t token[TOKEN_MAX];
	int status;

	ctl_options(line, &options);
	if (!read_line(&cat, line))
		return CTL_USAGE;
	if (state_in) {
		if (!ctl_file_read(state_in, token, sizeof(token), &options.token_bytes))
			return CTL_USAGE;
		options.token = token;
	}
	options.wants_trace = cat.is_trace;
	cat.client = ctl_open(line, &options, &status);
	if (!cat.client)
		return status;
	status = loop(&cat);
	if (state_out && save_state(&cat, state_out))
		status = CTL_FAILED;
	pl_client_close(cat.client);
	return status;
}

static const struct ctl_option options[] = {
	{"--batches", "N", "stop after N batches (default: at the stream's end)"},
	{"--json", NULL, "one line of JSON a batch"},
	{"--values", "N",
		"with --json: at most N values, or texts, a field (default 1024), or 'all'"},
	{"--provenance", NULL, "also which records the samples are"},
	{"--trace", NULL, "also the lines of `trace` steps; with --json as {\"trace\":\"...\"}"},
	{"--npy", "DIR", "write each field to DIR/batch-EPOCH-BATCH-FIELD.npy"},
	{"--timeout", "MS", "fail when a batch takes longer (default: wait for ever)"},
	{"--state-in", "F", "resume at the position in file F"},
	{"--state-out", "F", "write the position behind the last batch to file F"},
	CTL_SET,
	CTL_SOCKET,
};

const struct ctl_command ctl_cat = {
	.name = "cat",
	.words = "FILE|NAME",
	.help = "Prints batches.",
	.words_min = 1,
	.words_max = 1,
	.options = options,
	.n_options = CTL_LEN(options),
	.run = run,
};
