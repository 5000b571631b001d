/* tests/unit/test_sys_log.c - one line an event. */
#include "daemon/sys/log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>

static char path[] = "/tmp/pipeloader-log-XXXXXX";
static char text[16384];

static void open_log(const char *level)
{
	close(mkstemp(path));
	setenv("PIPELOADER_LOG", path, 1);
	setenv("PIPELOADER_LOG_LEVEL", level, 1);
	pl_log_open(PL_LOG_STDERR, PL_LOG_ERROR);
	pl_log_role("worker photos/3");
}

static const char *logged(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	unlink(path);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static int n_lines(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

Test(sys_log, a_line_has_time_role_pid_level_and_text)
{
	char expected[64];

	open_log("info");
	cr_expect_gt(pl_log_fd(), 2);
	pl_log(PL_LOG_WARNING, "n=%d", 5);
	snprintf(expected, sizeof(expected), "Z worker photos/3[%d] warning: n=5\n", (int)getpid());
	cr_expect(strstr(logged(), expected), "%s", text);
	cr_expect_eq(n_lines(text), 1);
}

Test(sys_log, the_environment_chooses_the_level)
{
	open_log("warning");
	pl_log(PL_LOG_ERROR, "one");
	pl_log(PL_LOG_WARNING, "two");
	pl_log(PL_LOG_INFO, "three");
	cr_expect_eq(n_lines(logged()), 2, "%s", text);
}

Test(sys_log, foreign_bytes_make_no_line_of_their_own)
{
	open_log("debug");
	pl_log(PL_LOG_INFO, "name=%s", "a\nfake\033[0m\xff\xc3\xa4");
	cr_expect(strstr(logged(), "name=a\\x0Afake\\x1B[0m\\xFF\xc3\xa4\n"), "%s", text);
	cr_expect_eq(n_lines(text), 1);
}

Test(sys_log, a_long_line_is_cut_and_ends)
{
	char longer[8000];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	open_log("debug");
	pl_log(PL_LOG_INFO, "%s", longer);
	cr_expect_eq(n_lines(logged()), 1);
	cr_expect_lt(strlen(text), 5000);
}

Test(sys_log, a_moved_descriptor_goes_on)
{
	int moved;

	open_log("info");
	moved = fcntl(pl_log_fd(), F_DUPFD_CLOEXEC, 50);
	close(pl_log_fd());
	pl_log_moved(moved);
	pl_log(PL_LOG_INFO, "still here");
	cr_expect(strstr(logged(), "still here"));
}
