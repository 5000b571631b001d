/* client/ctl/graph.c - pipeloaderctl graph: every step with the process it runs in. */
#include "client/ctl/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_format(const char *format)
{
	return strcmp(format, "text") == 0 || strcmp(format, "dot") == 0 ||
	       strcmp(format, "json") == 0;
}

static bool is_file(const char *word)
{
	size_t n = strlen(word);

	return strchr(word, '/') || (n > 5 && strcmp(word + n - 5, ".yaml") == 0) ||
	       (n > 4 && strcmp(word + n - 4, ".yml") == 0);
}

/* A running pipeline tells pids and rates; a file that doesn't run is drawn by pipeloaderd itself.
 */
static int run(const struct ctl_line *line)
{
	const char *format = ctl_option(line, "--format");
	static struct pl_error error;
	struct pl_client_options options;
	char *text;
	int r;

	format = format ? format : "text";
	if (!is_format(format))
		return ctl_usage("--format wants text, dot or json, not '%s'", format);
	ctl_options(line, &options);
	r = pl_ask(line->word[0], &options, "graph", format, &text, &error);
	if (r && is_file(line->word[0]) && !options.socket && error.exit_status == CTL_NO_DAEMON)
		return ctl_exec(line,
			(const char *const[]){"--graph", line->word[0], "--format", format, NULL});
	if (r)
		return ctl_say(&error);
	fputs(text, stdout);
	free(text);
	return CTL_OK;
}

static const struct ctl_option options[] = {
	{"--format", "F", "text (default), dot or json"},
	CTL_SET,
	CTL_SOCKET,
};

const struct ctl_command ctl_graph = {
	.name = "graph",
	.words = "FILE|NAME",
	.help = "Shows every step with the process it runs in; of a running pipeline also pids, "
		"rates and shares of time.",
	.words_min = 1,
	.words_max = 1,
	.options = options,
	.n_options = CTL_LEN(options),
	.run = run,
};
