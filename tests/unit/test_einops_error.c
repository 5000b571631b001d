/* tests/unit/test_einops_error.c - the text of an error, with carets in the right place. */
#include "proto/einops/einops.h"

#include <criterion/criterion.h>
#include <string.h>

#include "proto/base.h"

static void ask(const char *pattern, size_t n, struct pl_einops_error *e)
{
	struct pl_einops_spec spec = {PL_EINOPS_REARRANGE, pattern, n, NULL};
	struct pl_einops_pattern *p = NULL;

	cr_assert(pl_einops_parse(&spec, &p, e) < 0);
}

Test(einops_error, the_whole_text)
{
	struct pl_einops_error e;

	ask("h w -> h", 8, &e);
	cr_assert_str_eq(e.text, "rearrange: axis 'w' is on the left only; rearrange keeps every "
				 "axis, write it on the right too\n"
				 "    h w -> h\n"
				 "      ^");
	cr_assert(e.code == PL_EINOPS_E_ONE_SIDED && e.column == 2 && e.length == 1);
}

Test(einops_error, a_span_is_underlined_and_an_end_has_a_caret_behind_it)
{
	struct pl_einops_error e;

	ask("a -> a bcd", 10, &e);
	cr_assert(strstr(e.text, "\n    a -> a bcd\n           ^^^"), "%s", e.text);
	ask("a b", 3, &e);
	cr_assert(strstr(e.text, "\n    a b\n       ^"), "%s", e.text);
}

Test(einops_error, columns_count_characters_and_escapes)
{
	struct pl_einops_error e;

	ask("\xc3\xa9 $ -> a", 9, &e);
	cr_assert(e.column == 3);
	cr_assert(strstr(e.text, "\n    \xc3\xa9 $ -> a\n      ^"), "%s", e.text);
	ask("\t", 1, &e);
	cr_assert(strstr(e.text, "\n    \\x09\n"), "%s", e.text);
	ask("a\x1b[31m -> a", 11, &e);
	cr_assert(!strchr(e.text, 0x1b));
	cr_assert(strstr(e.text, "'\\x1B'") && strstr(e.text, "\n     ^^^^"), "%s", e.text);
}

Test(einops_error, long_patterns_are_cut_around_the_fault)
{
	static char text[60000];
	struct pl_einops_error e;

	memset(text, 'a', sizeof(text));
	memcpy(text + 59000, " $ -> a", 7);
	ask(text, sizeof(text), &e);
	cr_assert(e.code == PL_EINOPS_E_CHAR && e.column == 59001);
	cr_assert(strlen(e.text) < 400 && strstr(e.text, "...") && strchr(e.text, '$'));
	memset(text, 0xff, sizeof(text));
	memcpy(text + 30000, "->", 2);
	ask(text, sizeof(text), &e);
	cr_assert(e.code == PL_EINOPS_E_CHAR && e.column == 0 && strchr(e.text, '^'));
}

Test(einops_error, names)
{
	cr_assert_str_eq(pl_einops_code_name(PL_EINOPS_E_ARROW), "E_ARROW");
	cr_assert_str_eq(pl_einops_code_name((enum pl_einops_code)1000), "E_?");
	cr_assert_str_eq(pl_einops_op_name(PL_EINOPS_PARSE_SHAPE), "parse_shape");
	cr_assert_str_eq(pl_einops_op_name((enum pl_einops_op)0), "?");
	for (int i = 0; i < PL_EINOPS_CODE_END; i++)
		cr_assert(pl_einops_code_name((enum pl_einops_code)i), "code %d has no name", i);
}
