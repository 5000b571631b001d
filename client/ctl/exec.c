/* client/ctl/exec.c - becomes pipeloaderd for what needs the daemon's code. */
#include "client/ctl/ctl.h"
#include "client/tool.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define SET_TEXT_MAX 4096

int ctl_exec(const struct ctl_line *line, const char *const *arguments)
{
	static char program[PATH_MAX];
	static char set[CTL_SET_MAX][SET_TEXT_MAX];
	static struct pl_error error;
	char *argv[1 + 8 + 2 * CTL_SET_MAX + 1];
	size_t n = 0;

	if (pl_find_daemon(program, sizeof(program), &error))
		return ctl_say(&error);
	argv[n++] = program;
	while (*arguments && n < 9)
		argv[n++] = (char *)(uintptr_t)*arguments++;
	for (size_t i = 0; i < line->n_set; i++) {
		int length = snprintf(
			set[i], sizeof(set[i]), "%s=%s", line->set[i].name, line->set[i].value);

		if (length < 0 || (size_t)length >= sizeof(set[i]))
			return ctl_usage("--set %s: too long", line->set[i].name);
		argv[n++] = (char *)(uintptr_t) "--set";
		argv[n++] = set[i];
	}
	argv[n] = NULL;
	execv(program, argv);
	fprintf(stderr, "pipeloaderctl: %s: %s\n", program, strerror(errno));
	return CTL_NO_DAEMON;
}
