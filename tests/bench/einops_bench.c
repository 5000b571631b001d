/* tests/bench/einops_bench.c - patterns against a memcpy of the same bytes. */
#include "proto/einops/einops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base.h"

/*
 * One thread, hot cache. The first three columns are medians; "best" is the fastest round against
 * the fastest memcpy, which tells more on a machine that is busy with other things.
 */
#define ROUNDS 101

struct bench {
	const char *name;
	enum pl_einops_op op;
	const char *pattern;
	const char *reduction;
	enum pl_dtype dtype;
	int rank;
	int64_t shape[4];
	size_t n_axes;
	struct pl_einops_axis axes[2];
	double target; /* times a memcpy of the input's bytes (repeat: the result's) */
};

static const struct bench benches[] = {
	{"h w c -> c h w, 224x224x3 u8", PL_EINOPS_REARRANGE, "h w c -> c h w", NULL, PL_U8, 3,
		{224, 224, 3}, 0, {{0}}, 2.5},
	{"h w c -> c h w, 224x224x3 f32", PL_EINOPS_REARRANGE, "h w c -> c h w", NULL, PL_F32, 3,
		{224, 224, 3}, 0, {{0}}, 1.5},
	{"c h w -> h w c, 3x224x224 u8", PL_EINOPS_REARRANGE, "c h w -> h w c", NULL, PL_U8, 3,
		{3, 224, 224}, 0, {{0}}, 3},
	{"c h w -> h w c, 3x224x224 f32", PL_EINOPS_REARRANGE, "c h w -> h w c", NULL, PL_F32, 3,
		{3, 224, 224}, 0, {{0}}, 0},
	{"b h w c -> b c h w, 64x224x224x3 u8", PL_EINOPS_REARRANGE, "b h w c -> b c h w", NULL,
		PL_U8, 4, {64, 224, 224, 3}, 0, {{0}}, 2},
	{"b h w c -> b c h w, 64x224x224x3 f32", PL_EINOPS_REARRANGE, "b h w c -> b c h w", NULL,
		PL_F32, 4, {64, 224, 224, 3}, 0, {{0}}, 1.3},
	{"patches 16x16, 64x3x224x224 f32", PL_EINOPS_REARRANGE,
		"b c (h p1) (w p2) -> b (h w) (p1 p2 c)", NULL, PL_F32, 4, {64, 3, 224, 224}, 2,
		{{"p1", 16}, {"p2", 16}}, 2},
	{"mean b h w c -> b c, 64x224x224x3 f32", PL_EINOPS_REDUCE, "b h w c -> b c", "mean",
		PL_F32, 4, {64, 224, 224, 3}, 0, {{0}}, 1},
	{"mean b h w c -> b c, 1x224x224x3 f32", PL_EINOPS_REDUCE, "b h w c -> b c", "mean", PL_F32,
		4, {1, 224, 224, 3}, 0, {{0}}, 1},
	{"mean b c h w -> b c, 1x3x224x224 f32", PL_EINOPS_REDUCE, "b c h w -> b c", "mean", PL_F32,
		4, {1, 3, 224, 224}, 0, {{0}}, 0},
	{"repeat h w -> h w 3, 224x224 u8", PL_EINOPS_REPEAT, "h w -> h w c", NULL, PL_U8, 2,
		{224, 224}, 1, {{"c", 3}}, 4},
	{"max pool h w c, 224x224x3 u8", PL_EINOPS_REDUCE, "(h h2) (w w2) c -> h w c", "max", PL_U8,
		3, {224, 224, 3}, 2, {{"h2", 2}, {"w2", 2}}, 2},
	{"max pool c h w, 3x224x224 u8", PL_EINOPS_REDUCE, "c (h h2) (w w2) -> c h w", "max", PL_U8,
		3, {3, 224, 224}, 2, {{"h2", 2}, {"w2", 2}}, 2},
	{"max pool b h w c, 64x224x224x3 u8", PL_EINOPS_REDUCE, "b (h h2) (w w2) c -> b h w c",
		"max", PL_U8, 4, {64, 224, 224, 3}, 2, {{"h2", 2}, {"w2", 2}}, 2},
	{"max pool b c h w, 64x3x224x224 u8", PL_EINOPS_REDUCE, "b c (h h2) (w w2) -> b c h w",
		"max", PL_U8, 4, {64, 3, 224, 224}, 2, {{"h2", 2}, {"w2", 2}}, 2},
	{"h w -> w h, 1024x1024 u8", PL_EINOPS_REARRANGE, "h w -> w h", NULL, PL_U8, 2,
		{1024, 1024}, 0, {{0}}, 0},
	{"h w -> w h, 1024x1024 f32", PL_EINOPS_REARRANGE, "h w -> w h", NULL, PL_F32, 2,
		{1024, 1024}, 0, {{0}}, 0},
	{"sum h w -> h, 1024x1024 f32", PL_EINOPS_REDUCE, "h w -> h", "sum", PL_F32, 2,
		{1024, 1024}, 0, {{0}}, 0},
	{"sum h w -> w, 1024x1024 f32", PL_EINOPS_REDUCE, "h w -> w", "sum", PL_F32, 2,
		{1024, 1024}, 0, {{0}}, 0},
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Also sorts. */
static double median(double *times)
{
	qsort(times, ROUNDS, sizeof(*times), compare);
	return times[ROUNDS / 2];
}

static void die(const char *what)
{
	fprintf(stderr, "einops_bench: %s\n", what);
	exit(1);
}

/* Memory whose pages exist already. */
static void *get(int64_t n)
{
	void *p = aligned_alloc(4096, (size_t)(n + 4095) / 4096 * 4096);

	if (!p)
		die("out of memory");
	memset(p, 1, (size_t)n);
	return p;
}

struct subject {
	struct pl_einops_plan *plan;
	struct pl_tensor in;
	struct pl_tensor out;
	char *spare; /* as large as the larger of the two */
	int64_t n;   /* bytes of the memcpy */
};

static double time_run(struct subject *s, int repeats)
{
	int64_t start = now_ns();

	for (int i = 0; i < repeats; i++)
		if (pl_einops_run(s->plan, &s->in, &s->out))
			die("run");
	return (double)(now_ns() - start) / repeats;
}

static double time_copy(struct subject *s, int repeats)
{
	int64_t start = now_ns();

	for (int i = 0; i < repeats; i++) {
		memcpy(s->spare, s->in.data, (size_t)s->n);
		__asm__ volatile("" : : "r"(s->spare) : "memory");
	}
	return (double)(now_ns() - start) / repeats;
}

static void prepare(struct subject *s, const struct bench *b)
{
	struct pl_einops_spec spec = {b->op, b->pattern, strlen(b->pattern), b->reduction};
	struct pl_einops_args args = {
		.inputs = &s->in, .n_inputs = 1, .axes = b->axes, .n_axes = b->n_axes};
	struct pl_einops_error error;
	int64_t n_in;
	int64_t n_out;

	if (pl_tensor_init(&s->in, NULL, b->dtype, b->rank, b->shape))
		die("shape");
	if (pl_einops_cache_plan(NULL, &spec, &args, &s->plan, &error))
		die(error.text);
	s->out = *pl_einops_plan_result(s->plan, 0);
	n_in = pl_tensor_bytes(&s->in);
	n_out = pl_tensor_bytes(&s->out);
	s->n = b->op == PL_EINOPS_REPEAT ? n_out : n_in;
	s->in.data = get(n_in > s->n ? n_in : s->n);
	s->out.data = get(n_out);
	s->spare = get(s->n);
}

static void measure(const struct bench *b)
{
	struct subject s;
	double run[ROUNDS];
	double copy[ROUNDS];
	double median_run;
	double median_copy;
	int repeats;
	char target[32] = "";

	prepare(&s, b);
	time_copy(&s, 3);
	time_run(&s, 3);
	repeats = 1 + (int)(2e5 / (time_run(&s, 1) + 1));
	for (int i = 0; i < ROUNDS; i++) {
		copy[i] = time_copy(&s, repeats);
		run[i] = time_run(&s, repeats);
	}
	if (b->target > 0)
		snprintf(target, sizeof(target), "<= %.1f", b->target);
	median_run = median(run);
	median_copy = median(copy);
	printf("%-40s %10.2f us %10.2f us %6.2f %6.2f %s\n", b->name, median_run / 1000,
		median_copy / 1000, median_run / median_copy, run[0] / copy[0], target);
	pl_einops_plan_release(s.plan);
	free(s.in.data);
	free(s.out.data);
	free(s.spare);
}

/* What a call costs beyond its data: four elements are moved. */
static void measure_calls(void)
{
	static const char pattern[] = "h w c -> c h w";
	struct pl_einops_spec spec = {PL_EINOPS_REARRANGE, pattern, strlen(pattern), NULL};
	struct pl_einops_cache *cache = pl_einops_cache_create(64);
	struct pl_tensor in;
	struct pl_tensor out;
	struct pl_einops_args args = {.inputs = &in, .n_inputs = 1};
	struct pl_einops_plan *plan;
	char bytes[8] = {0};
	double times[3][ROUNDS];
	int64_t start;

	if (pl_tensor_init(&in, bytes, PL_U8, 3, (const int64_t[]){2, 1, 2}) ||
		pl_einops_cache_plan(cache, &spec, &args, &plan, NULL))
		die("plan");
	out = *pl_einops_plan_result(plan, 0);
	out.data = bytes + 4;
	for (int round = 0; round < ROUNDS; round++) {
		start = now_ns();
		for (int i = 0; i < 10000; i++)
			if (pl_einops_run(plan, &in, &out))
				die("run");
		times[0][round] = (double)(now_ns() - start) / 10000;
		start = now_ns();
		for (int i = 0; i < 10000; i++)
			if (pl_einops_call(cache, &spec, &args, &out, NULL))
				die("call");
		times[1][round] = (double)(now_ns() - start) / 10000;
		start = now_ns();
		for (int i = 0; i < 1000; i++)
			if (pl_einops_call(NULL, &spec, &args, &out, NULL))
				die("call");
		times[2][round] = (double)(now_ns() - start) / 1000;
	}
	printf("run of a plan %.0f ns, cached call %.0f ns (<= 150), parse+plan+run %.0f ns (<= "
	       "3000)\n",
		median(times[0]), median(times[1]), median(times[2]));
	pl_einops_plan_release(plan);
	pl_einops_cache_destroy(cache);
}

int main(int argc, char **argv)
{
	printf("kernels: %s\n%-40s %13s %13s %6s %6s\n", pl_einops_kernels_name(), "pattern", "run",
		"memcpy", "ratio", "best");
	for (size_t i = 0; i < PL_ARRAY_LEN(benches); i++)
		if (argc < 2 || strstr(benches[i].name, argv[1]))
			measure(&benches[i]);
	measure_calls();
	return 0;
}
