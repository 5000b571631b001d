/* tests/unit/test_proto_err.c - error texts: set, prefixed, cut, quoted. */
#include "proto/err.h"

#include <criterion/criterion.h>
#include <errno.h>

Test(err, is_set_and_prefixed)
{
	struct pl_err err = {0};

	cr_assert_eq(pl_err_set(&err, -EINVAL, "unknown key '%s'", "widht"), -EINVAL);
	cr_assert_eq(pl_err_prefix(&err, "%s:%d: ", "train.yaml", 12), -EINVAL);
	cr_assert_str_eq(err.text, "train.yaml:12: unknown key 'widht'");
	cr_assert_eq(pl_err_set(NULL, -EIO, "lost"), -EIO);
	cr_assert_eq(pl_err_prefix(NULL, "lost"), 0);
}

Test(err, may_name_a_character_of_a_parameter)
{
	struct pl_err err = {0};

	pl_err_set(&err, -EINVAL, "no");
	cr_assert_eq(pl_err_at(&err, "pattern", 7), -EINVAL);
	pl_err_prefix(&err, "field 'x': ");
	cr_assert_str_eq(err.param, "pattern");
	cr_assert_eq(err.offset, 7);
	pl_err_set(&err, -EINVAL, "another");
	cr_assert_null(err.param, "it belonged to the text before");
	cr_assert_eq(pl_err_at(NULL, "pattern", 7), 0);
}

Test(err, too_long_loses_its_end)
{
	struct pl_err err = {0};
	char longest[4000];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	pl_err_set(&err, -EIO, "%s", longest);
	cr_assert_eq(strlen(err.text), sizeof(err.text) - 1);
	pl_err_prefix(&err, "place: ");
	cr_assert_eq(strncmp(err.text, "place: xxx", 10), 0);
	cr_assert_eq(strlen(err.text), sizeof(err.text) - 1);
}

Test(err, quotes_what_a_terminal_must_not_see)
{
	char out[64], small[8];

	cr_assert_str_eq(pl_err_quote(out, sizeof(out), "a\nb\x1b[31m"), "a\\x0Ab\\x1B[31m");
	cr_assert_str_eq(pl_err_quote(out, sizeof(out), "gr\xc3\xbc\xc3\x9f \xff"),
		"gr\xc3\xbc\xc3\x9f \\xFF");
	cr_assert_str_eq(pl_err_quote(out, sizeof(out), "\xed\xa0\x80"), "\\xED\\xA0\\x80",
		"surrogates are no UTF-8");
	cr_assert_str_eq(pl_err_quote(out, sizeof(out), "\xc0\x80"), "\\xC0\\x80", "overlong");
	cr_assert_lt(strlen(pl_err_quote(small, sizeof(small), "abcdefghijkl")), sizeof(small));
}
