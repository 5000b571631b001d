/* tests/unit/test_sources_files.c - listing and reading trees of files, and every error. */
#include "files_harness.h"

TestSuite(sources_files, .init = tree_begin, .fini = tree_end, .timeout = 60);

static void expect_all(const char *path, bool has_labels, const char *wanted)
{
	struct files f;

	files_open(&f, path, has_labels);
	cr_expect_str_eq(files_all(&f), wanted, "%s gives '%s'", path, files_all(&f));
	files_close(&f);
}

Test(sources_files, the_order_is_that_of_the_whole_paths_bytes)
{
	tree_add("a/x", "");
	tree_add("a.txt", "");
	tree_add("a-b/y", "");
	tree_add("a0", "");
	tree_add("B", "");
	tree_add("10", "");
	tree_add("2", "");
	expect_all(".", false, "10 2 B a-b/y a.txt a/x a0");
	expect_all("**/*", false, "10 2 B a-b/y a.txt a/x a0");
}

Test(sources_files, globs_select)
{
	tree_add("p/cat/1.jpg", "");
	tree_add("p/cat/deep/2.jpg", "");
	tree_add("p/dog/3.png", "");
	tree_add("p/4.jpg", "");
	expect_all("p", false, "4.jpg cat/1.jpg cat/deep/2.jpg dog/3.png");
	expect_all("p/", false, "4.jpg cat/1.jpg cat/deep/2.jpg dog/3.png");
	expect_all("p/*/*.jpg", false, "cat/1.jpg");
	expect_all("p/**/*.jpg", false, "4.jpg cat/1.jpg cat/deep/2.jpg");
	expect_all("p/*/*.{jpg,png}", false, "cat/1.jpg dog/3.png");
	expect_all("p/4.jpg", false, "4.jpg");
	expect_all("*/4.jpg", false, "p/4.jpg");
	expect_all("./p/../p/*.jpg", false, "4.jpg");
	expect_all(tree_path("p/*.jpg"), false, "4.jpg");
}

Test(sources_files, labels_are_the_top_folders)
{
	tree_add("p/b/1", "");
	tree_add("p/a/deep/2", "");
	tree_add("p/empty/", NULL);
	tree_add("p/a-/3", "");
	tree_add("p/.hidden/4", "");
	expect_all("p", true, "a-/3:1 a/deep/2:0 b/1:2");
	expect_all("p/**", true, "a-/3:1 a/deep/2:0 b/1:2");
	expect_all("p/*/*", true, "a-/3:1 b/1:2");
	expect_all("p/[ab]/*", true, "b/1:1");
}

Test(sources_files, classes_are_in_the_listing)
{
	struct files f;

	tree_add("p/b/1", "");
	tree_add("p/a/2", "");
	files_open(&f, "p", true);
	cr_expect_eq(f.listing.head->n_classes, 2);
	cr_expect_str_eq(pl_listing_class(&f.listing, 0), "a");
	cr_expect_str_eq(pl_listing_class(&f.listing, 1), "b");
	files_close(&f);
}

Test(sources_files, a_class_file_gives_the_numbers)
{
	struct files f;

	tree_add("p/b/1", "");
	tree_add("p/a/2", "");
	tree_add("classes.txt", "b\nunused\na\n");
	files_set(&f, "p/*/*", true);
	PARAM(const char *, pl_source_files.params, f.params, "classes") = "classes.txt";
	cr_assert_eq(files_list(&f, false), 0, "%s", f.err.text);
	cr_expect_str_eq(files_all(&f), "a/2:2 b/1:0");
	cr_expect_eq(f.listing.head->n_classes, 3);
	files_close(&f);
	tree_add("classes.txt", "b\naa\n");
	files_set(&f, "p/*/*", true);
	PARAM(const char *, pl_source_files.params, f.params, "classes") = "classes.txt";
	cr_expect_eq(files_list(&f, false), -EINVAL);
	expect_text(f.err.text, "folder 'a' in ");
	expect_text(f.err.text, "/p is no class of classes.txt");
}

