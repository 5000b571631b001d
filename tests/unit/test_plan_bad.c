/* tests/unit/test_plan_bad.c - every message about a pipeline file, word for word. */
#include <dirent.h>

#include "tests/unit/plan_harness.h"

/*
 * tests/config/bad/X.yaml must give exactly the text of X.expect. Files without .expect are parts
 * of others. With PL_WRITE_EXPECT=1 in the environment the texts are written instead, to be read
 * before they are committed.
 */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_files(char **name, int room)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	int n = 0;

	cr_assert_not_null(dir);
	while ((entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length < 6 || strcmp(entry->d_name + length - 5, ".yaml") != 0)
			continue;
		cr_assert_lt(n, room);
		name[n++] = strdup(entry->d_name);
	}
	closedir(dir);
	qsort(name, (size_t)n, sizeof(*name), by_name);
	return n;
}

static void expect_path(const char *yaml, char *out, size_t n)
{
	snprintf(out, n, "%.*s.expect", (int)(strlen(yaml) - 5), yaml);
}

static int compare_one(const char *yaml)
{
	struct plan_reading r = plan_read(yaml);
	char path[PATH_MAX];
	char *wanted;
	int is_other;

	expect_path(yaml, path, sizeof(path));
	wanted = read_text(path, NULL);
	is_other = strcmp(wanted, r.messages) != 0;
	if (is_other)
		cr_log_error("%s\n--- expected\n%s--- got\n%s", yaml, wanted, r.messages);
	free(wanted);
	plan_end(&r);
	return is_other;
}

static void write_one(const char *yaml)
{
	struct plan_reading r = plan_read(yaml);
	char path[PATH_MAX];

	expect_path(yaml, path, sizeof(path));
	write_text(path, r.messages);
	plan_end(&r);
}

Test(plan_bad, every_file_gives_its_text)
{
	char *name[512];
	int n_compared = 0;
	int n_other = 0;
	int n;

	cr_assert_eq(chdir(source_path("tests/config/bad")), 0);
	n = list_files(name, 512);
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		expect_path(name[i], path, sizeof(path));
		if (access(path, R_OK) == 0) {
			if (getenv("PL_WRITE_EXPECT"))
				write_one(name[i]);
			else
				n_other += compare_one(name[i]);
			n_compared++;
		}
		free(name[i]);
	}
	cr_assert_geq(n_compared, 100, "only %d files were compared", n_compared);
	cr_assert_eq(n_other, 0, "%d of %d files give another text", n_other, n_compared);
}

Test(plan_bad, a_missing_file_is_named)
{
	struct plan_reading r;

	enter_new_folder();
	r = plan_read("nowhere.yaml");
	cr_assert_str_eq(
		r.messages, "error: can't read 'nowhere.yaml': No such file or directory\n");
	plan_end(&r);
	cr_assert_eq(mkdir("folder.yaml", 0700), 0);
	r = plan_read("folder.yaml");
	cr_assert_str_eq(r.messages, "error: can't read 'folder.yaml': not a file\n");
	plan_end(&r);
}

Test(plan_bad, a_file_above_4_mib_is_refused)
{
	size_t n = ((size_t)4 << 20) + 1;
	char *text = malloc(n);
	struct plan_reading r;

	enter_new_folder();
	cr_assert_not_null(text);
	memset(text, '#', n);
	write_bytes("large.yaml", text, n);
	r = plan_read("large.yaml");
	cr_assert_str_eq(r.messages, "error: can't read 'large.yaml': larger than 4 MiB\n");
	plan_end(&r);
	free(text);
}

Test(plan_bad, settings_must_be_declared)
{
	struct pl_setting settings[] = {{"batch", "8"}, {"sice", "3"}};
	struct plan_reading r;

	enter_new_folder();
	write_text("p.yaml", "params: {size: 1, batch: 4}\nsource: {range: $(size)}\n"
			     "workers: [trace: a]\npost_main: [batch: $(batch)]\n");
	r = plan_read_with("p.yaml", settings, 2);
	cr_assert_str_eq(r.messages, "p.yaml:1:1: error: sice=3: the pipeline declares no "
				     "parameter 'sice' (declared: size, "
				     "batch)\n    1 | params: {size: 1, batch: 4}\n      | ^\n");
	plan_end(&r);
	r = plan_read_with("p.yaml", settings, 1);
	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_eq(r.plan->layout.batch_size, 8);
	plan_end(&r);
}

Test(plan_bad, a_set_value_is_converted_like_a_written_one)
{
	struct pl_setting setting = {"size", "1e3"};
	struct plan_reading r;

	enter_new_folder();
	write_text("p.yaml", "params: {size: 1}\nsource: {range: $(size)}\nworkers: [trace: a]\n");
	r = plan_read_with("p.yaml", &setting, 1);
	cr_assert_str_eq(r.messages,
		"p.yaml:2:17: error: source 'range': count must be a whole number in decimal "
		"digits, not "
		"'1e3'\n    2 | source: {range: $(size)}\n      |                 ^\n");
	plan_end(&r);
}
