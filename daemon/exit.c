/* daemon/exit.c - how a process ended, or why it doesn't. */
#include "daemon/exit.h"

#include <fcntl.h>
#include <stdio.h>

char *pl_exit_describe(char *out, size_t n, const siginfo_t *how)
{
	const char *name;

	if (how->si_code == CLD_EXITED) {
		snprintf(out, n, "exited with status %d", how->si_status);
		return out;
	}
	name = sigabbrev_np(how->si_status);
	snprintf(out, n, "was killed by SIG%s (%s)%s", name ? name : "?", strsignal(how->si_status),
		how->si_code == CLD_DUMPED ? ", core dumped" : "");
	return out;
}

/* The text of a small /proc file, without a final newline. */
static void proc_read(char *out, size_t n, pid_t pid, const char *file)
{
	char path[64];
	PL_AUTO_CLOSE int fd = -1;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, out, n - 1);
	out[got > 0 ? got : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

char *pl_exit_where(char *out, size_t n, pid_t pid)
{
	char stat[512], wchan[96];
	const char *state;

	proc_read(stat, sizeof(stat), pid, "stat");
	proc_read(wchan, sizeof(wchan), pid, "wchan");
	state = strrchr(stat, ')'); /* the name before it may hold anything */
	if (!state || strlen(state) < 3)
		snprintf(out, n, "unknown");
	else
		snprintf(out, n, "state %c in %s", state[2], wchan[0] ? wchan : "?");
	return out;
}
