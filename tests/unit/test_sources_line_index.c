/* tests/unit/test_sources_line_index.c - the pass over a text finds the same records however it is
 * cut into pieces. */
#include "daemon/sources/line_index.h"

#include <stdio.h>

#include <criterion/criterion.h>

struct log {
	char text[512];
	size_t used;
};

static int note(void *context, const struct pl_line *line)
{
	struct log *log = context;

	log->used += (size_t)snprintf(log->text + log->used, sizeof(log->text) - log->used,
		"%s%d:%d", log->used ? " " : "", (int)line->line, (int)line->at);
	return 0;
}

/* Feeds `text` in pieces of `step` bytes; "line:offset" of each record. */
static const char *pass(enum pl_line_blank blank, char delimiter, const char *text, size_t step)
{
	static struct log log;
	struct pl_line_index x = {
		.blank = blank, .delimiter = delimiter, .found = note, .context = &log};
	size_t n = strlen(text);

	log = (struct log){0};
	for (size_t at = 0; at < n; at += step)
		cr_assert_eq(pl_line_index_feed(&x, text + at, pl_min_u64(step, n - at)), 0);
	if (pl_line_index_is_open(&x))
		strcat(log.text, " open");
	return log.text;
}

static void expect(enum pl_line_blank blank, char delimiter, const char *text, const char *wanted)
{
	for (size_t step = 1; step <= strlen(text) + 1; step++) {
		const char *found = pass(blank, delimiter, text, step);

		cr_expect_str_eq(found, wanted, "'%s' by %zu: '%s'", text, step, found);
	}
}

Test(sources_line_index, lines)
{
	expect(PL_LINE_BLANK_IS_RECORD, 0, "", "");
	expect(PL_LINE_BLANK_IS_RECORD, 0, "a", "1:0");
	expect(PL_LINE_BLANK_IS_RECORD, 0, "a\nb\n", "1:0 2:2");
	expect(PL_LINE_BLANK_IS_RECORD, 0, "\n\r\n \nb", "1:0 2:1 3:3 4:5");
	expect(PL_LINE_BLANK_IS_RECORD, 0,
		"a\rb\xe2\x80\xa8"
		"c\n",
		"1:0");
}

Test(sources_line_index, blank_lines)
{
	expect(PL_LINE_BLANK_IS_SPACE, 0, "\n  \t\r\n {}\n\n{}", "3:6 5:11");
	expect(PL_LINE_BLANK_IS_SPACE, 0, " \n \n", "");
	expect(PL_LINE_BLANK_IS_EMPTY, 0, "\n \n\r\na\n", "2:1 4:5");
}

Test(sources_line_index, quotes)
{
	expect(PL_LINE_BLANK_IS_EMPTY, ',', "\"a\nb\",c\nd\n", "1:0 3:8");
	expect(PL_LINE_BLANK_IS_EMPTY, ',', "x,\"a\n\"\"\n\"\ny", "1:0 4:10");
	expect(PL_LINE_BLANK_IS_EMPTY, ',', "x\"\ny\"z\n\"w\"\n", "1:0 2:3 3:7");
	expect(PL_LINE_BLANK_IS_EMPTY, ',', "x, \"\n\"\n", "1:0 2:5 open");
	expect(PL_LINE_BLANK_IS_EMPTY, ',', "\"\"\n\"\"\"\"\n\"a\"x\"\nb", "1:0 2:3 3:8 4:14");
	expect(PL_LINE_BLANK_IS_EMPTY, ';', "\",\";\"\n\"\na,\"b\n", "1:0 3:8");
	expect(PL_LINE_BLANK_IS_EMPTY, ',', "a\n\"b\n", "1:0 2:2 open");
	expect(PL_LINE_BLANK_IS_EMPTY, ',', "\r\n\"\r\n\"\r\n\r\nz", "2:2 5:10");
	expect(PL_LINE_BLANK_IS_RECORD, 0, "\"a\nb\"\n", "1:0 2:3");
}

static int stop(void *context, const struct pl_line *line)
{
	return line->line == 2 ? 7 : 0;
}

Test(sources_line_index, a_pass_may_be_stopped)
{
	struct pl_line_index x = {.found = stop};

	cr_expect_eq(pl_line_index_feed(&x, "a\nb\nc\n", 6), 7);
}
