/* tests/unit/test_ops_read_file.c - files below the root, and every way out of it that is closed.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/unit/op_harness.h"
#include "tests/unit/temp_tree.h"

extern const struct pl_op pl_op_read_file;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static void make_tree(void)
{
	tree_begin();
	tree_add("root/a.txt", "alpha");
	tree_add("root/in/b.txt", "beta");
	tree_add("root/empty", "");
	tree_add("outside.txt", "secret");
	tree_add("rooted/c.txt", "a neighbour whose name begins alike");
	cr_assert(symlink("in/b.txt", tree_path("root/inner_link")) == 0);
	cr_assert(symlink("../outside.txt", tree_path("root/outer_link")) == 0);
	cr_assert(symlink("/etc", tree_path("root/etc")) == 0);
	cr_assert(symlink("loop", tree_path("root/loop")) == 0);
	cr_assert(mkfifo(tree_path("root/fifo"), 0600) == 0);
}

static const struct pl_param_texts none;

static void begin(struct op_harness *h, const char *name, size_t n)
{
	op_begin(h, &pl_op_read_file);
	op_set(h, "root", "root");
	op_set(h, "max", "100");
	h->dir = tree_root;
	h->roots = &none;
	op_field(h, "file", PL_KIND_TEXT, PL_U8, 1, SHAPE((int64_t)n), name);
	h->type[0].shape[0] = -1;
}

static void expect_file(const char *name, const char *wanted)
{
	struct op_harness h;

	begin(&h, name, strlen(name));
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s: %s", name, h.err.text);
	cr_expect(op_type(&h, 0)->kind == PL_KIND_BYTES && op_type(&h, 0)->shape[0] == -1);
	cr_expect((size_t)op_value(&h, 0)->shape[0] == strlen(wanted));
	cr_expect(memcmp(op_value(&h, 0)->data, wanted, strlen(wanted)) == 0, "%s", name);
	op_end(&h);
}

static void expect_refused(const char *name, const char *part)
{
	struct op_harness h;

	begin(&h, name, strlen(name));
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	op_expect_error(&h, op_run(&h), part);
	op_end(&h);
}

Test(ops_read_file, files_below_the_root)
{
	char absolute[PATH_MAX * 2];

	make_tree();
	expect_file("a.txt", "alpha");
	expect_file("in/b.txt", "beta");
	expect_file("./in//b.txt", "beta");
	expect_file("in/../a.txt", "alpha");
	expect_file("inner_link", "beta");
	expect_file("empty", "");
	(void)snprintf(absolute, sizeof(absolute), "%s/root/in/b.txt", tree_root);
	expect_file(absolute, "beta");
	tree_end();
}

Test(ops_read_file, ways_out)
{
	char absolute[PATH_MAX * 2];

	make_tree();
	expect_refused("../outside.txt", "leads out of the folder");
	expect_refused("in/../../outside.txt", "leads out of the folder");
	expect_refused("outer_link", "leads out of the folder");
	expect_refused("etc/passwd", "leads out of the folder");
	expect_refused("/etc/passwd", "leads out of the folder");
	(void)snprintf(absolute, sizeof(absolute), "%s/rooted/c.txt", tree_root);
	expect_refused(absolute, "leads out of the folder");
	tree_end();
}

Test(ops_read_file, names_without_a_file)
{
	make_tree();
	expect_refused("none.txt", "No such file or directory");
	expect_refused("a.txt/x", "Not a directory");
	expect_refused("in", "it is not a regular file");
	expect_refused("fifo", "it is not a regular file");
	expect_refused("loop", "a symbolic link in it can't be followed");
	expect_refused("", "the name of the file is empty");
	tree_end();
}

Test(ops_read_file, names_that_are_no_text)
{
	char *lengthy = malloc(PATH_MAX + 1);
	struct op_harness h;

	make_tree();
	begin(&h, "a\0b", 3);
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), "it has a NUL byte");
	op_end(&h);
	memset(lengthy, 'x', PATH_MAX + 1);
	begin(&h, lengthy, PATH_MAX);
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), "the name of the file is too long");
	op_end(&h);
	free(lengthy);
	tree_end();
}

Test(ops_read_file, max_counts_before_memory_is_taken)
{
	struct op_harness h;

	make_tree();
	begin(&h, "a.txt", 5);
	op_set(&h, "max", "4");
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), "it has 5 bytes, more than max: 4");
	cr_expect(h.scratch.taken == 0);
	op_set(&h, "max", "5");
	cr_expect(op_run(&h) == 0, "%s", h.err.text);
	op_end(&h);
	tree_end();
}

Test(ops_read_file, a_root_that_does_not_exist)
{
	struct op_harness h;

	make_tree();
	begin(&h, "a.txt", 5);
	op_set(&h, "root", "nowhere");
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	op_expect_error(&h, op_run(&h), "root: 'nowhere' can't be opened: No such file");
	op_end(&h);
	tree_end();
}

Test(ops_read_file, roots_of_the_pipeline)
{
	struct pl_param_texts roots = {2, {"nowhere", "root/in"}};
	struct op_harness h;

	make_tree();
	begin(&h, "b.txt", 5);
	h.roots = &roots;
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	op_expect_error(&h, op_run(&h), "lies below none of the folders in roots:");
	op_set(&h, "root", "root/in");
	cr_expect(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	op_set(&h, "root", "rooted");
	roots.v[1] = "root";
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), "lies below none");
	op_set(&h, "root", "root/in");
	cr_expect(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	op_end(&h);
	tree_end();
}

/* From here on openat2 is answered with ENOSYS, as by a kernel before 5.6. */
static void forget_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {PL_ARRAY_LEN(code), code};

	cr_assert(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	cr_assert(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

Test(ops_read_file, a_kernel_without_openat2)
{
	make_tree();
	forget_openat2();
	expect_file("a.txt", "alpha");
	expect_file("./in//b.txt", "beta");
	expect_refused("in/../a.txt", "leads out of the folder");
	expect_refused("../outside.txt", "leads out of the folder");
	expect_refused("outer_link", "a symbolic link");
	expect_refused("inner_link", "a symbolic link");
	expect_refused("etc/passwd", "Not a directory");
	expect_refused("/etc/passwd", "Not a directory");
	expect_refused("in", "it is not a regular file");
	tree_end();
}

Test(ops_read_file, fields_that_are_refused)
{
	struct op_harness h;

	make_tree();
	begin(&h, "a.txt", 5);
	h.type[0] = pl_type_scalar(PL_I64);
	op_expect_error(
		&h, op_load(&h), "field 'file' is scalar i64, but the name of a file is a text");
	op_end(&h);
	tree_end();
}
