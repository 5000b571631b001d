/* client/ctl/run.c - pipeloaderctl run: a command, and job daemons that live as long as it. */
#include "client/ctl/ctl.h"
#include "client/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct pl_error error;

/* A job id that nobody else has, unless the caller is inside of a job already. */
static bool name_job(void)
{
	uint64_t random[2];
	char id[64];

	if (getenv("PIPELOADER_JOB_ID"))
		return true;
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	snprintf(id, sizeof(id), "run:%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	/* Its daemons end with the command, not ten seconds later; `run` holds them as long as it
	 * lives. */
	return setenv("PIPELOADER_JOB_ID", id, 1) == 0 &&
	       setenv("PIPELOADER_LINGER_MS", "100", 0) == 0;
}

/* Starts the daemon of one file, and sees that the file is right; the hold outlives the stream. */
static int hold(const struct ctl_line *line, const char *file)
{
	struct pl_client_options options;
	struct pl_client *client;
	int fd;

	ctl_options(line, &options);
	options.credits = 0;
	client = pl_client_open(file, &options, &error);
	if (!client)
		return ctl_say(&error);
	fd = pl_hold(file, &options, &error);
	pl_client_close(client);
	return fd < 0 ? ctl_say(&error) : CTL_OK; /* fd stays open until this process ends */
}

/* What the command gets too. A terminal's Ctrl-C reaches it anyway: only what a process sent is
 * passed on. */
static void block_signals(sigset_t *caught, sigset_t *before)
{
	static const int passed[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD};

	sigemptyset(caught);
	for (size_t i = 0; i < CTL_LEN(passed); i++)
		sigaddset(caught, passed[i]);
	sigprocmask(SIG_BLOCK, caught, before);
}

static int spawn(char **command, const sigset_t *mask, pid_t *pid)
{
	posix_spawnattr_t attributes;
	int r;

	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawnp(pid, command[0], NULL, &attributes, command, environ);
	posix_spawnattr_destroy(&attributes);
	if (r == 0)
		return CTL_OK;
	fprintf(stderr, "pipeloaderctl: %s: %s\n", command[0], strerror(r));
	return r == ENOENT ? 127 : 126;
}

/* The status a shell would give. */
static int wait_for(pid_t pid, const sigset_t *caught)
{
	for (;;) {
		siginfo_t info;
		int number = sigwaitinfo(caught, &info);
		int status;

		if (number == SIGCHLD && waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (number > 0 && number != SIGCHLD && info.si_code <= 0)
			kill(pid, number);
	}
}

static int run(const struct ctl_line *line)
{
	sigset_t caught;
	sigset_t before;
	int status = CTL_OK;
	pid_t pid;

	if (!name_job()) {
		fprintf(stderr, "pipeloaderctl: no job id can be made: %s\n", strerror(errno));
		return CTL_FAILED;
	}
	for (int i = 0; i < line->n_words && status == CTL_OK; i++)
		status = hold(line, line->word[i]);
	if (status)
		return status;
	block_signals(&caught, &before);
	status = spawn(line->rest, &before, &pid);
	return status ? status : wait_for(pid, &caught);
}

static const struct ctl_option options[] = {CTL_SET};

const struct ctl_command ctl_run = {
	.name = "run",
	.words = "FILE...",
	.help = "Runs a command whose processes share the job daemons of the files, which live "
		"exactly as long as it.\n"
		"The daemons are started first; $PIPELOADER_JOB_ID tells the command's processes "
		"which they are. Signals "
		"are passed on; the\nexit status is the command's.",
	.words_min = 1,
	.words_max = CTL_WORDS_MAX,
	.has_rest = true,
	.options = options,
	.n_options = CTL_LEN(options),
	.run = run,
};
