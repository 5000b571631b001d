/* tests/unit/plain_einops_threads.c - 64 threads make the first call of a process. */
#include "proto/einops/einops.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base.h"

/*
 * `einops_threads [--long]` runs itself 50 or 500 times with --child. A child's threads wait at a
 * barrier, and then each does another operation on another dtype, before anything of the library
 * was used in that process: through one shared cache, that is smaller than what they ask for, then
 * again, and with a plan they all share. Each compares with what it knows must come out. After that
 * the child forks, and the grandchild does the same calls.
 */
#define N_THREADS 64
#define N_ROUNDS  20

static pthread_barrier_t barrier;
static struct pl_einops_cache *cache;
static struct pl_einops_plan *_Atomic shared;

struct task {
	enum pl_einops_op op;
	const char *pattern;
	const char *reduction;
	struct pl_einops_axis axis;
};

/* All on a tensor of [4, 6] whose elements are 0 or 1: 1 where the index is divisible by three. */
static const struct task tasks[] = {
	{PL_EINOPS_REARRANGE, "a b -> b a", NULL, {NULL, 0}},
	{PL_EINOPS_REDUCE, "a b -> b", "max", {NULL, 0}},
	{PL_EINOPS_REDUCE, "a (b c) -> a b", "min", {"c", 3}},
	{PL_EINOPS_REPEAT, "a b -> a b c", NULL, {"c", 3}},
	{PL_EINOPS_EINSUM, "a b -> b a", NULL, {NULL, 0}},
	{PL_EINOPS_REDUCE, "a b -> a", "any", {NULL, 0}},
	{PL_EINOPS_REARRANGE, "(a c) b -> (a b) c", NULL, {"c", 2}},
	{PL_EINOPS_REDUCE, "a b -> a", "all", {NULL, 0}},
};

static int element(int64_t i, int64_t j)
{
	return (i * 6 + j) % 3 == 0;
}

/* Element k of task `which`'s result. */
static int expected(size_t which, int64_t k)
{
	switch (which) {
	case 0:
	case 4:
		return element(k % 4, k / 4);
	case 1:
		return element(0, k) | element(1, k) | element(2, k) | element(3, k);
	case 3:
		return element(k / 18, k / 3 % 6);
	case 5:
		return 1;
	case 6:
		return element(k / 12 * 2 + k % 2, k / 2 % 6);
	default:
		return 0; /* of three neighbours one is 0, and so it is in every row */
	}
}

/* 1 as an element of that dtype, in little-endian bytes. */
static uint64_t one(enum pl_dtype dtype)
{
	switch (dtype) {
	case PL_F16:
		return 0x3c00;
	case PL_BF16:
		return 0x3f80;
	case PL_F32:
		return 0x3f800000;
	case PL_F64:
		return 0x3ff0000000000000;
	default:
		return 1;
	}
}

static void put(char *at, enum pl_dtype dtype, int value)
{
	uint64_t bits = value ? one(dtype) : 0;

	memcpy(at, &bits, pl_dtype_size(dtype));
}

static bool is_right(const struct pl_tensor *out, size_t which)
{
	size_t size = pl_dtype_size(out->dtype);
	char wanted[8];

	for (int64_t k = 0; k < pl_tensor_count(out); k++) {
		put(wanted, out->dtype, expected(which, k));
		if (memcmp(wanted, (char *)out->data + k * (int64_t)size, size))
			return false;
	}
	return true;
}

static const char *run_task(size_t which, enum pl_dtype dtype)
{
	const struct task *task = &tasks[which];
	struct pl_einops_spec spec = {
		task->op, task->pattern, strlen(task->pattern), task->reduction};
	char in[24 * 8];
	char out[72 * 8];
	struct pl_tensor input;
	struct pl_tensor output;
	struct pl_einops_args args = {.inputs = &input,
		.n_inputs = 1,
		.axes = &task->axis,
		.n_axes = task->axis.name ? 1 : 0};
	struct pl_einops_plan *plan = NULL;

	for (int64_t k = 0; k < 24; k++)
		put(in + k * (int64_t)pl_dtype_size(dtype), dtype, element(k / 6, k % 6));
	if (pl_tensor_init(&input, in, dtype, 2, (const int64_t[]){4, 6}))
		return "init";
	if (pl_einops_cache_plan(cache, &spec, &args, &plan, NULL))
		return "plan";
	output = *pl_einops_plan_result(plan, 0);
	output.data = out;
	memset(out, 0x77, sizeof(out));
	if (pl_einops_run(plan, &input, &output))
		return "run";
	pl_einops_plan_release(plan);
	return is_right(&output, which) ? NULL : "other values";
}

