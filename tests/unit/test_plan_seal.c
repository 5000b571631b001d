/* tests/unit/test_plan_seal.c - a sealed plan gives the same plan again. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "daemon/plan/dump.h"
#include "daemon/plan/sealed.h"
#include "tests/unit/plan_harness.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

static const char full[] =
	"name: full\nparams: {size: 32}\nseed: 5\nmemory: 512MiB\nserve: {allow: [joe, \"@gpu\"], "
	"clients: 3, start: eager}\n"
	"define:\n  tail:\n    - group: {steps: [{random_flip: {p: 0.25}}], p: 0.5}\n"
	"    - one_of: [[{random_flip: {axis: vertical}}], {weight: 2, steps: []}]\n"
	"source: {files: {path: photos, label: folder}}\npre_main: [shuffle]\n"
	"workers:\n  count: 3\n  env: {A: b}\n  steps:\n    - filter: \"_index >= 0\"\n    - "
	"decode_image\n"
	"    - views: {into: {\"v_{1..2}\": [{random_resized_crop: $(size)}, {use: tail}]}}\n"
	"    - normalize: imagenet\n    - select: [v_1, v_2, label, _key]\n"
	"post_main: [{batch: 4}, {rearrange: {field: \"v_*\", pattern: \"b h w c -> b c h w\"}}]\n";

TestSuite(plan_seal, .init = enter_new_folder);

static char *dump_of(const struct pl_plan *plan, enum pl_dump_format format)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	cr_assert_not_null(out);
	cr_assert_eq(pl_dump_plan(out, plan, format, NULL), 0);
	fclose(out);
	return text;
}

static void check_same(const struct pl_plan *a, const struct pl_plan *b)
{
	for (int format = PL_DUMP_TEXT; format <= PL_DUMP_JSON; format++) {
		char *one = dump_of(a, (enum pl_dump_format)format);
		char *two = dump_of(b, (enum pl_dump_format)format);

		cr_assert_str_eq(one, two);
		free(one);
		free(two);
	}
	cr_assert_arr_eq(a->fingerprint, b->fingerprint, sizeof(a->fingerprint));
	cr_assert_arr_eq(&a->layout, &b->layout, sizeof(a->layout));
	cr_assert_arr_eq(a->post_room, b->post_room, sizeof(a->post_room));
	cr_assert_eq(a->memory, b->memory);
	cr_assert_eq(a->n_workers, b->n_workers);
	cr_assert_str_eq(a->file, b->file);
	cr_assert_str_eq(a->dir, b->dir);
	cr_assert_str_eq(a->text_name[0], b->text_name[0]);
	for (int i = 0; i < a->worker.n; i++)
		cr_assert_eq(a->worker.step[i].place, b->worker.step[i].place);
}

Test(plan_seal, load_gives_the_same_plan)
{
	struct pl_plan *plan = good_plan(full);
	struct pl_err err = {0};
	int fd = pl_plan_seal(plan);
	struct pl_plan *again;

	cr_assert_geq(fd, 0);
	cr_assert_eq(fcntl(fd, F_GET_SEALS) & SEALS, SEALS);
	cr_assert_eq(unlink("p.yaml"), 0);
	again = pl_plan_load(fd, &err);
	cr_assert_not_null(again, "%s", err.text);
	check_same(plan, again);
	close(fd);
	fd = pl_plan_seal(again);
	pl_plan_destroy(plan);
	plan = pl_plan_load(fd, &err);
	cr_assert_not_null(plan, "%s", err.text);
	check_same(plan, again);
	close(fd);
	pl_plan_destroy(plan);
	pl_plan_destroy(again);
}

Test(plan_seal, auto_values_and_the_environment_are_not_looked_at_again)
{
	struct pl_plan *plan;
	struct pl_plan *again;
	struct pl_err err = {0};
	int fd;

	setenv("PLAN_TEST_N", "7", 1);
	plan = good_plan(
		"source: {range: $(PLAN_TEST_N:-3)}\nworkers: [trace: a]\npost_main: [batch: 2]\n");
	fd = pl_plan_seal(plan);
	setenv("PLAN_TEST_N", "9", 1);
	again = pl_plan_load(fd, &err);
	cr_assert_not_null(again, "%s", err.text);
	check_same(plan, again);
	cr_assert_eq(*(const int64_t *)again->source.params, 7);
	close(fd);
	pl_plan_destroy(plan);
	pl_plan_destroy(again);
}

Test(plan_seal, the_card_tells_what_the_supervisor_needs)
{
	struct pl_plan *plan = good_plan(full);
	struct pl_plan_card *card = malloc(sizeof(*card));
	int fd = pl_plan_seal(plan);

	cr_assert_eq(pl_plan_card_read(card, fd, NULL), 0);
	cr_assert_str_eq(card->name, "full");
	cr_assert_str_eq(card->file, plan->file);
	cr_assert_str_eq(card->source_kind, "files");
	cr_assert_eq(card->memory, 512 << 20);
	cr_assert_eq(card->n_workers, 3);
	cr_assert_eq(card->max_clients, 3);
	cr_assert_eq(card->starts_eagerly, 1);
	cr_assert_eq(card->n_allow, 2);
	cr_assert_str_eq(card->allow[1], "@gpu");
	cr_assert_eq(card->n_steps, (uint32_t)plan->n_steps);
	cr_assert_str_eq(card->step_name[0], "shuffle");
	cr_assert_eq(card->step_stage[0], PL_STAGE_PRE);
	cr_assert_str_eq(card->step_name[plan->n_steps - 1], "rearrange");
	free(card);
	close(fd);
	pl_plan_destroy(plan);
}

/* A memfd of the bytes, sealed. */
static int sealed_copy(const void *bytes, size_t n)
{
	int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, SEALS), 0);
	return fd;
}

