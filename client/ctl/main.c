/* client/ctl/main.c - pipeloaderctl: the table of its commands, help, and which one is meant. */
#include "client/ctl/ctl.h"

#include <stdlib.h>
#include <string.h>

static const struct ctl_command *const commands[] = {&ctl_check, &ctl_graph, &ctl_ops, &ctl_sources,
	&ctl_cat, &ctl_bench, &ctl_try, &ctl_status, &ctl_run};

static void print_usage(FILE *out, const struct ctl_command *c)
{
	fprintf(out, "Usage: pipeloaderctl %s%s%s%s%s\n", c->name, *c->words ? " " : "", c->words,
		c->n_options ? " [OPTION]..." : "", c->has_rest ? " -- CMD..." : "");
}

static int help_command(const struct ctl_command *c)
{
	print_usage(stdout, c);
	printf("%s\n", c->help);
	for (size_t i = 0; i < c->n_options; i++) {
		const struct ctl_option *o = &c->options[i];
		char left[64];

		snprintf(left, sizeof(left), "%s%s%s", o->name, o->argument ? " " : "",
			o->argument ? o->argument : "");
		printf("%s  %-22s %s\n", i ? "" : "\n", left, o->help);
	}
	return CTL_OK;
}

static int help(void)
{
	puts("Usage: pipeloaderctl COMMAND ...\n"
	     "Looks at, tries and measures pipelines of pipeloaderd. A FILE is a pipeline file "
	     "(its name has a '/'\n"
	     "or ends in .yaml or .yml): its job daemon is joined, or started. A NAME is a "
	     "pipeline of the machine's daemon.\n");
	for (size_t i = 0; i < CTL_LEN(commands); i++)
		printf("  %-9s %-14s %.*s\n", commands[i]->name, commands[i]->words,
			(int)strcspn(commands[i]->help, "\n"), commands[i]->help);
	puts("\n'pipeloaderctl COMMAND --help' tells more. Exit status: 0, 1 (the stream failed), "
	     "64 (usage), 69 (no "
	     "daemon),\n78 (the pipeline file).");
	return CTL_OK;
}

static const struct ctl_command *find(const char *name)
{
	for (size_t i = 0; i < CTL_LEN(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int unknown(const char *word)
{
	const char *names[CTL_LEN(commands)];
	const char *near;

	for (size_t i = 0; i < CTL_LEN(commands); i++)
		names[i] = commands[i]->name;
	near = ctl_nearest(word, names, CTL_LEN(names), sizeof(names[0]));
	if (near)
		return ctl_usage("no command '%s' (did you mean '%s'?)", word, near);
	return ctl_usage("no command '%s'; see pipeloaderctl --help", word);
}

static bool wants_help(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const struct ctl_command *command;
	struct ctl_line line;

	if (argc < 2)
		return ctl_usage("which command? See pipeloaderctl --help");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help();
	if (strcmp(argv[1], "--version") == 0) {
		printf("pipeloaderctl %s\n", pl_version());
		return CTL_OK;
	}
	if (strcmp(argv[1], "help") == 0 && argv[2] && find(argv[2]))
		return help_command(find(argv[2]));
	if (strcmp(argv[1], "help") == 0)
		return help();
	command = find(argv[1]);
	if (!command)
		return unknown(argv[1]);
	if (wants_help(argv + 2))
		return help_command(command);
	if (ctl_line_read(&line, command, argv + 2)) {
		print_usage(stderr, command);
		return CTL_USAGE;
	}
	return command->run(&line);
}
