/* tests/unit/test_client_launch.c - how a job's daemon is born, with shell scripts in its place. */
#include "client/room.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct pl_error error;
static struct pl_place place;
static char folder[] = "/tmp/pl-launch-XXXXXX";
static char script[64];
static char told[64];

static void write_script(const char *text)
{
	FILE *out = fopen(script, "w");

	cr_assert_not_null(out);
	fputs(text, out);
	fclose(out);
	cr_assert_eq(chmod(script, 0700), 0);
}

static void set_up(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(script, sizeof(script), "%s/pipeloaderd", folder);
	snprintf(told, sizeof(told), "%s/told", folder);
	setenv("PIPELOADERD", script, 1);
	setenv("TOLD", told, 1);
	setenv("NOTIFY_SOCKET", "@not-for-the-daemon", 1);
	place.is_job = true;
	snprintf(place.socket, sizeof(place.socket), "pipeloader-test/launch/%d", (int)getpid());
	strcpy(place.pipeline, "/x/a b.yaml");
}

static void tear_down(void)
{
	unlink(script);
	unlink(told);
	rmdir(folder);
}

TestSuite(launch, .init = set_up, .fini = tear_down);

/* What the script wrote, once its last line is there. */
static const char *read_told(void)
{
	static char text[4096];

	for (int i = 0; i < 5000; i++) {
		FILE *in = fopen(told, "r");

		if (in) {
			size_t n = fread(text, 1, sizeof(text) - 1, in);

			text[n] = '\0';
			fclose(in);
			if (strstr(text, "end\n"))
				return text;
		}
		poll(NULL, 0, 1);
	}
	return "";
}

static const char birth[] = "#!/bin/sh\n"
			    "{ echo args \"$@\"\n"
			    "[ \"$LISTEN_PID\" = $$ ] && echo pid is right\n"
			    "echo fds $LISTEN_FDS notify $NOTIFY_SOCKET\n"
			    "ls -l /proc/$$/fd\n"
			    "echo null $(readlink /proc/$$/fd/0)\n"
			    "echo cwd $(readlink /proc/$$/cwd)\n"
			    "grep -E 'Sig(Blk|Ign)' /proc/$$/status\n"
			    "echo end; } >$TOLD.new 2>&1; mv $TOLD.new $TOLD\n";

Test(launch, the_daemon_gets_the_socket_and_nothing_else)
{
	char *settings[] = {(char *)(uintptr_t) "a=1", (char *)(uintptr_t) "b=x y"};
	struct pl_place with = place;
	const char *text;
	int leaked = open(folder, O_RDONLY | O_DIRECTORY);
	char leak[80];

	with.setting = settings;
	with.n_settings = 2;
	write_script(birth);
	signal(SIGHUP, SIG_IGN);
	cr_assert_eq(pl_launch(&with, &error), 0, "%s", error.text);
	text = read_told();
	cr_assert(strstr(text, "args --job /x/a b.yaml --set a=1 --set b=x y\n"), "%s", text);
	cr_assert(strstr(text, "pid is right\n"), "%s", text);
	cr_assert(strstr(text, "fds 1 notify\n"), "%s", text);
	cr_assert(strstr(text, "null /dev/null\n"), "%s", text);
	cr_assert(strstr(text, "cwd /\n"), "%s", text);
	cr_assert(strstr(text, "SigBlk:\t0000000000000000\n"), "%s", text);
	cr_assert(strstr(text, "SigIgn:\t0000000000000000\n"), "%s", text);
	cr_assert(strstr(text, " 3 -> socket:"), "%s", text);
	snprintf(leak, sizeof(leak), "-> %s\n", folder);
	cr_assert(!strstr(text, leak), "%s", text);
	close(leaked);
}

Test(launch, a_name_that_is_bound_means_joining)
{
	PL_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	unsigned n;

	write_script("#!/bin/sh\n");
	cr_assert_eq(pl_frame_address(&address, &n, place.socket), 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, n), 0);
	cr_assert_eq(pl_launch(&place, &error), PL_LAUNCH_LOST);
}

Test(launch, a_failed_exec_is_reported)
{
	write_script("this is no program");
	cr_assert_eq(pl_launch(&place, &error), -ENOEXEC);
	cr_assert_eq(error.exit_status, 69);
	cr_assert(strstr(error.text, "Exec format error"), "%s", error.text);
	unlink(script);
	cr_assert_eq(pl_launch(&place, &error), -ENOENT);
	cr_assert(strstr(error.text, "$PIPELOADERD"), "%s", error.text);
}

Test(launch, a_daemon_that_always_ends_is_given_up)
{
	struct pl_client_options o;
	char file[80];
	FILE *out;

	snprintf(file, sizeof(file), "%s/a.yaml", folder);
	out = fopen(file, "w");
	cr_assert_not_null(out);
	fclose(out);
	setenv("PIPELOADER_JOB_ID", folder, 1);
	unsetenv("PIPELOADER_SOCKET");
	write_script("#!/bin/sh\nexit 1\n");
	pl_client_options_init(&o);
	cr_assert_null(pl_client_open(file, &o, &error));
	cr_assert_eq(error.exit_status, 69);
	cr_assert(strstr(error.text, "started 5 times"), "%s", error.text);
	unlink(file);
}
