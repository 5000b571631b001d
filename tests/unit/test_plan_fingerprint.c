/* tests/unit/test_plan_fingerprint.c - what changes a token's fingerprint, and what doesn't. */
#include "tests/unit/plan_harness.h"

enum { SEED, SOURCE, LISTING, PRE, WORKERS, POST };

#define BASE                                                                                       \
	"seed: 1\nsource: {files: {path: photos, label: folder}}\npre_main: [shuffle]\nworkers:\n" \
	"  - decode_image\n  - random_resized_crop: 32\n  - random_flip\npost_main: [batch: 4]\n"

TestSuite(plan_fingerprint, .init = enter_new_folder);

/* Bit i: part i differs. */
static unsigned difference(const char *a, const char *b)
{
	struct pl_plan *one = good_plan(a);
	struct pl_plan *two = good_plan(b);
	unsigned bits = 0;

	for (int i = 0; i < 6; i++)
		bits |= (unsigned)(one->fingerprint[i] != two->fingerprint[i]) << i;
	cr_assert_eq(one->fingerprint[LISTING], 0);
	pl_plan_destroy(one);
	pl_plan_destroy(two);
	return bits;
}

Test(plan_fingerprint, is_the_same_each_time)
{
	cr_assert_eq(difference(BASE, BASE), 0);
}

Test(plan_fingerprint, spelling_and_tuning_do_not_matter)
{
	cr_assert_eq(difference(BASE,
			     "# a comment\nversion: 1\nname: other\nmemory: 256MiB\ndispatch: "
			     "strict\nshard: 3\n"
			     "params: {n: 4}\ndefine:\n  tail: [{random_flip: {axis: horizontal, "
			     "p: 0.50}}]\n"
			     "  unused: [random_flip, cast: f32]\n"
			     "seed: 0001\nsource:\n  files:\n    label: folder\n    path: photos\n"
			     "pre_main: {steps: [{shuffle: {block: 1}}]}\n"
			     "workers:\n  count: 3\n  prefetch: 9\n  nice: 3\n  sample_timeout: "
			     "1h\n  steps:\n"
			     "    - decode_image\n    - trace: here\n    - random_resized_crop: "
			     "{size: [32, 32]}\n"
			     "    - use: tail\npost_main: {prefetch: 0, steps: [{batch: {size: "
			     "$(n)}}]}\n"
			     "on_error: {skip: 3}\nserve: {allow: \"*\"}\n"),
		0);
}

Test(plan_fingerprint, an_included_list_is_the_same_as_a_written_one)
{
	write_text("tail.yaml", "- random_resized_crop: 32\n- random_flip\n");
	cr_assert_eq(difference(BASE, "seed: 1\nsource: {files: {path: photos, label: "
				      "folder}}\npre_main: [shuffle]\n"
				      "workers:\n  - decode_image\n  - include: "
				      "tail.yaml\npost_main: [batch: 4]\n"),
		0);
}

Test(plan_fingerprint, each_part_tells_its_own_change)
{
	const struct {
		const char *from;
		const char *to;
		unsigned parts;
	} change[] = {
		{"seed: 1", "seed: 2", 1u << SEED},
		{"path: photos", "path: other", 1u << SOURCE},
		{"label: folder", "label: none", 1u << SOURCE},
		{"[shuffle]", "[]", 1u << PRE},
		{"[shuffle]", "[shuffle: 8]", 1u << PRE},
		{"crop: 32", "crop: 33", 1u << WORKERS},
		{"- random_flip\n", "- random_flip: {p: 0.4}\n", 1u << WORKERS},
		{"- random_flip\n", "- random_flip: {draw: each}\n", 1u << WORKERS},
		{"- random_flip\n", "- random_flip: {draw: x}\n", 1u << WORKERS},
		{"- random_flip\n", "- group: [random_flip]\n", 1u << WORKERS},
		{"- random_flip\n", "- one_of: [[random_flip], []]\n", 1u << WORKERS},
		{"batch: 4", "batch: 5", 1u << POST},
		{"batch: 4", "batch: {size: 4, drop_last: true}", 1u << POST},
	};

	for (size_t i = 0; i < PL_ARRAY_LEN(change); i++) {
		const char *at = strstr(BASE, change[i].from);
		char text[2048];

		cr_assert_not_null(at);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - BASE), BASE, change[i].to,
			at + strlen(change[i].from));
		cr_expect_eq(difference(BASE, text), change[i].parts, "%s -> %s", change[i].from,
			change[i].to);
	}
}
