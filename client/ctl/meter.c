/* client/ctl/meter.c - how fast it goes, on stderr: a bar, or a line every two seconds. */
#include "client/ctl/ctl.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 24
#define BAR_MS    200
#define LINE_MS   2000
#define STATUS_MS 1000 /* the daemon is not asked more often */

int64_t ctl_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

uint64_t ctl_batch_bytes(const struct pl_client *client, const struct pl_batch *batch)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < pl_client_n_fields(client); i++) {
		bytes += (uint64_t)pl_tensor_bytes(pl_batch_tensor_at(batch, i));
		if (pl_batch_offsets(batch, i))
			bytes += (pl_batch_size(batch) + 1) * sizeof(int64_t);
	}
	return bytes;
}

/* What the throughput hangs on, as the daemon sees it; "" when it doesn't tell. */
static void find_bottleneck(struct ctl_meter *m)
{
	struct pl_client_options options;
	const char *found = NULL;
	json_t *status = NULL;
	char *text = NULL;

	ctl_options(m->line, &options);
	options.open_timeout_ms = 1000;
	if (pl_ask(m->line->word[0], &options, "status", "json", &text, NULL) == 0)
		status = json_loads(text, 0, NULL);
	found = json_string_value(json_object_get(
		json_array_get(json_object_get(status, "pipelines"), 0), "bottleneck"));
	snprintf(m->bottleneck, sizeof(m->bottleneck), "%s", found ? found : "");
	json_decref(status);
	free(text);
}

void ctl_meter_start(
	struct ctl_meter *m, const struct ctl_line *line, const struct pl_client *client)
{
	memset(m, 0, sizeof(*m));
	m->line = line;
	m->client = client;
	m->is_terminal = isatty(STDERR_FILENO);
	m->started_ms = m->shown_ms = ctl_now_ms();
}

/* The share of all batches that is done; negative when that can't be known. */
static double share_done(const struct ctl_meter *m)
{
	int64_t epochs = pl_client_epochs(m->client);
	int64_t n = pl_client_batches_per_epoch(m->client);

	return epochs > 0 && n > 0 ? (double)m->batches / ((double)epochs * (double)n) : -1;
}

static void show_bar(double share)
{
	int full = (int)(share * BAR_WIDTH);

	if (share < 0)
		return;
	full = full > BAR_WIDTH ? BAR_WIDTH : full;
	fputc('[', stderr);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < full ? '#' : '.', stderr);
	fprintf(stderr, "] %3.0f %%  ", share * 100);
}

static void show(struct ctl_meter *m, int64_t now)
{
	double seconds = (double)(now - m->shown_ms) / 1000;

	if (m->is_terminal) {
		fputs("\r\033[K", stderr);
		show_bar(share_done(m));
	}
	fprintf(stderr, "%" PRIu64 " samples  %.0f samples/s  %.1f MB/s", m->samples,
		(double)(m->samples - m->shown_samples) / seconds,
		(double)(m->bytes - m->shown_bytes) / 1e6 / seconds);
	if (m->bottleneck[0] && strcmp(m->bottleneck, "none") != 0)
		fprintf(stderr, "  bottleneck: %s", m->bottleneck);
	if (!m->is_terminal)
		fputc('\n', stderr);
	fflush(stderr);
	m->shown_ms = now;
	m->shown_samples = m->samples;
	m->shown_bytes = m->bytes;
}

void ctl_bad_count(struct ctl_bad *bad, const struct pl_batch *batch)
{
	if (pl_batch_epoch(batch) != bad->epoch) {
		bad->before += bad->in_epoch;
		bad->epoch = pl_batch_epoch(batch);
	}
	bad->in_epoch = pl_batch_bad(batch);
}

void ctl_bad_say(const struct ctl_bad *bad)
{
	uint64_t n = bad->before + bad->in_epoch;

	if (n)
		fprintf(stderr,
			"%" PRIu64 " bad sample%s met and treated as on_error says: the daemon's "
			"log names them\n",
			n, n == 1 ? " was" : "s were");
}

void ctl_meter_count(struct ctl_meter *m, const struct pl_batch *batch)
{
	int64_t now = ctl_now_ms();

	m->samples += pl_batch_size(batch);
	m->bytes += ctl_batch_bytes(m->client, batch);
	m->batches++;
	ctl_bad_count(&m->bad, batch);
	if (now - m->asked_ms >= STATUS_MS && now - m->started_ms >= STATUS_MS / 2) {
		m->asked_ms = now;
		find_bottleneck(m);
	}
	if (now - m->shown_ms >= (m->is_terminal ? BAR_MS : LINE_MS))
		show(m, now);
}

void ctl_meter_end(struct ctl_meter *m)
{
	double seconds = (double)(ctl_now_ms() - m->started_ms) / 1000;

	seconds = seconds > 0 ? seconds : 0.001;
	find_bottleneck(m);
	if (m->is_terminal)
		fputs("\r\033[K", stderr);
	printf("%" PRIu64 " samples in %" PRIu64 " batches in %.2f s: %.0f samples/s, %.1f MB/s",
		m->samples, m->batches, seconds, (double)m->samples / seconds,
		(double)m->bytes / 1e6 / seconds);
	if (m->bottleneck[0] && strcmp(m->bottleneck, "none") != 0)
		printf(", bottleneck %s", m->bottleneck);
	putchar('\n');
	ctl_bad_say(&m->bad);
}