Test(sources_files, files_in_no_class_folder_are_left_out_and_counted)
{
	struct files f;

	tree_add("p/a/1", "");
	tree_add("p/root1", "");
	tree_add("p/root2", "");
	files_open(&f, "p", true);
	cr_expect_str_eq(f.err.text, "path 'p': left out: 2 x file in no class folder");
	cr_expect_eq(f.err.code, 0);
	cr_expect_str_eq(files_all(&f), "a/1:0");
	files_close(&f);
	files_set(&f, "p/*", true);
	cr_expect_eq(files_list(&f, false), -ENOENT);
	expect_text(f.err.text, "label: folder needs a folder for each class in ");
	expect_text(f.err.text, "and all 2 files lie directly in it");
}

Test(sources_files, links)
{
	struct files f;

	tree_add("p/a/1", "one");
	tree_add("p/b/2", "");
	tree_add("elsewhere/3", "three");
	cr_assert_eq(symlink("1", tree_path("p/a/link")), 0);
	cr_assert_eq(symlink("nowhere", tree_path("p/a/broken")), 0);
	cr_assert_eq(symlink("self", tree_path("p/a/self")), 0);
	cr_assert_eq(symlink("..", tree_path("p/a/up")), 0);
	cr_assert_eq(symlink("../elsewhere", tree_path("p/c")), 0);
	files_open(&f, "p", true);
	cr_expect_str_eq(files_all(&f), "a/1:0 a/link:0 b/2:1");
	expect_text(f.warning, "2 x broken link");
	expect_text(f.warning, "2 x link to a folder (** doesn't follow; */ does)");
	cr_assert_eq(files_read(&f, 1, false), 0);
	cr_expect_eq(f.sample.value[0].shape[0], 3);
	files_close(&f);
	expect_all("p/*/*", true, "a/1:0 a/link:0 b/2:1 c/3:2");
	expect_all("p/*/up/*/[12]", false, "a/up/a/1 a/up/b/2");
}

Test(sources_files, the_root_may_be_a_link)
{
	tree_add("v1/a", "");
	cr_assert_eq(symlink("v1", tree_path("current")), 0);
	expect_all("current", false, "a");
	expect_all("current/*", false, "a");
}

Test(sources_files, special_files_are_left_out)
{
	struct files f;

	tree_add("p/a", "");
	cr_assert_eq(mkfifo(tree_path("p/pipe"), 0600), 0);
	files_open(&f, "p", false);
	cr_expect_str_eq(files_all(&f), "a");
	cr_expect_str_eq(f.warning, "path 'p': left out: 1 x FIFO, socket or device");
	files_close(&f);
}

Test(sources_files, reads_bytes_and_labels)
{
	struct files f;

	tree_add("p/a/1", "hello");
	tree_add("p/b/empty", "");
	files_open(&f, "p", true);
	cr_assert_eq(files_read(&f, 0, false), 0, "%s", f.err.text);
	cr_expect_eq(f.sample.value[0].shape[0], 5);
	cr_expect(!memcmp(f.sample.value[0].data, "hello", 5));
	cr_expect_eq(*(int64_t *)f.sample.value[1].data, 0);
	cr_assert_eq(files_read(&f, 1, false), 0);
	cr_expect_eq(f.sample.value[0].shape[0], 0);
	cr_assert_eq(files_read(&f, 1, true), 0);
	cr_expect_eq((int)f.sample.value[0].dtype, 0, "known_only touches no data");
	cr_expect_eq(*(int64_t *)f.sample.value[1].data, 1);
	files_close(&f);
}

static void expect_read_error(struct files *f, uint64_t index, int code, const char *part)
{
	cr_expect_eq(files_read(f, index, false), code);
	expect_text(f->err.text, part);
}

