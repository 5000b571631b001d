/* tests/bench/pass_bench.c - steps in one pass against the same steps apart, and against a memcpy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/flow/steps.h"
#include "daemon/serve/progress.h"
#include "proto/einops/einops.h"

/*
 * One thread, one photograph of 224x224x3 bytes, hot cache; the result goes into a row. Medians of
 * ROUNDS. PIPELOADER_KERNELS chooses the kernels.
 */
#define ROUNDS 301
#define SIDE   224

static const char *const chains[] = {
	"  - normalize: imagenet\n  - rearrange: \"h w c -> c h w\"\n",
	"  - normalize: imagenet\n  - rearrange: \"h w c -> c h w\"\n"
	"  - cast: {field: image, dtype: f16}\n",
	"  - normalize: imagenet\n  - rearrange: \"h w c -> c h w\"\n"
	"  - cast: {field: image, dtype: bf16}\n",
	"  - normalize: imagenet\n  - cast: {field: image, dtype: f16}\n",
	"  - cast: f32\n  - rearrange: \"h w c -> c h w\"\n",
};

struct work {
	struct pl_plan *plan;
	struct pl_steps steps;
	struct pl_step_list list; /* without decode_image */
	struct pl_scratch scratch;
	struct pl_sample sample;
	int field;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *ns)
{
	qsort(ns, ROUNDS, sizeof(*ns), compare);
	return ns[ROUNDS / 2];
}

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void begin(struct work *w, const char *fuse, const char *chain)
{
	char path[] = "/tmp/pass_bench_XXXXXX";
	struct pl_diag *diag = pl_diag_create();
	struct pl_err err = {0};
	int fd = mkstemp(path);

	dprintf(fd,
		"fuse: %s\nsource: {files: photos}\nworkers:\n  - decode_image\n"
		"  - resize: {size: %d}\n%spost_main:\n  - batch: 2\n",
		fuse, SIDE, chain);
	close(fd);
	memset(w, 0, sizeof(*w));
	w->plan = pl_plan_read(path, NULL, 0, diag);
	unlink(path);
	if (!w->plan)
		die(pl_diag_render(diag));
	pl_diag_destroy(diag);
	w->list =
		(struct pl_step_list){.n = w->plan->worker.n - 2, .step = w->plan->worker.step + 2};
	w->field = w->plan->worker.step[2].in[0];
	w->steps.plan = w->plan;
	pl_scratch_init(&w->scratch, (size_t)1 << 30);
	w->sample.scratch = &w->scratch;
	if (pl_steps_prepare(&w->steps, &w->list, &err))
		die(err.text);
}

static uint64_t measure(struct work *w, struct pl_tensor *image, void *row, int64_t *bytes)
{
	const struct pl_step *last = &w->list.step[w->list.n - 1];
	static uint64_t ns[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		const struct pl_step *failed;
		struct pl_err err = {0};
		uint64_t began;

		pl_scratch_reset(&w->scratch);
		w->sample.value[w->field] = *image;
		if (pl_tensor_init(&w->sample.row[w->field], row, last->type[0].dtype,
			    last->type[0].rank, last->type[0].shape))
			die("no row");
		began = pl_now_ns();
		if (pl_steps_run(&w->steps, &w->list, &w->sample, &failed, &err))
			die(err.text);
		ns[i] = pl_now_ns() - began;
	}
	*bytes = pl_tensor_bytes(&w->sample.row[w->field]);
	return median(ns);
}

static uint64_t measure_copy(void *to, const void *from, size_t n)
{
	static uint64_t ns[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t began = pl_now_ns();

		memcpy(to, from, n);
		__asm__ volatile("" : : "r"(to) : "memory");
		ns[i] = pl_now_ns() - began;
	}
	return median(ns);
}

static void bench(const char *chain, struct pl_tensor *image, char *rows[2])
{
	static struct work work[2];
	int64_t bytes = 0;
	uint64_t ns[3];

	for (int i = 0; i < 2; i++) {
		begin(&work[i], i ? "off" : "on", chain);
		ns[i] = measure(&work[i], image, rows[i], &bytes);
		pl_steps_finish(&work[i].steps);
		pl_scratch_finish(&work[i].scratch);
		pl_plan_destroy(work[i].plan);
	}
	if (memcmp(rows[0], rows[1], (size_t)bytes))
		die("other bytes");
	ns[2] = measure_copy(rows[0], rows[1], (size_t)bytes);
	printf("%8.1f %8.1f %8.1f us  %5.2f x apart %5.2f x memcpy\n%s\n", (double)ns[0] / 1e3,
		(double)ns[1] / 1e3, (double)ns[2] / 1e3, (double)ns[0] / (double)ns[1],
		(double)ns[0] / (double)ns[2], chain);
}

int main(void)
{
	static unsigned char pixels[SIDE * SIDE * 3];
	char *rows[2] = {malloc(sizeof(pixels) * 4), malloc(sizeof(pixels) * 4)};
	struct pl_tensor image;

	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (unsigned char)(i * 31 + i / 7);
	if (!rows[0] || !rows[1] ||
		pl_tensor_init(&image, pixels, PL_U8, 3, (const int64_t[]){SIDE, SIDE, 3}))
		die("out of memory");
	memset(rows[0], 1, sizeof(pixels) * 4);
	memset(rows[1], 1, sizeof(pixels) * 4);
	printf("kernels %s: one pass, apart, memcpy of the result\n", pl_einops_kernels_name());
	for (size_t i = 0; i < PL_ARRAY_LEN(chains); i++)
		bench(chains[i], &image, rows);
	free(rows[0]);
	free(rows[1]);
	return 0;
}
