/* tests/unit/test_sources_file_set.c - what a record source's path names. */
#include "daemon/sources/file_set.h"
#include "param_at.h"
#include "temp_tree.h"

TestSuite(sources_file_set, .init = tree_begin, .fini = tree_end, .timeout = 60);

/* The files' names from the temporary folder on, with spaces between. */
static const char *names(const char *path, struct pl_err *err)
{
	static char out[4096];
	struct pl_file_set set;
	size_t at = 0;

	*out = '\0';
	if (pl_file_set_init(&set, path, tree_root, SIZE_MAX, err) == 0)
		for (size_t i = 0; i < set.n; i++)
			at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%s", i ? " " : "",
				pl_file_set_path(&set, i) + strlen(tree_root) + 1);
	pl_file_set_finish(&set);
	return out;
}

static void expect_names(const char *path, const char *want)
{
	struct pl_err err = {0};
	const char *have = names(path, &err);

	cr_expect_str_eq(have, want, "%s gives '%s' (%s)", path, have, err.text);
}

static void expect_refused(const char *path, const char *why)
{
	struct pl_err err = {0};

	cr_expect_str_eq(names(path, &err), "");
	cr_expect_lt(err.code, 0, "%s", path);
	expect_text(err.text, why);
}

static void add_files(void)
{
	for (int i = 8; i < 12; i++) {
		char name[64];

		snprintf(name, sizeof(name), "s/a-%03d.x", i);
		tree_add(name, "");
		snprintf(name, sizeof(name), "t%d/b.x", i);
		tree_add(name, "");
	}
}

Test(sources_file_set, ranges_count_as_wide_as_they_are_written)
{
	add_files();
	expect_names("s/a-{008..011}.x", "s/a-008.x s/a-009.x s/a-010.x s/a-011.x");
	expect_names("t{8..11}/b.x", "t8/b.x t9/b.x t10/b.x t11/b.x");
	expect_names("t{8..9}/*.x", "t8/b.x t9/b.x");
}

Test(sources_file_set, globs_and_plain_names)
{
	add_files();
	tree_add("n{1..2}", "");
	expect_names("s/*", "s/a-008.x s/a-009.x s/a-010.x s/a-011.x");
	expect_names("s/a-0{08,11}.x", "s/a-008.x s/a-011.x");
	expect_names("t8/b.x", "t8/b.x");
	expect_names("*8/b.x", "t8/b.x");
}

Test(sources_file_set, what_is_not_there_is_named)
{
	add_files();
	expect_refused("s/a-{008..012}.x", "s/a-012.x: No such file");
	expect_refused("s/none.x", "s/none.x: No such file");
	expect_refused("s/*.y", "no such file in");
	expect_refused("s", "it is a folder");
	expect_refused("none/*.x", "No such file");
	expect_refused("s/a-{9..8}.x", "runs backwards");
	expect_refused("s/a-{0..99999999}.x", "more than 1000000 files");
	expect_refused("", "it is empty");
}
