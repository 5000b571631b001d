/* tests/unit/test_plan_fuse.c - which steps are planned as one pass. */
#include "tests/unit/plan_harness.h"

TestSuite(plan_fuse, .init = enter_new_folder);

#define BEGIN "source: {files: {path: photos, label: folder}}\nworkers:\n  - decode_image\n"

/* The passes of the worker steps as "2-3 5-7", by place in the list. Static. */
static const char *passes_of(const struct pl_plan *plan)
{
	static char text[200];
	size_t n = 0;

	text[0] = '\0';
	for (int i = 0; i < plan->worker.n; i++) {
		const struct pl_step *step = &plan->worker.step[i];

		cr_assert_leq(step->pass.at, step->pass.n);
		cr_assert((step->pass.n == 0) == (step->pass.at == 0));
		if (step->pass.at == 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d-%d", n ? " " : "",
				i, i + step->pass.n - 1);
	}
	return text;
}

static void expect(const char *steps, const char *wanted)
{
	char text[4000];
	struct pl_plan *plan;

	snprintf(text, sizeof(text), BEGIN "%s", steps);
	plan = good_plan(text);
	cr_expect_str_eq(passes_of(plan), wanted, "%s: %s", steps, passes_of(plan));
	pl_plan_destroy(plan);
}

#define IMAGENET "  - normalize: imagenet\n"
#define PLANES   "  - rearrange: \"h w c -> c h w\"\n"
#define HALF     "  - cast: {field: image, dtype: f16}\n"

Test(plan_fuse, adjacent_steps_on_one_field_are_one_pass)
{
	expect(IMAGENET PLANES, "1-2");
	expect(IMAGENET PLANES HALF, "1-3");
	expect(IMAGENET HALF PLANES, "1-3");
	expect("  - cast: f32\n" IMAGENET PLANES, "1-3");
	expect("  - random_flip\n" IMAGENET PLANES, "2-3");
	expect("  - normalize: {field: image, to: x, table: imagenet}\n"
	       "  - rearrange: {field: x, pattern: \"h w c -> c h w\"}\n",
		"1-2");
}

Test(plan_fuse, what_stands_between_parts_them)
{
	expect(IMAGENET "  - trace: between\n" PLANES, "");
	expect(IMAGENET, "");
	expect("  - normalize: {field: image, to: x, table: imagenet}\n"
	       "  - rearrange: {field: image, pattern: \"h w c -> c h w\"}\n",
		"");
	expect(IMAGENET "  - rearrange: {field: image, to: x, pattern: \"h w c -> c h w\"}\n", "");
	expect(IMAGENET "  - cast: {field: label, dtype: i32}\n" PLANES, "");
}

/* A step that may be left out, that is no order of axes, or that only is one. */
Test(plan_fuse, what_is_no_move_stays_apart)
{
	expect("  - cast: {field: image, dtype: u8, p: 0.5}\n" IMAGENET, "");
	expect(IMAGENET "  - rearrange: \"h w c -> c (h w)\"\n", "");
	expect(IMAGENET "  - rearrange: {pattern: \"h w c -> c h w\", axes: {c: 3}}\n", "");
	expect("  - rearrange: \"h w c -> w h c\"\n" PLANES, "");
	expect("  - cast: u8\n" PLANES, "");
	expect(IMAGENET "  - rearrange: \"h w c -> c w h\"\n", "");
	expect(IMAGENET "  - rearrange: \"h w c -> h c w\"\n", "1-2");
}

/* Channels that are no longer the last axis of what came in begin a pass of their own. */
Test(plan_fuse, moved_channels_end_a_pass)
{
	expect("  - cast: i32\n" PLANES "  - cast: {field: image, dtype: f32}\n"
	       "  - rearrange: {field: image, pattern: \"c h w -> h w c\"}\n"
	       "  - normalize: {field: image, table: imagenet}\n",
		"1-5");
	expect("  - resize: {size: 3}\n  - cast: i32\n  - rearrange: \"h w c -> h c w\"\n"
	       "  - normalize: {field: image, table: imagenet}\n" HALF,
		"2-3 4-5");
}

Test(plan_fuse, inner_lists_have_passes_of_their_own)
{
	struct pl_plan *plan = good_plan(BEGIN "  - group:\n      steps:\n  "
					       "      - normalize: imagenet\n"
					       "        - rearrange: \"h w c -> c h w\"\n");
	const struct pl_step *inner = plan->worker.step[1].list[0].step;

	cr_expect_eq(inner[0].pass.n, 2);
	cr_expect_eq(inner[0].pass.at, 1);
	cr_expect_eq(inner[1].pass.at, 2);
	cr_expect_eq(plan->worker.step[1].pass.n, 0);
	pl_plan_destroy(plan);
}

/* The switch, and that it can't make a token unfit. */
Test(plan_fuse, can_be_turned_off)
{
	struct pl_plan *on = good_plan("fuse: on\n" BEGIN IMAGENET PLANES);
	struct pl_plan *off = good_plan("fuse: off\n" BEGIN IMAGENET PLANES);
	struct plan_reading r = plan_of("fuse: maybe\n" BEGIN);

	cr_expect_str_eq(passes_of(on), "1-2");
	cr_expect_str_eq(passes_of(off), "");
	cr_expect_arr_eq(on->fingerprint, off->fingerprint, sizeof(on->fingerprint));
	cr_expect_eq(r.n_errors, 1, "%s", r.messages);
	pl_plan_destroy(on);
	pl_plan_destroy(off);
	plan_end(&r);
}

Test(plan_fuse, only_workers_fuse)
{
	struct pl_plan *plan =
		good_plan(BEGIN "  - resize: {size: 8}\npost_main:\n  - batch: 2\n"
				"  - cast: {field: image, dtype: f32}\n"
				"  - rearrange: {field: image, pattern: \"b h w c -> b c h w\"}\n");

	for (int i = 0; i < plan->post.n; i++)
		cr_expect_eq(plan->post.step[i].pass.n, 0);
	pl_plan_destroy(plan);
}
