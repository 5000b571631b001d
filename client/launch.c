/* client/launch.c - starts a job's daemon: binds its meeting point, hands the socket over. */
#include "client/room.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/*
 * Who binds the name starts the daemon; who loses joins, and its connection waits in the socket's
 * queue until the daemon takes it. The caller may have any number of threads, so everything that
 * the children need is made before the fork, and they call nothing but async-signal-safe functions.
 * The daemon is a grandchild in a session of its own: the caller never has to reap it, and no
 * Ctrl-C meant for the caller reaches it.
 */
extern char **environ;

/* exec wants char *, and changes nothing. */
#define WORD(text) ((char *)(uintptr_t)(text))

enum { FD_SOCKET = 3, FD_REPORT = 4, FD_ABOVE = 10 };

struct birth {
	char program[PATH_MAX];
	char **argv;
	char **envp;
	char listen_pid[sizeof("LISTEN_PID=") + 20];
	int socket; /* all three above FD_ABOVE, so that moving one never lands on another */
	int report;
	int null;
};

/* Moves a descriptor out of the way of the low numbers. Takes fd, also when it fails. */
static int raise_fd(int fd)
{
	int high = fd < 0 ? -errno : fcntl(fd, F_DUPFD_CLOEXEC, FD_ABOVE);

	if (fd < 0)
		return high;
	if (high < 0)
		high = -errno;
	close(fd);
	return high;
}

/* The listening socket at the meeting point, or -EADDRINUSE when somebody else has it. */
static int bind_name(const char *name)
{
	PL_AUTO_CLOSE int fd = -1;
	struct sockaddr_un address;
	unsigned n;
	int r = pl_frame_address(&address, &n, name);

	if (r)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) < 0 || listen(fd, 64) < 0)
		return -errno;
	return raise_fd(pl_steal_fd(&fd));
}

static int make_arguments(struct birth *b, const struct pl_place *place)
{
	size_t n = 0;

	b->argv = calloc(4 + 2 * place->n_settings, sizeof(*b->argv));
	if (!b->argv)
		return -ENOMEM;
	b->argv[n++] = b->program;
	b->argv[n++] = WORD("--job");
	b->argv[n++] = WORD(place->pipeline);
	for (size_t i = 0; i < place->n_settings; i++) {
		b->argv[n++] = WORD("--set");
		b->argv[n++] = place->setting[i];
	}
	return 0;
}

/* What a service manager told the caller is not meant for the daemon. */
static bool is_inherited(const char *variable)
{
	static const char *const not_ours[] = {
		"LISTEN_PID=", "LISTEN_FDS=", "LISTEN_FDNAMES=", "NOTIFY_SOCKET=", "WATCHDOG_"};

	for (size_t i = 0; i < PL_ARRAY_LEN(not_ours); i++)
		if (strncmp(variable, not_ours[i], strlen(not_ours[i])) == 0)
			return false;
	return true;
}

static int make_environment(struct birth *b)
{
	size_t n = 0;

	while (environ && environ[n])
		n++;
	b->envp = calloc(n + 3, sizeof(*b->envp));
	if (!b->envp)
		return -ENOMEM;
	n = 0;
	for (char **e = environ; e && *e; e++)
		if (is_inherited(*e))
			b->envp[n++] = *e;
	b->envp[n++] = WORD("LISTEN_FDS=1");
	b->envp[n] = b->listen_pid;
	return 0;
}

/* Appends a pid's digits; snprintf is not for a child of threads. */
static void write_listen_pid(char *out, pid_t pid)
{
	char digits[20];
	size_t n = 0;

	memcpy(out, "LISTEN_PID=", 11);
	out += 11;
	do {
		digits[n++] = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid);
	while (n)
		*out++ = digits[--n];
	*out = '\0';
}

_Noreturn static void report_and_exit(int report)
{
	int code = errno;

	(void)!write(report, &code, sizeof(code));
	_exit(127);
}

static void reset_signals(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &standard, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void become_daemon(struct birth *b)
{
	for (int fd = 0; fd < 3; fd++)
		if (dup2(b->null, fd) < 0)
			report_and_exit(b->report);
	if (dup2(b->socket, FD_SOCKET) < 0 || dup3(b->report, FD_REPORT, O_CLOEXEC) < 0 ||
		close_range(FD_REPORT + 1, ~0u, 0) < 0 || chdir("/") < 0)
		report_and_exit(FD_REPORT);
	reset_signals();
	write_listen_pid(b->listen_pid, getpid());
	execve(b->program, b->argv, b->envp);
	report_and_exit(FD_REPORT);
}

_Noreturn static void first_child(struct birth *b)
{
	pid_t pid;

	setsid();
	pid = _Fork();
	if (pid == 0)
		become_daemon(b);
	if (pid < 0)
		report_and_exit(b->report);
	_exit(0);
}

/* 0 when exec succeeded, else the child's -errno. Signals are kept off the children until they have
 * reset their handlers. */
static int give_birth(struct birth *b, int report_end)
{
	sigset_t all;
	sigset_t before;
	int code = 0;
	ssize_t n;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = _Fork();
	if (pid == 0)
		first_child(b);
	code = pid < 0 ? errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(b->report);
	b->report = -1;
	if (pid < 0)
		return -code;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		; /* ECHILD: the caller's own handler was faster */
	do {
		n = read(report_end, &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(code) ? -code : 0;
}

static int open_ends(struct birth *b, int *report_end)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	*report_end = ends[0];
	b->report = raise_fd(ends[1]);
	if (b->report < 0)
		return b->report;
	b->null = raise_fd(open("/dev/null", O_RDWR | O_CLOEXEC));
	return b->null < 0 ? b->null : 0;
}

static void birth_finish(struct birth *b)
{
	free(b->argv);
	free(b->envp);
	pl_closep(&b->socket);
	pl_closep(&b->report);
	pl_closep(&b->null);
}

int pl_launch(const struct pl_place *place, struct pl_error *error)
{
	PL_CLEANUP(birth_finish) struct birth b = {.socket = -1, .report = -1, .null = -1};
	PL_AUTO_CLOSE int report_end = -1;
	int r = pl_find_daemon(b.program, sizeof(b.program), error);

	if (r)
		return r;
	b.socket = bind_name(place->socket);
	if (b.socket == -EADDRINUSE)
		return PL_LAUNCH_LOST;
	r = b.socket < 0 ? b.socket : make_arguments(&b, place);
	if (r == 0)
		r = make_environment(&b);
	if (r == 0)
		r = open_ends(&b, &report_end);
	if (r == 0)
		r = give_birth(&b, report_end);
	if (r)
		return pl_error_set(error, r, PL_EXIT_NO_DAEMON,
			"the job daemon %s can't be started: %s", b.program, strerror(-r));
	return 0;
}
