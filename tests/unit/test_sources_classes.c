/* tests/unit/test_sources_classes.c - class files, and labels by name. */
#include "daemon/sources/classes.h"

#include "param_at.h"
#include "temp_tree.h"

TestSuite(sources_classes, .init = tree_begin, .fini = tree_end);

Test(sources_classes, a_line_is_a_class)
{
	struct pl_classes c = {0};
	struct pl_err err = {0};

	tree_add("classes.txt", "zebra\r\ncat\nnew dog");
	cr_assert_eq(pl_classes_read(&c, tree_path("classes.txt"), &err), 0, "%s", err.text);
	cr_expect_eq(c.n, 3);
	cr_expect_eq(pl_classes_find(&c, "zebra"), 0);
	cr_expect_eq(pl_classes_find(&c, "cat"), 1);
	cr_expect_eq(pl_classes_find(&c, "new dog"), 2);
	cr_expect_eq(pl_classes_find(&c, "dog"), -1);
	pl_classes_finish(&c);
	pl_classes_finish(&c);
	pl_classes_finish(NULL);
}

Test(sources_classes, names_are_numbered_in_byte_order)
{
	static const char *const names[] = {"cat", "Cat", "10", "2", "1", "_x"};
	static const char *const sorted[] = {"1", "10", "2", "Cat", "_x", "cat"};
	struct pl_classes c = {0};
	const char *twice = NULL;

	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++)
		cr_assert_eq(pl_classes_add(&c, names[i]), 0);
	pl_classes_number_by_name(&c);
	cr_assert_eq(pl_classes_sort(&c, &twice), 0);
	for (size_t i = 0; i < PL_ARRAY_LEN(sorted); i++)
		cr_expect_eq(pl_classes_find(&c, sorted[i]), (int64_t)i);
	cr_assert_eq(pl_classes_add(&c, "cat"), 0);
	cr_expect_eq(pl_classes_sort(&c, &twice), -EEXIST);
	cr_expect_str_eq(twice, "cat");
	pl_classes_finish(&c);
}

static void expect_refusal(const char *name, int code, const char *part)
{
	struct pl_classes c = {0};
	struct pl_err err = {0};

	cr_expect_eq(pl_classes_read(&c, tree_path(name), &err), code, "%s", name);
	expect_text(err.text, part);
	expect_text(err.text, "classes: /");
	pl_classes_finish(&c);
}

Test(sources_classes, wrong_files_are_refused)
{
	FILE *f;

	expect_refusal("missing", -ENOENT, "No such file");
	tree_add("empty", "");
	expect_refusal("empty", -EINVAL, "the file is empty");
	tree_add("gap", "a\n\nb\n");
	expect_refusal("gap", -EINVAL, "line 2 is empty");
	tree_add("twice", "a\nb\na\n");
	expect_refusal("twice", -EEXIST, "class 'a' is there twice");
	f = fopen(tree_path("nul"), "w");
	fwrite("a\0b", 1, 3, f);
	fclose(f);
	expect_refusal("nul", -EINVAL, "there is a NUL in it");
	tree_add("big", "");
	cr_assert_eq(truncate(tree_path("big"), (16 << 20) + 1), 0);
	expect_refusal("big", -EFBIG, "larger than 16 MiB");
	tree_add("folder/", NULL);
	expect_refusal("folder", -EINVAL, "it is a folder");
}