Test(sources_files, what_changed_since_the_listing_is_an_error_of_that_record)
{
	struct files f;

	tree_add("p/1", "a");
	tree_add("p/2", "a");
	tree_add("p/3", "a");
	files_open(&f, "p", false);
	cr_assert_eq(unlink(tree_path("p/1")), 0);
	cr_assert_eq(unlink(tree_path("p/2")), 0);
	cr_assert_eq(mkfifo(tree_path("p/2"), 0600), 0);
	expect_read_error(&f, 0, -ENOENT, "/p/1: No such file or directory");
	expect_read_error(&f, 1, -EINVAL, "/p/2: it is a FIFO, not a regular file");
	cr_expect_eq(files_read(&f, 2, false), 0);
	expect_read_error(&f, 3, -EINVAL, "the listing has no record 3");
	cr_expect_str_eq(files_name(&f, 3), "record 3");
	files_close(&f);
}

Test(sources_files, a_folder_that_went_away)
{
	struct files f;

	tree_add("p/1", "a");
	files_open(&f, "p", false);
	cr_assert_eq(unlink(tree_path("p/1")), 0);
	cr_assert_eq(rmdir(tree_path("p")), 0);
	expect_read_error(&f, 0, -ENOENT, "/p/1: the folder is gone");
	files_close(&f);
}

Test(sources_files, large_files_are_refused_before_memory_is_taken)
{
	struct files f;

	tree_add("p/sparse", "");
	cr_assert_eq(truncate(tree_path("p/sparse"), (off_t)5 << 30), 0);
	files_open(&f, "p", false);
	expect_read_error(&f, 0, -EMSGSIZE,
		"/p/sparse: a file of 5368709120 bytes is more than the 1048576 bytes a sample "
		"may take");
	cr_expect_eq(f.scratch.taken, 0);
	files_close(&f);
}

static void expect_list_error(const char *path, int code, const char *part)
{
	struct files f;

	files_set(&f, path, false);
	cr_expect_eq(files_list(&f, false), code, "%s: %d", path, f.listed);
	expect_text(f.err.text, part);
}

Test(sources_files, errors_of_the_path)
{
	tree_add("p/a.png", "");
	tree_add("p/.hidden", "");
	tree_add("none/", NULL);
	cr_assert_eq(mkfifo(tree_path("pipe"), 0600), 0);
	expect_list_error("missing", -ENOENT, "path 'missing': /");
	expect_list_error("missing", -ENOENT, "/missing: No such file or directory");
	expect_list_error("missing/*.jpg", -ENOENT, "No such file or directory");
	expect_list_error("p/*.jpg", -ENOENT, "path 'p/*.jpg': no such file in /");
	expect_list_error("p/*.jpg", -ENOENT,
		"where 1 folders and 2 files of other names were seen (hidden names are left out; "
		"check path)");
	expect_list_error("none", -ENOENT, "where 1 folders and 0 files");
	expect_list_error("pipe", -EINVAL, "neither a folder nor a regular file");
	expect_list_error("p/a.png/*", -ENOTDIR, "/p/a.png/: Not a directory");
	expect_list_error("p/**.jpg", -EINVAL, "path 'p/**.jpg': '**.jpg': ** must stand alone");
}

Test(sources_files, errors_of_the_parameters)
{
	struct files f;

	files_set(&f, "", false);
	cr_expect_eq(pl_source_files.check(f.params, &f.err), -EINVAL);
	expect_text(f.err.text, "path is empty");
	files_set(&f, "p", false);
	PARAM(const char *, pl_source_files.params, f.params, "to") = "";
	cr_expect_eq(pl_source_files.check(f.params, &f.err), -EINVAL);
	expect_text(f.err.text, "to is empty");
	files_set(&f, "p", true);
	PARAM(const char *, pl_source_files.params, f.params, "to") = "label";
	cr_expect_eq(pl_source_files.check(f.params, &f.err), -EINVAL);
	expect_text(f.err.text, "the name of the class number already");
	files_set(&f, "p", false);
	PARAM(const char *, pl_source_files.params, f.params, "classes") = "c.txt";
	cr_expect_eq(pl_source_files.check(f.params, &f.err), -EINVAL);
	expect_text(f.err.text, "classes needs label: folder");
}

