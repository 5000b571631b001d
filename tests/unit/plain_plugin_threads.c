/* tests/unit/plain_plugin_threads.c - 64 threads load the same plugin in a fresh process, and find
 * it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/kit/plugin.h"
#include "daemon/kit/registry.h"

/*
 * `plugin_threads PLUGIN` runs itself 50 times (500 with PL_LONG in the environment) with --child
 * before the path. A child's threads wait at a barrier; half of them load, and then find every
 * name; the others look names up all the while and must never see half a table.
 */
#define N_THREADS 64

static pthread_barrier_t barrier;
static struct pl_param_texts paths = {.n = 1};

static const char *find_all(bool is_loaded)
{
	struct pl_registry r = pl_registry();

	for (size_t i = 0; i < r.n_ops; i++)
		if (!pl_op_find(r.op[i]->name))
			return "a step is gone";
	for (size_t i = 0; i < r.n_sources; i++)
		if (!pl_source_find(r.source[i]->name))
			return "a source is gone";
	if (is_loaded && (!pl_op_find("twice") || !pl_source_find("countdown")))
		return "the plugin's are not there";
	return NULL;
}

static void *load_and_find(void *number)
{
	bool loads = (uintptr_t)number % 2 == 0;
	struct pl_err err = {0};
	const char *fault = NULL;

	pthread_barrier_wait(&barrier);
	if (loads && pl_plugins_load(&paths, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return (void *)(uintptr_t) "not loaded";
	}
	for (int i = 0; i < 20 && !fault; i++)
		fault = find_all(loads);
	return (void *)(uintptr_t)fault;
}

static int child(const char *path)
{
	pthread_t thread[N_THREADS];
	int status = 0;

	paths.v[0] = path;
	pthread_barrier_init(&barrier, NULL, N_THREADS);
	for (uintptr_t i = 0; i < N_THREADS; i++)
		if (pthread_create(&thread[i], NULL, load_and_find, (void *)i))
			return 1;
	for (int i = 0; i < N_THREADS; i++) {
		void *fault = NULL;

		pthread_join(thread[i], &fault);
		if (fault)
			fprintf(stderr, "thread %d: %s\n", i, (const char *)fault);
		status |= fault != NULL;
	}
	return status;
}

int main(int argc, char **argv)
{
	int n = getenv("PL_LONG") ? 500 : 50;

	if (argc == 3 && strcmp(argv[1], "--child") == 0)
		return child(argv[2]);
	if (argc != 2)
		return 64;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		int status = 1;

		if (pid == 0) {
			execl("/proc/self/exe", argv[0], "--child", argv[1], (char *)NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
			fprintf(stderr, "process %d of %d failed: status %d\n", i, n, status);
			return 1;
		}
	}
	printf("%d processes of %d threads\n", n, N_THREADS);
	return 0;
}