/* The first thread that gets here gives its plan to all. */
static const char *run_shared(void)
{
	static const char pattern[] = "a b -> b a";
	struct pl_einops_spec spec = {PL_EINOPS_REARRANGE, pattern, strlen(pattern), NULL};
	char in[24];
	char out[24];
	struct pl_tensor input;
	struct pl_tensor output;
	struct pl_einops_args args = {.inputs = &input, .n_inputs = 1};
	struct pl_einops_plan *mine = NULL;
	struct pl_einops_plan *none = NULL;

	for (int64_t k = 0; k < 24; k++)
		put(in + k, PL_U8, element(k / 6, k % 6));
	if (pl_tensor_init(&input, in, PL_U8, 2, (const int64_t[]){4, 6}) ||
		pl_einops_cache_plan(NULL, &spec, &args, &mine, NULL))
		return "plan";
	if (!__atomic_compare_exchange_n((struct pl_einops_plan **)&shared, &none, mine, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		pl_einops_plan_release(mine);
		mine = none;
	}
	output = *pl_einops_plan_result(mine, 0);
	output.data = out;
	if (pl_einops_run(pl_einops_plan_acquire(mine), &input, &output))
		return "run of a shared plan";
	pl_einops_plan_release(mine);
	return is_right(&output, 0) ? NULL : "other values of a shared plan";
}

static void *thread(void *argument)
{
	size_t i = (size_t)(uintptr_t)argument;
	const char *fault = NULL;

	pthread_barrier_wait(&barrier);
	for (size_t round = 0; !fault && round < N_ROUNDS; round++) {
		size_t which = (i + round) % PL_ARRAY_LEN(tasks);
		unsigned int dtype = PL_BOOL + (i / PL_ARRAY_LEN(tasks) + i + round) % 13;

		fault = run_task(which, (enum pl_dtype)dtype);
		if (!fault)
			fault = run_shared();
	}
	return (void *)(uintptr_t)fault;
}

/* In a process forked after the threads ran: nothing may hang or differ. */
static int run_forked(void)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return 1;
	if (pid == 0) {
		const char *fault = NULL;

		alarm(20);
		for (size_t i = 0; !fault && i < 13 * PL_ARRAY_LEN(tasks); i++)
			fault = run_task(
				i % PL_ARRAY_LEN(tasks), (enum pl_dtype)(PL_BOOL + i % 13));
		_exit(fault != NULL);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	return status != 0;
}

static int run_child(void)
{
	pthread_t threads[N_THREADS];
	int n_faults = 0;

	cache = pl_einops_cache_create(32);
	if (!cache || pthread_barrier_init(&barrier, NULL, N_THREADS))
		return 1;
	for (size_t i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)i))
			return 1;
	for (size_t i = 0; i < N_THREADS; i++) {
		void *fault;

		pthread_join(threads[i], &fault);
		if (fault)
			printf("thread %zu: %s\n", i, (const char *)fault);
		n_faults += fault != NULL;
	}
	n_faults += run_forked();
	pl_einops_plan_release(shared);
	pl_einops_cache_destroy(cache);
	pthread_barrier_destroy(&barrier);
	return n_faults != 0;
}

static int spawn(void)
{
	char self[] = "/proc/self/exe";
	char child[] = "--child";
	char *argv[] = {self, child, NULL};
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return 1;
	if (pid == 0) {
		execv(self, argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	return status != 0;
}

int main(int argc, char **argv)
{
	int n = argc > 1 && strcmp(argv[1], "--long") == 0 ? 500 : 50;
	int n_failed = 0;

	if (argc > 1 && strcmp(argv[1], "--child") == 0)
		return run_child();
	for (int i = 0; i < n; i++)
		n_failed += spawn();
	printf("%d passed, %d failed\n", n - n_failed, n_failed);
	return n_failed != 0;
}
