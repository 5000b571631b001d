/* tests/unit/test_sources_cases.c - the awkward folders of tests/golden/cases/dir. */
#include <spawn.h>
#include <sys/wait.h>

#include "files_harness.h"

TestSuite(sources_cases, .init = tree_begin, .fini = tree_end, .timeout = 60);

extern char **environ;

static void make(const char *script)
{
	const char *source = getenv("PL_SOURCE");
	char path[2 * PATH_MAX];
	char folder[2 * PATH_MAX];
	char bash[] = "bash";
	char *argv[] = {bash, path, folder, NULL};
	pid_t pid;
	int status;

	snprintf(path, sizeof(path), "%s/tests/golden/cases/dir/%s", source ? source : ".", script);
	snprintf(folder, sizeof(folder), "%s", tree_path("d"));
	cr_assert_eq(posix_spawnp(&pid, bash, NULL, NULL, argv, environ), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s failed", script);
}

Test(sources_cases, class_tree)
{
	static const char *const classes[] = {"1", "10", "2", "Cat", "_x", "cat", "empty_class"};
	struct files f;

	make("mk_class_tree.sh");
	files_open(&f, "d", true);
	cr_expect_str_eq(files_all(&f), "1/a.txt:0 10/a.txt:1 2/a.txt:2 Cat/a.txt:3 _x/a.txt:4 "
					"cat/a.txt:5 cat/nested/b.txt:5");
	cr_assert_eq(f.listing.head->n_classes, PL_ARRAY_LEN(classes));
	for (uint32_t i = 0; i < PL_ARRAY_LEN(classes); i++)
		cr_expect_str_eq(pl_listing_class(&f.listing, i), classes[i]);
	expect_text(f.warning, "1 x file in no class folder");
	files_close(&f);
}

/* Lists what nobody may read as root does. */
static void open_weird(struct files *f, const char *path)
{
	make("mk_weird_dir.sh");
	cr_assert_eq(chmod(tree_path("d/noread"), 0755), 0);
	files_open(f, path, false);
}

static int64_t find(struct files *f, const char *name)
{
	for (uint64_t i = 0; i < f->listing.head->n_records; i++)
		if (!strcmp(files_name(f, i), name))
			return (int64_t)i;
	return -1;
}

static void expect_content(struct files *f, const char *name, const char *text)
{
	int64_t i = find(f, name);
	struct pl_tensor *t = &f->sample.value[0];

	cr_assert_geq(i, 0, "%s is missing", name);
	cr_assert_eq(files_read(f, (uint64_t)i, false), 0, "%s", f->err.text);
	cr_expect(t->shape[0] == (int64_t)strlen(text) && !memcmp(t->data, text, strlen(text)),
		"%s", name);
}

Test(sources_cases, weird_names_are_listed_in_byte_order)
{
	struct files f;
	char last[PATH_MAX] = "";

	open_weird(&f, "d");
	for (uint64_t i = 0; i < f.listing.head->n_records; i++) {
		cr_expect(strcmp(last, files_name(&f, i)) < 0, "%s before %s", last,
			files_name(&f, i));
		snprintf(last, sizeof(last), "%s", files_name(&f, i));
	}
	cr_expect_lt(find(&f, "1.txt"), find(&f, "10.txt"));
	cr_expect_lt(find(&f, "10.txt"), find(&f, "2.txt"));
	cr_expect_lt(find(&f, "20.txt"), find(&f, "3.txt"));
	files_close(&f);
}

Test(sources_cases, weird_names_are_read)
{
	struct files f;
	char long_name[256];

	open_weird(&f, "d");
	expect_content(&f, "with space.txt", "s");
	expect_content(&f, "new\nline.txt", "n");
	expect_content(&f, "tab\there.txt", "t");
	expect_content(&f, "--", "-dash.txt");
	expect_content(&f, "[x]*.txt", "g");
	expect_content(&f, "quote'\".txt", "q");
	expect_content(&f, "#hash.txt", "h");
	expect_content(&f, "%41.txt", "pc");
	expect_content(&f, "caf\xc3\xa9.txt", "nfc");
	expect_content(&f, "cafe\xcc\x81.txt", "nfd");
	expect_content(&f, "latin\xe9.txt", "l1");
	expect_content(&f, "sub.txt/in.txt", "indir");
	expect_content(&f, "sub/deep/9.txt", "deep9");
	expect_content(&f, "link.txt", "1");
	expect_content(&f, "hard.txt", "2");
	expect_content(&f, "empty.txt", "");
	expect_content(&f, "1.txt~", "bak");
	memset(long_name, 'n', 251);
	memcpy(long_name + 251, ".txt", 5);
	expect_content(&f, long_name, "long");
	files_close(&f);
}

Test(sources_cases, what_is_left_out_of_the_weird_folder)
{
	static const char *const absent[] = {".hidden.txt", ".DS_Store", "._1.txt", ".txt",
		"broken.txt", "pipe.txt", "sock.txt", "linkdir/1.txt", "loop/1.txt", "sub/up/x"};
	struct files f;

	open_weird(&f, "d");
	for (size_t i = 0; i < PL_ARRAY_LEN(absent); i++)
		cr_expect_eq(find(&f, absent[i]), -1, "%s", absent[i]);
	expect_text(f.warning, "2 x FIFO, socket or device");
	expect_text(f.warning, "1 x broken link");
	expect_text(f.warning, "3 x link to a folder");
	files_close(&f);
}

Test(sources_cases, links_of_the_weird_folder_are_followed_once_by_name)
{
	struct files f;

	open_weird(&f, "d/*/*.txt");
	cr_expect_geq(find(&f, "linkdir/1.txt"), 0);
	cr_expect_geq(find(&f, "loop/1.txt"), 0);
	cr_expect_eq(find(&f, "loop/loop/1.txt"), -1);
	files_close(&f);
}

Test(sources_cases, the_sparse_file_is_refused_at_once)
{
	struct files f;

	open_weird(&f, "d");
	cr_expect_eq(files_read(&f, (uint64_t)find(&f, "sparse5g.txt"), false), -EMSGSIZE);
	expect_text(f.err.text, "bytes a sample may take");
	files_close(&f);
}