Test(sources_files, fields)
{
	struct pl_source_field fields[PL_FIELDS_MAX];
	struct files f;
	int n;

	files_set(&f, "p", true);
	cr_expect_eq(pl_source_files.fields(f.params, "/", fields, &n, NULL), 0);
	cr_expect_eq(n, 2);
	cr_expect_str_eq(fields[0].name, "data");
	cr_expect(fields[0].type.kind == PL_KIND_BYTES && !fields[0].is_known);
	cr_expect_str_eq(fields[1].name, "label");
	cr_expect(fields[1].type.kind == PL_KIND_SCALAR && fields[1].is_known);
	files_set(&f, "p", false);
	cr_expect_eq(pl_source_files.fields(f.params, "/", fields, &n, NULL), 0);
	cr_expect_eq(n, 1);
}

Test(sources_files, the_first_record_alone)
{
	struct files f;

	tree_add("p/b/1", "");
	tree_add("p/a/2", "");
	tree_add("p/a/3", "");
	files_set(&f, "p", true);
	cr_assert_eq(files_list(&f, true), 0, "%s", f.err.text);
	cr_expect_str_eq(files_all(&f), "a/2:0");
	cr_expect_eq(f.listing.head->n_classes, 2, "classes are complete all the same");
	files_close(&f);
}

/* Root reads everything, so the rights of nobody are taken on for the test. */
Test(sources_files, what_can_not_be_read_is_an_error_that_names_it)
{
	struct files f;

	tree_add("p/ok/1", "");
	tree_add("p/shut/2", "");
	tree_add("q/noperm", "");
	cr_assert_eq(chmod(tree_path("p/shut"), 0), 0);
	cr_assert_eq(chmod(tree_path("q/noperm"), 0), 0);
	if (geteuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
	files_set(&f, "p", false);
	cr_expect_eq(files_list(&f, false), -EACCES);
	expect_text(f.err.text, "/p/shut/: Permission denied");
	files_set(&f, "q", false);
	cr_expect_eq(files_list(&f, false), 0);
	expect_read_error(&f, 0, -EACCES, "/q/noperm: Permission denied");
	files_close(&f);
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
}

Test(sources_files, depth_is_bounded)
{
	struct files f;
	char name[3 * 260 + 8] = "p/";

	for (int i = 0; i < 258; i++)
		strcat(name, "d/");
	strcat(name, "x");
	tree_add(name, "");
	files_set(&f, "p", false);
	cr_expect_eq(files_list(&f, false), -ENAMETOOLONG);
	expect_text(f.err.text, "File name too long");
}

Test(sources_files, a_listing_of_something_else_is_refused)
{
	struct pl_listing_writer w;
	struct pl_listing l;
	struct pl_err err = {0};
	void *state = NULL;
	PL_AUTO_CLOSE int fd = -1;

	pl_listing_writer_init(&w);
	w.n_records = 3;
	fd = pl_listing_seal(&w);
	cr_assert_eq(pl_listing_map(&l, fd, &err), 0);
	cr_expect_eq(pl_source_files.open(NULL, &l, &state, &err), -EINVAL);
	cr_expect_str_eq(err.text, "the listing is not one of files");
	cr_expect_null(state);
	pl_source_files.close(NULL);
	pl_listing_unmap(&l);
}

/* A folder of a dataset with names as ImageNet's: at most 40 bytes a file. */
Test(sources_files, a_file_takes_few_bytes)
{
	struct files f;
	char name[64];

	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "p/n01440%03d/n01440%03d_%d.JPEG", i / 500, i / 500,
			10000 + i);
		tree_add(name, "");
	}
	files_open(&f, "p", true);
	cr_expect_eq(f.listing.head->n_records, 2000);
	cr_expect_lt(f.listing.bytes / 2000, 32, "%zu", f.listing.bytes);
	cr_expect_str_eq(files_name(&f, 1999), "n01440003/n01440003_11999.JPEG");
	files_close(&f);
}
