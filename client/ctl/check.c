/* client/ctl/check.c - pipeloaderctl check: is this pipeline file right? */
#include "client/ctl/ctl.h"

static int run(const struct ctl_line *line)
{
	return ctl_exec(line, (const char *const[]){"--check", line->word[0], NULL});
}

static const struct ctl_option options[] = {CTL_SET};

const struct ctl_command ctl_check = {
	.name = "check",
	.words = "FILE",
	.help = "Type-checks a pipeline file: all its errors, or every field's dtype and shape "
		"after each step.",
	.words_min = 1,
	.words_max = 1,
	.options = options,
	.n_options = CTL_LEN(options),
	.run = run,
};