Test(plan_seal, what_is_no_plan_is_refused)
{
	struct pl_err err = {0};
	char zeros[8192] = {0};
	int fd = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_null(pl_plan_load(fd, &err));
	cr_assert_str_eq(err.text, "this is no sealed plan: it isn't sealed");
	close(fd);
	fd = sealed_copy("PLPLAN1", 8);
	cr_assert_null(pl_plan_load(fd, &err));
	cr_assert_str_eq(err.text, "this is no sealed plan: its size is wrong");
	close(fd);
	fd = sealed_copy(zeros, sizeof(zeros));
	cr_assert_null(pl_plan_load(fd, &err));
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cr_assert_null(pl_plan_load(fd, &err));
	close(fd);
}

/* Any damage behind the card ends in a refusal or in a plan, never in a crash. */
Test(plan_seal, damaged_bytes_never_crash, .timeout = 120)
{
	struct pl_plan *plan = good_plan(full);
	int fd = pl_plan_seal(plan);
	off_t n = lseek(fd, 0, SEEK_END);
	unsigned char *bytes = malloc((size_t)n);
	uint32_t random = 12345;
	int n_refused = 0;

	cr_assert_eq(pread(fd, bytes, (size_t)n, 0), n);
	for (int round = 0; round < 600; round++) {
		size_t first = sizeof(struct pl_plan_card);
		unsigned char *damaged = malloc((size_t)n);
		struct pl_plan *got;
		int copy;

		memcpy(damaged, bytes, (size_t)n);
		for (int i = 0; i < 1 + round % 4; i++) {
			random = random * 1664525 + 1013904223;
			damaged[first + (random >> 4) % ((size_t)n - first)] ^=
				(unsigned char)(1 << (random >> 29));
		}
		copy = sealed_copy(damaged, (size_t)n);
		got = pl_plan_load(copy, NULL);
		n_refused += got == NULL;
		pl_plan_destroy(got);
		close(copy);
		free(damaged);
	}
	cr_assert_gt(n_refused, 100);
	free(bytes);
	close(fd);
	pl_plan_destroy(plan);
}
