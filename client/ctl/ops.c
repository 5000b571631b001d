/* client/ctl/ops.c - pipeloaderctl ops: what there is, with parameters and defaults. */
#include "client/ctl/ctl.h"

static int run(const struct ctl_line *line)
{
	return ctl_exec(line,
		(const char *const[]){"--ops", ctl_option(line, "--json") ? "--json" : NULL, NULL});
}

static const struct ctl_option options[] = {{"--json", NULL, "as one JSON array"}};

const struct ctl_command ctl_ops = {
	.name = "ops",
	.words = "",
	.help = "Lists the steps with their parameters, units and defaults.",
	.options = options,
	.n_options = CTL_LEN(options),
	.run = run,
};
