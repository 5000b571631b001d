/* daemon/sys/log.c - one line an event, written at once or dropped. */
#include "daemon/sys/log.h"

#include "proto/err.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#define LINE_MAX_BYTES 4096

/* The journal's native protocol: one datagram of NAME=value lines, attributed to the sender's own
 * pid. */
static const struct sockaddr_un journal = {
	.sun_family = AF_UNIX,
	.sun_path = "/run/systemd/journal/socket",
};

static struct {
	enum pl_log_target target;
	enum pl_log_level level;
	int fd;
	bool has_prefix; /* journald reads stderr: "<N>" instead of a time stamp */
	char role[96];
} state = {.target = PL_LOG_STDERR, .level = PL_LOG_INFO, .fd = STDERR_FILENO};

static const int priorities[] = {3, 4, 6, 7};
static const char *const level_names[] = {"error", "warning", "info", "debug"};

static enum pl_log_level level_from_environment(enum pl_log_level level)
{
	const char *name = getenv("PIPELOADER_LOG_LEVEL");

	for (size_t i = 0; name && i < PL_ARRAY_LEN(level_names); i++)
		if (strcmp(name, level_names[i]) == 0)
			return (enum pl_log_level)i;
	return level;
}

/*
 * Numbers 0, 1 and 2 belong to stdin, stdout and stderr, also where a parent left them closed: a
 * log that took one of them would be lost when a child redirects it.
 */
static int above_stdio(int fd)
{
	int moved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return moved;
}

void pl_log_open(enum pl_log_target target, enum pl_log_level level)
{
	const char *file = getenv("PIPELOADER_LOG");
	int fd = -1;

	state.level = level_from_environment(level);
	state.has_prefix = getenv("JOURNAL_STREAM") != NULL;
	if (file && *file) {
		target = PL_LOG_FILE;
		fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			0600);
	} else if (target == PL_LOG_JOURNAL) {
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	if (target == PL_LOG_STDERR || (target == PL_LOG_FILE && fd < 0)) {
		target = PL_LOG_STDERR;
		fd = STDERR_FILENO;
	}
	state.target = target;
	state.fd = fd == STDERR_FILENO && target == PL_LOG_STDERR ? fd : above_stdio(fd);
}

void pl_log_role(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(state.role, sizeof(state.role), format, args);
	va_end(args);
}

static int journal_line(char *out, size_t n, enum pl_log_level level, const char *text)
{
	return snprintf(out, n,
		"PRIORITY=%d\nSYSLOG_IDENTIFIER=pipeloaderd\nPL_ROLE=%s\nMESSAGE=%s%s%s\n",
		priorities[level], state.role, state.role, state.role[0] ? ": " : "", text);
}

static int plain_line(char *out, size_t n, enum pl_log_level level, const char *text)
{
	struct timespec now;
	struct tm tm;
	char stamp[64] = "";

	if (state.target == PL_LOG_STDERR && state.has_prefix)
		return snprintf(out, n, "<%d>%s%s%s\n", priorities[level], state.role,
			state.role[0] ? ": " : "", text);
	clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &tm))
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	return snprintf(out, n, "%s.%03ldZ %s[%d] %s: %s\n", stamp, now.tv_nsec / 1000000,
		state.role, (int)getpid(), level_names[level], text);
}

static void write_line(const char *line, size_t n)
{
	struct pollfd room = {.fd = state.fd, .events = POLLOUT};
	ssize_t r;

	/* Our stderr may be shared, so it can't be made non-blocking: ask whether a line fits. */
	if (state.target == PL_LOG_STDERR && poll(&room, 1, 0) != 1)
		return;
	if (state.target == PL_LOG_JOURNAL)
		r = sendto(state.fd, line, n, MSG_DONTWAIT | MSG_NOSIGNAL,
			(const struct sockaddr *)&journal, sizeof(journal));
	else
		r = write(state.fd, line, n);
	(void)r; /* lossy by contract: a log that can't be written has nobody to tell */
}

void pl_log(enum pl_log_level level, const char *format, ...)
{
	char text[LINE_MAX_BYTES], quoted[LINE_MAX_BYTES], line[LINE_MAX_BYTES + 512];
	va_list args;
	int n, saved = errno;

	if (level > state.level || state.fd < 0)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pl_err_quote(quoted, sizeof(quoted), text);
	n = state.target == PL_LOG_JOURNAL ? journal_line(line, sizeof(line), level, quoted)
					   : plain_line(line, sizeof(line), level, quoted);
	if (n > 0)
		write_line(line, pl_min_u64((uint64_t)n, sizeof(line) - 1));
	errno = saved;
}

int pl_log_fd(void)
{
	return state.fd;
}

void pl_log_moved(int fd)
{
	state.fd = fd;
}
