/* tests/unit/test_flow_premain.c - which records an epoch reads, in which order, and how it is
 * entered in the middle. */
#include "daemon/flow/premain.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define N_MAX 2000

struct world {
	struct pl_plan *plan;
	struct pl_listing listing;
	struct pl_steps steps;
	struct pl_scratch scratch;
	struct pl_premain premain;
	uint64_t record[N_MAX];
	uint64_t n;
};

static struct world *make(const char *text)
{
	char path[] = "/tmp/pipeloader-test-XXXXXX.yaml";
	struct world *w = calloc(1, sizeof(*w));
	struct pl_diag *diag = pl_diag_create();
	struct pl_listing_writer writer;
	struct pl_err err = {0};
	int fd = mkstemps(path, 5);

	cr_assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	w->plan = pl_plan_read(path, NULL, 0, diag);
	unlink(path);
	cr_assert(w->plan, "%s", pl_diag_render(diag));
	pl_diag_destroy(diag);
	pl_listing_writer_init(&writer);
	cr_assert_eq(w->plan->source.op->list(w->plan->source.params, ".", &writer, &err), 0, "%s",
		err.text);
	fd = pl_listing_seal(&writer);
	cr_assert_eq(pl_listing_map(&w->listing, fd, &err), 0, "%s", err.text);
	close(fd);
	pl_listing_writer_finish(&writer);
	w->steps.plan = w->plan;
	cr_assert_eq(pl_steps_prepare(&w->steps, &w->plan->pre, &err), 0, "%s", err.text);
	pl_scratch_init(&w->scratch, 1 << 20);
	w->premain.steps = &w->steps;
	w->premain.scratch = &w->scratch;
	return w;
}

static void unmake(struct world *w)
{
	pl_premain_close(&w->premain);
	pl_steps_finish(&w->steps);
	pl_scratch_finish(&w->scratch);
	pl_listing_unmap(&w->listing);
	pl_plan_destroy(w->plan);
	free(w);
}

/* All records of an epoch, entered at emitted record `from`. */
static void collect(struct world *w, uint32_t epoch, uint64_t from)
{
	struct pl_err err = {0};

	pl_premain_close(&w->premain);
	cr_assert_eq(
		pl_premain_open(&w->premain, w->plan, &w->listing, epoch, &err), 0, "%s", err.text);
	cr_assert_eq(pl_premain_seek(&w->premain, from, &err), 0, "%s", err.text);
	for (w->n = 0; w->n < N_MAX; w->n++) {
		int r = pl_premain_next(&w->premain, &w->record[w->n], &err);

		cr_assert_geq(r, 0, "%s", err.text);
		if (r == 0)
			break;
	}
}

#define FILE_OF(pre)                                                                               \
	"version: 1\nsource: {range: 1000}\npre_main: [" pre                                       \
	"]\nworkers: [{cast: {field: value, dtype: i64}}]\npost_main: [{batch: 10}]\n"

/* Entering anywhere gives the rest of the whole. */
static void check_seeks(struct world *w)
{
	static uint64_t whole[N_MAX];
	uint64_t n;

	collect(w, 3, 0);
	n = w->n;
	memcpy(whole, w->record, n * sizeof(*whole));
	for (uint64_t from = 0; from <= n + 1; from += n / 7 + 1) {
		collect(w, 3, from);
		cr_assert_eq(w->n, from > n ? 0 : n - from);
		cr_assert_eq(
			memcmp(w->record, whole + (from > n ? n : from), w->n * sizeof(*whole)), 0);
	}
}

Test(premain, source_order)
{
	struct world *w = make(
		"version: 1\nsource: {range: 1000}\nworkers: none\npost_main: [{batch: 10}]\n");

	collect(w, 0, 0);
	cr_assert_eq(w->n, 1000);
	for (uint64_t i = 0; i < w->n; i++)
		cr_assert_eq(w->record[i], i);
	check_seeks(w);
	unmake(w);
}

Test(premain, shuffle_is_a_permutation_of_its_epoch)
{
	struct world *w = make(FILE_OF("shuffle"));
	static uint64_t first[N_MAX];
	bool seen[1000] = {0};

	collect(w, 0, 0);
	memcpy(first, w->record, sizeof(first));
	cr_assert_eq(w->n, 1000);
	for (uint64_t i = 0; i < w->n; i++) {
		cr_assert(!seen[w->record[i]]);
		seen[w->record[i]] = true;
	}
	collect(w, 1, 0);
	cr_assert_neq(memcmp(first, w->record, sizeof(first)), 0, "another epoch, another order");
	collect(w, 0, 0);
	cr_assert_eq(memcmp(first, w->record, sizeof(first)), 0, "the same epoch, the same order");
	check_seeks(w);
	unmake(w);
}

Test(premain, take_and_skip_around_a_shuffle)
{
	struct world *w = make(FILE_OF("{skip: 100}, shuffle, {take: 50}"));

	collect(w, 0, 0);
	cr_assert_eq(w->n, 50);
	for (uint64_t i = 0; i < w->n; i++)
		cr_assert_geq(w->record[i], 100);
	cr_assert_eq(pl_premain_left(&w->premain), 0);
	check_seeks(w);
	unmake(w);
}

Test(premain, filter_is_streamed_and_take_counts_what_passed)
{
	struct world *w = make(FILE_OF("{filter: \"value % 3 == 1\"}, {take: 20}"));

	collect(w, 0, 0);
	cr_assert_eq(w->n, 20);
	for (uint64_t i = 0; i < w->n; i++)
		cr_assert_eq(w->record[i], i * 3 + 1);
	cr_assert(!w->premain.survivors);
	check_seeks(w);
	unmake(w);
}

Test(premain, shuffle_after_a_filter_shuffles_the_survivors)
{
	struct world *w = make(FILE_OF(
		"{filter: \"value >= 990\"}, shuffle, {filter: \"value != 995\"}, shuffle"));
	uint64_t sum = 0;

	collect(w, 0, 0);
	cr_assert_eq(w->n, 9);
	for (uint64_t i = 0; i < w->n; i++) {
		cr_assert_geq(w->record[i], 990);
		sum += w->record[i];
	}
	cr_assert_eq(sum, 990 + 991 + 992 + 993 + 994 + 996 + 997 + 998 + 999);
	check_seeks(w);
	unmake(w);
}
