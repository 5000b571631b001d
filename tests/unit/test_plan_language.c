/* tests/unit/test_plan_language.c - the pipelines that the language was made for. */
#include <dirent.h>

#include "tests/unit/plan_harness.h"

/* A fault is only that something isn't built yet: a step, a source, a parameter, or one of its
 * forms. */
static bool is_not_built_yet(const char *line)
{
	return strstr(line, "is not in this release") || strstr(line, "is not in this build yet") ||
	       strstr(line, "step 'shuffle': block must be a whole number");
}

static bool check_messages(const char *file, char *messages)
{
	bool is_ok = true;

	for (char *line = strtok(messages, "\n"); line; line = strtok(NULL, "\n"))
		if (strstr(line, ": error: ") && !is_not_built_yet(line)) {
			cr_log_error("%s: %s", file, line);
			is_ok = false;
		}
	return is_ok;
}

Test(plan_language, nothing_but_what_is_not_built_yet_is_refused)
{
	DIR *dir;
	struct dirent *entry;
	int n = 0;
	int n_ok = 0;
	int n_plans = 0;

	cr_assert_eq(chdir(source_path("tests/golden/language")), 0);
	dir = opendir(".");
	cr_assert_not_null(dir);
	while ((entry = readdir(dir))) {
		struct plan_reading r;

		if (!strstr(entry->d_name, ".yaml") || strcmp(entry->d_name, "common.yaml") == 0)
			continue;
		r = plan_read(entry->d_name);
		n++;
		n_plans += r.plan != NULL;
		n_ok += check_messages(entry->d_name, r.messages);
		plan_end(&r);
	}
	closedir(dir);
	printf("%d of %d files, %d of them plans\n", n_ok, n, n_plans);
	cr_assert_eq(n, 18);
	cr_assert_eq(n_ok, 18);
	cr_assert_geq(n_plans, 2);
}

Test(plan_language, imagenet_training)
{
	struct plan_reading r;
	const struct pl_delivery *d;
	char text[256];

	cr_assert_eq(chdir(source_path("tests/golden/language")), 0);
	r = plan_read("01-imagenet-train.yaml");
	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_eq(r.plan->epochs, 0);
	cr_assert_eq(r.plan->seed, 42);
	cr_assert_eq(r.plan->layout.batch_size, 256);
	cr_assert_eq(r.plan->layout.drop_last, true);
	cr_assert_eq(r.plan->worker.n, 5);
	cr_assert_eq(r.plan->layout.n_deliveries, 2);
	d = &r.plan->layout.delivery[1];
	cr_assert_str_eq(r.plan->field_name[d->field], "image");
	cr_assert_str_eq(pl_type_format(text, sizeof(text), &d->type), "tensor f32 [3, 224, 224]");
	cr_assert_eq(r.plan->worker.step[4].writes_row[0], true);
	plan_end(&r);
}
