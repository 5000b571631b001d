/* tests/unit/test_sources_regular.c - only regular files are read, as they were. */
#include "daemon/sources/regular.h"

#include "param_at.h"
#include "temp_tree.h"

TestSuite(sources_regular, .init = tree_begin, .fini = tree_end, .timeout = 20);

static int open_it(const char *name, int *fd, uint64_t *n, struct pl_err *err)
{
	*err = (struct pl_err){0};
	*fd = -1;
	return pl_regular_open(AT_FDCWD, tree_path(name), fd, n, err);
}

Test(sources_regular, reads_what_is_there)
{
	struct pl_err err;
	char text[8] = "";
	uint64_t n;
	int fd;

	tree_add("a", "hello");
	tree_add("empty", "");
	cr_assert_eq(open_it("a", &fd, &n, &err), 0);
	cr_expect_eq(n, 5);
	cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	cr_expect_eq(pl_regular_read(fd, text, 5, &err), 0);
	cr_expect_str_eq(text, "hello");
	close(fd);
	cr_assert_eq(open_it("empty", &fd, &n, &err), 0);
	cr_expect_eq(n, 0);
	cr_expect_eq(pl_regular_read(fd, text, 0, &err), 0);
	close(fd);
}

Test(sources_regular, other_things_are_refused_without_blocking)
{
	struct pl_err err;
	uint64_t n;
	int fd;

	tree_add("folder/", NULL);
	cr_assert_eq(mkfifo(tree_path("pipe"), 0600), 0);
	cr_expect_eq(open_it("pipe", &fd, &n, &err), -EINVAL);
	cr_expect_str_eq(err.text, "it is a FIFO, not a regular file");
	cr_expect_eq(open_it("folder", &fd, &n, &err), -EINVAL);
	cr_expect_str_eq(err.text, "it is a folder, not a regular file");
	cr_expect_eq(open_it("missing", &fd, &n, &err), -ENOENT);
	cr_expect_str_eq(err.text, "No such file or directory");
	cr_expect_eq(pl_regular_open(AT_FDCWD, "/dev/null", &fd, &n, &err), -EINVAL);
	cr_expect_str_eq(err.text, "it is a socket or device, not a regular file");
	cr_expect_eq(fd, -1);
}

Test(sources_regular, changes_while_reading_are_errors)
{
	struct pl_err err;
	char text[8];
	uint64_t n;
	int fd;

	tree_add("a", "hello");
	cr_assert_eq(open_it("a", &fd, &n, &err), 0);
	cr_assert_eq(truncate(tree_path("a"), 3), 0);
	cr_expect_eq(pl_regular_read(fd, text, 5, &err), -EIO);
	cr_expect_str_eq(err.text, "it was cut to 3 of 5 bytes while it was read");
	cr_assert_eq(truncate(tree_path("a"), 9), 0);
	cr_expect_eq(pl_regular_read(fd, text, 5, &err), -EIO);
	cr_expect_str_eq(err.text, "it changed from 5 to 9 bytes while it was read");
	close(fd);
	cr_expect_eq(pl_regular_read(-1, text, 5, &err), -EBADF);
	expect_text(err.text, "at byte 0");
}
