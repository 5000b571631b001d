/* daemon/born.c - the first steps of every child. */
#include "daemon/born.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "daemon/sys/log.h"
#include "daemon/sys/notify.h"

/* Lifted to numbers that no child keeps, so that moving one down never overwrites another. */
#define LIFTED 32

/* The death signal comes from the parent's thread, which is its only one; a parent that died before
 * prctl is seen by getppid. */
static int die_with(pid_t supervisor)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return getppid() == supervisor ? 0 : -EOWNERDEAD;
}

static void reset_signals(bool ignores_signals)
{
	static const int calm[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; ignores_signals && i < PL_ARRAY_LEN(calm); i++)
		signal(calm[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* stdin is nobody's; stdout and stderr stay, or are /dev/null where the parent has none. */
static int settle_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return -errno;
	if (dup2(null, STDIN_FILENO) < 0)
		return -errno;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && dup2(null, fd) < 0)
			return -errno;
	return 0;
}

static int lift(int *fd)
{
	int lifted = fcntl(*fd, F_DUPFD_CLOEXEC, LIFTED);

	if (lifted < 0)
		return -errno;
	*fd = lifted;
	return 0;
}

/* dup2 to the same number would keep it as it is: never the case here, for all were lifted. */
static int put(int *fd, int number)
{
	if (dup3(*fd, number, O_CLOEXEC) < 0)
		return -errno;
	*fd = number;
	return 0;
}

static int close_from(int first)
{
	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) < 0)
		return -errno;
	return 0;
}

static int keep_descriptors(const struct pl_child *child)
{
	int log = pl_log_fd(), number = STDERR_FILENO + 1, r = 0;
	bool has_log = log > STDERR_FILENO;

	if (has_log)
		r = lift(&log);
	for (int i = 0; r == 0 && i < child->n_keep; i++)
		r = lift(child->keep[i]);
	if (r == 0)
		r = settle_stdio();
	if (r == 0 && has_log) {
		r = put(&log, number++);
		pl_log_moved(log);
	}
	for (int i = 0; r == 0 && i < child->n_keep; i++)
		r = put(child->keep[i], number++);
	return r ? r : close_from(number);
}

int pl_born(const struct pl_child *child, pid_t supervisor, bool ignores_signals)
{
	int r = die_with(supervisor);

	if (r < 0)
		return r;
	reset_signals(ignores_signals);
	r = keep_descriptors(child);
	if (r < 0)
		return r;
	pl_notify_forget();
	prctl(PR_SET_NAME, child->name);
	pl_log_role("%s", child->role);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	if (child->nice && setpriority(PRIO_PROCESS, 0, child->nice) < 0)
		pl_log(PL_LOG_WARNING, "nice=%d errno=%d: runs as before", child->nice, errno);
	return 0;
}
