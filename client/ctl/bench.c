/* client/ctl/bench.c - pipeloaderctl bench: how fast batches arrive, with one client or several. */
#include "client/ctl/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX 64
#define PAGE_BYTES  4096

/* What one client counts; each has a thread and a stream of its own. */
struct bencher {
	struct bench *bench;
	pthread_t thread;
	struct pl_client *client;
	struct pl_error error;
	int result;
	uint64_t samples;
	uint64_t batches;
	uint64_t bytes;
	uint64_t touched;
	double ended; /* when its stream did; 0: it did not */
};

struct bench {
	const struct ctl_line *line;
	int64_t seconds;
	int64_t n_clients;
	enum pl_client_mode mode;
	atomic_bool is_over;
	struct bencher one[CLIENTS_MAX];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One byte of each page, so that memory which nobody would have fetched is fetched. */
static void touch(struct bencher *b, const struct pl_tensor *t)
{
	const uint8_t *data = t->data;
	int64_t n = pl_tensor_is_contiguous(t) ? pl_tensor_bytes(t) : 0;

	for (int64_t i = 0; i < n; i += PAGE_BYTES)
		b->touched += data[i];
}

static void count(struct bencher *b, const struct pl_batch *batch)
{
	for (size_t i = 0; i < pl_client_n_fields(b->client); i++)
		touch(b, pl_batch_tensor_at(batch, i));
	b->samples += pl_batch_size(batch);
	b->bytes += ctl_batch_bytes(b->client, batch);
	b->batches++;
}

static void *run_client(void *data)
{
	struct bencher *b = data;

	do {
		const struct pl_batch *batch;

		b->result = pl_client_next(b->client, 200, &batch, &b->error);
		if (b->result == 0) {
			count(b, batch);
			pl_batch_release(batch);
		}
	} while ((b->result == 0 || b->result == -ETIMEDOUT) &&
		 !atomic_load_explicit(&b->bench->is_over, memory_order_relaxed));
	b->ended = now();
	return NULL;
}

static int open_clients(struct bench *bench)
{
	int status = CTL_OK;

	for (int64_t i = 0; i < bench->n_clients; i++) {
		struct pl_client_options options;

		ctl_options(bench->line, &options);
		options.mode = bench->mode;
		options.group = "bench";
		options.rank = (uint32_t)i;
		options.world_size = (uint32_t)bench->n_clients;
		options.members = bench->mode == PL_MODE_BROADCAST ? (uint32_t)bench->n_clients : 0;
		bench->one[i].bench = bench;
		bench->one[i].client = ctl_open(bench->line, &options, &status);
		if (!bench->one[i].client)
			return status;
	}
	return CTL_OK;
}

/* Lets the clients run for the time, or until all their streams have ended; returns the seconds it
 * took. */
static double measure(struct bench *bench)
{
	double started = now();
	double ended = 0;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += bench->seconds;
	for (int64_t i = 0; i < bench->n_clients; i++)
		if (pthread_create(&bench->one[i].thread, NULL, run_client, &bench->one[i]))
			abort();
	for (int64_t i = 0; i < bench->n_clients; i++) {
		if (pthread_clockjoin_np(bench->one[i].thread, NULL, CLOCK_MONOTONIC, &until)) {
			atomic_store(&bench->is_over, true);
			pthread_join(bench->one[i].thread, NULL);
		}
		if (bench->one[i].ended > ended)
			ended = bench->one[i].ended;
	}
	return ended - started;
}

static double cpu_seconds(const struct bench *bench)
{
	return ctl_cpu_seconds(pl_client_daemon_pid(bench->one[0].client)) +
	       ctl_cpu_seconds((int)getpid());
}

static int report(const struct bench *bench, double seconds, double cpu)
{
	struct bencher all = {0};

	for (int64_t i = 0; i < bench->n_clients; i++) {
		const struct bencher *b = &bench->one[i];

		if (b->result < 0 && b->result != -ETIMEDOUT)
			return ctl_say(&b->error);
		all.samples += b->samples;
		all.batches += b->batches;
		all.bytes += b->bytes;
	}
	printf("%" PRIu64 " samples in %" PRIu64 " batches to %" PRId64 " %s in %.3f s\n",
		all.samples, all.batches, bench->n_clients,
		bench->n_clients == 1 ? "client" : "clients", seconds);
	printf("samples/s=%.1f batches/s=%.2f MB/s=%.2f cpu_s_per_sample=%.9f\n",
		(double)all.samples / seconds, (double)all.batches / seconds,
		(double)all.bytes / 1e6 / seconds, all.samples ? cpu / (double)all.samples : 0.0);
	return CTL_OK;
}

static int run_bench(struct bench *bench)
{
	int status = open_clients(bench);
	double seconds;
	double cpu;

	if (status == CTL_OK) {
		cpu = cpu_seconds(bench);
		seconds = measure(bench);
		cpu = cpu_seconds(bench) - cpu;
		status = report(bench, seconds, cpu);
	}
	for (int64_t i = 0; i < bench->n_clients; i++)
		pl_client_close(bench->one[i].client);
	return status;
}

static bool read_mode(struct bench *bench, const char *word)
{
	static const char *const names[] = {"private", "split", "share", "broadcast"};

	for (size_t i = 0; i < CTL_LEN(names); i++)
		if (strcmp(word, names[i]) == 0) {
			bench->mode = (enum pl_client_mode)i;
			return true;
		}
	ctl_usage("--mode wants private, split, share or broadcast, not '%s'", word);
	return false;
}

static int run(const struct ctl_line *line)
{
	const char *mode = ctl_option(line, "--mode");
	struct bench *bench = calloc(1, sizeof(*bench));
	int status = CTL_USAGE;

	if (!bench)
		return CTL_FAILED;
	bench->line = line;
	if (ctl_number(line, "--seconds", 5, &bench->seconds) &&
		ctl_number(line, "--clients", 1, &bench->n_clients) &&
		read_mode(bench, mode ? mode : "private")) {
		if (bench->seconds < 1 || bench->n_clients < 1 || bench->n_clients > CLIENTS_MAX)
			ctl_usage("--seconds is at least 1, --clients 1 to %d", CLIENTS_MAX);
		else
			status = run_bench(bench);
	}
	free(bench);
	return status;
}

static const struct ctl_option options[] = {
	{"--seconds", "S", "how long (default 5); less when the stream ends before"},
	{"--clients", "N", "so many clients at once (default 1)"},
	{"--mode", "M", "private (default), split, share or broadcast"},
	CTL_SET,
	CTL_SOCKET,
};

const struct ctl_command ctl_bench = {
	.name = "bench",
	.words = "FILE|NAME",
	.help = "Measures: samples, batches and MB a second, and CPU seconds per sample.\n"
		"One byte of each page of each batch is read. The CPU time is that of the daemon, "
		"all its processes and "
		"the clients.",
	.words_min = 1,
	.words_max = 1,
	.options = options,
	.n_options = CTL_LEN(options),
	.run = run,
};
