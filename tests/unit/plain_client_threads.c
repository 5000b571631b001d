/* tests/unit/plain_client_threads.c - 64 threads make the first opening of a process. */
#include "client/pipeloader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base.h"

/*
 * `client_threads [--long]` holds a job daemon of its own (PL_BUILD says where the program is), and
 * runs itself 20 or 500 times with --child. A child's threads wait at a barrier, and then each
 * opens the pipeline, before anything of the library was used in that process, reads a batch,
 * compares its bytes with what must come, and closes. Every fifth child belongs to another job: its
 * threads also race to start the daemon.
 */
#define N_THREADS 64
#define BATCH     8
#define FIRST     1000
#define DEADLINE  60 /* seconds of a child */

static pthread_barrier_t barrier;
static const char *pipeline;

static char *fault_of(const char *what, const char *why)
{
	char *text = NULL;

	return asprintf(&text, "%s: %s", what, why) < 0 ? strdup(what) : text;
}

static bool is_right(const struct pl_batch *batch)
{
	const struct pl_tensor *value = pl_batch_tensor(batch, "value");
	int64_t wanted[BATCH];

	for (int i = 0; i < BATCH; i++)
		wanted[i] = FIRST + i;
	return value && value->dtype == PL_I64 && value->rank == 1 && value->shape[0] == BATCH &&
	       memcmp(value->data, wanted, sizeof(wanted)) == 0;
}

/* One life of a client; what is wrong, malloc'ed, or NULL. */
static char *use_client(void)
{
	struct pl_error error = {0};
	struct pl_client *client = pl_client_open(pipeline, NULL, &error);
	const struct pl_batch *batch;
	char *fault = NULL;

	if (!client)
		return fault_of("open", error.text);
	if (pl_client_next(client, DEADLINE * 1000, &batch, &error)) {
		fault = fault_of("next", error.text);
	} else {
		if (!is_right(batch))
			fault = fault_of("batch", "other bytes");
		(void)!pl_batch_release(batch);
	}
	pl_client_close(client);
	return fault;
}

static void *run_thread(void *argument)
{
	pthread_barrier_wait(&barrier);
	return use_client();
}

static int run_child(void)
{
	pthread_t thread[N_THREADS];
	int n_faults = 0;

	alarm(DEADLINE);
	if (pthread_barrier_init(&barrier, NULL, N_THREADS))
		return 1;
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&thread[i], NULL, run_thread, NULL))
			return 1;
	for (int i = 0; i < N_THREADS; i++) {
		void *fault;

		pthread_join(thread[i], &fault);
		if (fault)
			printf("thread %d: %s\n", i, (char *)fault);
		n_faults += fault != NULL;
		free(fault);
	}
	fflush(stdout);
	return n_faults != 0;
}

/* 0 when the child found nothing. `job`: another job's id, or NULL for the one that runs. */
static int spawn(const char *job)
{
	char self[] = "/proc/self/exe";
	char child[] = "--child";
	char *argv[] = {self, child, (char *)(uintptr_t)pipeline, NULL};
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return 1;
	if (pid == 0) {
		if (job)
			setenv("PIPELOADER_JOB_ID", job, 1);
		execv(self, argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	if (status)
		printf("a child ended with status %#x\n", (unsigned)status);
	return status != 0;
}

static bool write_pipeline(const char *folder, char *path, size_t n)
{
	FILE *file;

	snprintf(path, n, "%s/numbers.yaml", folder);
	file = fopen(path, "we");
	if (!file)
		return false;
	fprintf(file,
		"source: {range: {count: 64, start: %d}}\nworkers: {count: 1, steps: [trace: a]}\n"
		"post_main:\n  prefetch: 0\n  steps: [batch: %d]\n",
		FIRST, BATCH);
	return fclose(file) == 0;
}

static bool set_environment(const char *job)
{
	const char *build = getenv("PL_BUILD");
	char daemon[4096];

	if (!build)
		return getenv("PIPELOADERD") != NULL;
	snprintf(daemon, sizeof(daemon), "%s/pipeloaderd", build);
	unsetenv("PIPELOADER_SOCKET");
	return setenv("PIPELOADERD", daemon, 1) == 0 && setenv("PIPELOADER_JOB_ID", job, 1) == 0 &&
	       setenv("PIPELOADER_LINGER_MS", "100", 1) == 0;
}

/* The daemon's own libraries are not instrumented: what ThreadSanitizer says of it means nothing.
 */
static struct pl_client *hold_daemon(struct pl_error *error)
{
	const char *options = getenv("TSAN_OPTIONS");
	char *before = options ? strdup(options) : NULL;
	struct pl_client *client;

	setenv("TSAN_OPTIONS", "report_bugs=0", 1);
	client = pl_client_open(pipeline, NULL, error);
	if (before)
		setenv("TSAN_OPTIONS", before, 1);
	else
		unsetenv("TSAN_OPTIONS");
	free(before);
	return client;
}

/* A process of ThreadSanitizer can't fork once it has threads. */
static bool may_start_daemons(void)
{
#if defined(__SANITIZE_THREAD__)
	return false;
#else
	return true;
#endif
}

static int run_children(int n, const char *job)
{
	struct pl_error error = {0};
	struct pl_client *holder = hold_daemon(&error);
	int n_failed = 0;
	char other[100];

	if (!holder) {
		printf("no daemon: %s\n", error.text);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		snprintf(other, sizeof(other), "%s-%d", job, i);
		n_failed += spawn(may_start_daemons() && i % 5 == 4 ? other : NULL);
	}
	pl_client_close(holder);
	printf("%d passed, %d failed\n", n - n_failed, n_failed);
	return n_failed != 0;
}

int main(int argc, char **argv)
{
	bool is_long = (argc > 1 && strcmp(argv[1], "--long") == 0) || getenv("PL_LONG");
	char folder[] = "/tmp/client_threads_XXXXXX";
	char path[100];
	int r;

	if (argc > 2 && strcmp(argv[1], "--child") == 0) {
		pipeline = argv[2];
		return run_child();
	}
	if (!mkdtemp(folder) || !write_pipeline(folder, path, sizeof(path)) ||
		!set_environment(folder + 5)) {
		printf("no folder, or neither PL_BUILD nor PIPELOADERD is set\n");
		return 1;
	}
	pipeline = path;
	r = run_children(is_long ? 500 : 20, folder + 5);
	unlink(path);
	rmdir(folder);
	return r;
}
