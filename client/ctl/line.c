/* client/ctl/line.c - the command line, read by the command's table. */
#include "client/ctl/ctl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DISTANCE_MAX 64

int ctl_usage(const char *format, ...)
{
	va_list args;

	fputs("pipeloaderctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return CTL_USAGE;
}

/* Levenshtein's distance of two short words. */
static size_t distance(const char *a, const char *b)
{
	size_t row[DISTANCE_MAX + 1];
	size_t n = strlen(b);

	if (n > DISTANCE_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t before = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t change = before + (a[i] != b[j]);

			before = row[j + 1];
			if (row[j] + 1 < change)
				change = row[j] + 1;
			row[j + 1] = before + 1 < change ? before + 1 : change;
		}
	}
	return row[n];
}

const char *ctl_nearest(const char *word, const void *names, size_t n, size_t stride)
{
	const char *best = NULL;
	size_t least = strlen(word) / 3 + 2;

	for (size_t i = 0; i < n; i++) {
		const char *name =
			*(const char *const *)(const void *)((const char *)names + i * stride);
		size_t d = distance(word, name);

		if (d < least) {
			least = d;
			best = name;
		}
	}
	return best;
}

static int find_option(const struct ctl_command *c, const char *word, size_t length)
{
	for (size_t i = 0; i < c->n_options; i++)
		if (strlen(c->options[i].name) == length &&
			strncmp(c->options[i].name, word, length) == 0)
			return (int)i;
	return -1;
}

static int unknown_option(const struct ctl_command *c, const char *word)
{
	const char *near = ctl_nearest(word, c->options, c->n_options, sizeof(struct ctl_option));

	if (near)
		return ctl_usage("%s: no option '%s' (did you mean '%s'?)", c->name, word, near);
	return ctl_usage("%s: no option '%s'; see pipeloaderctl %s --help", c->name, word, c->name);
}

static int take_set(struct ctl_line *line, char *text)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return ctl_usage("--set wants NAME=VALUE, not '%s'", text);
	if (line->n_set == CTL_SET_MAX)
		return ctl_usage("at most %d --set", CTL_SET_MAX);
	*equals = '\0';
	line->set[line->n_set].name = text;
	line->set[line->n_set++].value = equals + 1;
	return 0;
}

/* Takes the option at **argv, and its argument: behind '=' or the next word. */
static int take_option(struct ctl_line *line, char ***argv)
{
	const struct ctl_command *c = line->command;
	char *word = **argv;
	size_t length = strcspn(word, "=");
	int i = find_option(c, word, length);
	char *argument = word[length] ? word + length + 1 : NULL;

	if (i < 0)
		return unknown_option(c, word);
	if (!c->options[i].argument) {
		line->value[i] = "";
		return argument ? ctl_usage("%s takes no argument", c->options[i].name) : 0;
	}
	if (!argument && (*argv)[1])
		argument = *++*argv;
	if (!argument)
		return ctl_usage("%s wants %s", c->options[i].name, c->options[i].argument);
	line->value[i] = argument;
	return strcmp(c->options[i].name, "--set") == 0 ? take_set(line, argument) : 0;
}

static int check_words(const struct ctl_line *line)
{
	const struct ctl_command *c = line->command;

	if (line->n_words < c->words_min)
		return ctl_usage("%s: %s is missing", c->name, c->words);
	if (line->n_words > c->words_max)
		return ctl_usage(
			"%s: '%s' is one word too many", c->name, line->word[c->words_max]);
	if (c->has_rest && (!line->rest || !line->rest[0]))
		return ctl_usage("%s: the command is missing: write it behind --", c->name);
	return 0;
}

int ctl_line_read(struct ctl_line *line, const struct ctl_command *command, char **argv)
{
	memset(line, 0, sizeof(*line));
	line->command = command;
	for (; *argv; argv++) {
		int r = 0;

		if (strcmp(*argv, "--") == 0 && command->has_rest) {
			line->rest = argv + 1;
			break;
		}
		if ((*argv)[0] == '-' && (*argv)[1])
			r = take_option(line, &argv);
		else if (line->n_words == CTL_WORDS_MAX)
			r = ctl_usage("%s: too many words", command->name);
		else
			line->word[line->n_words++] = *argv;
		if (r)
			return r;
	}
	return check_words(line);
}

const char *ctl_option(const struct ctl_line *line, const char *name)
{
	int i = find_option(line->command, name, strlen(name));

	return i < 0 ? NULL : line->value[i];
}

bool ctl_number(const struct ctl_line *line, const char *name, int64_t standard, int64_t *out)
{
	const char *text = ctl_option(line, name);
	char *end;

	*out = standard;
	if (!text)
		return true;
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (!errno && end != text && !*end && *out >= 0)
		return true;
	ctl_usage("%s wants a number that is not negative, not '%s'", name, text);
	return false;
}
