/* tests/unit/test_plan_examples.c - every pipeline under config/pipelines is a good one. */
#include <dirent.h>
#include <limits.h>

#include "tests/unit/plan_harness.h"

/* Pipeline files are copied, as their own folder is where their paths count from; data is linked.
 */
static void take_all(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	cr_assert_not_null(dir);
	while ((entry = readdir(dir))) {
		char from[4096];

		snprintf(from, sizeof(from), "%s/%s", folder, entry->d_name);
		if (strstr(entry->d_name, ".yaml")) {
			char *text = read_text(from, NULL);

			write_text(entry->d_name, text);
			free(text);
		} else if (entry->d_name[0] != '.') {
			cr_assert_eq(symlink(from, entry->d_name), 0, "%s", from);
		}
	}
	closedir(dir);
}

Test(plan_examples, each_is_a_plan_and_says_what_it_is_for)
{
	char folder[PATH_MAX], data[PATH_MAX];
	DIR *dir;
	struct dirent *entry;
	int n = 0;

	snprintf(folder, sizeof(folder), "%s", source_path("config/pipelines"));
	snprintf(data, sizeof(data), "%s", source_path("tests/golden/examples"));
	enter_new_folder();
	take_all(folder);
	take_all(data);
	dir = opendir(".");
	cr_assert_not_null(dir);
	while ((entry = readdir(dir))) {
		struct plan_reading r;
		char *text;

		if (!strstr(entry->d_name, ".yaml"))
			continue;
		r = plan_read(entry->d_name);
		cr_expect_not_null(r.plan, "%s", r.messages);
		text = read_text(entry->d_name, NULL);
		cr_expect_eq(text[0], '#', "%s begins with no comment", entry->d_name);
		free(text);
		plan_end(&r);
		n++;
	}
	closedir(dir);
	cr_assert_geq(n, 8);
}

/* The same steps, written here, defined, or included: nothing may change where or how they run. */
Test(plan_examples, placement_does_not_depend_on_how_steps_are_written)
{
	struct plan_reading written = plan_read(source_path("config/pipelines/placement.yaml"));
	struct plan_reading other;

	enter_new_folder();
	write_text("steps.yaml", "- trace: Worker\n");
	write_text("p.yaml", "source: {list: [0, 1, 2, 3]}\ndispatch: strict\n"
			     "define:\n  before: [trace: Pre Main]\n  after: [trace: Post Main]\n"
			     "  unused: [trace: Worker, trace: Pre Main]\n"
			     "pre_main: [use: before]\n"
			     "workers: {count: 2, prefetch: 0, steps: [include: steps.yaml]}\n"
			     "post_main: {prefetch: 0, steps: [use: after]}\n");
	other = plan_read("p.yaml");
	cr_assert_not_null(written.plan, "%s", written.messages);
	cr_assert_not_null(other.plan, "%s", other.messages);
	cr_assert_eq(other.plan->pre.n, written.plan->pre.n);
	cr_assert_eq(other.plan->worker.n, written.plan->worker.n);
	cr_assert_eq(other.plan->post.n, written.plan->post.n);
	cr_assert_eq(other.plan->n_workers, written.plan->n_workers);
	cr_assert_eq(other.plan->n_steps, written.plan->n_steps);
	cr_assert_arr_eq(other.plan->fingerprint, written.plan->fingerprint,
		sizeof(written.plan->fingerprint));
	plan_end(&written);
	plan_end(&other);
}
