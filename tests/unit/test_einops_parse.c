/* tests/unit/test_einops_parse.c - every fault of a text, with its column. */
#include "tests/unit/test_einops_table.h"

#include <stdio.h>

#define REARRANGE PL_EINOPS_REARRANGE
#define REDUCE    PL_EINOPS_REDUCE
#define REPEAT    PL_EINOPS_REPEAT

Test(einops_parse, arrow)
{
	static const struct wrong table[] = {
		{REARRANGE, "a b", PL_EINOPS_E_ARROW, 3, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "", PL_EINOPS_E_ARROW, 0, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a->a->a", PL_EINOPS_E_ARROW, 4, 2, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a - > a", PL_EINOPS_E_ARROW, 7, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a.b( => a", PL_EINOPS_E_ARROW, 9, 1, NULL, -1, {0}, {{0}}, 0},
		{PL_EINOPS_EINSUM, "i j", PL_EINOPS_E_ARROW, 3, 1, NULL, -1, {0}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_parse, dots_come_before_other_faults_of_their_side)
{
	static const struct wrong table[] = {
		{REARRANGE, "a.b->a b", PL_EINOPS_E_DOTS, 1, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a .. b->a b", PL_EINOPS_E_DOTS, 2, 2, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "... ...->...", PL_EINOPS_E_DOTS, 4, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "....->...", PL_EINOPS_E_DOTS, 0, 4, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "$ . -> a", PL_EINOPS_E_DOTS, 2, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "$ -> a .", PL_EINOPS_E_CHAR, 0, 1, NULL, -1, {0}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_parse, characters)
{
	static const struct wrong table[] = {
		{REARRANGE, "a, b -> b a", PL_EINOPS_E_CHAR, 1, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a\tb -> b a", PL_EINOPS_E_CHAR, 1, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a->a-", PL_EINOPS_E_CHAR, 4, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a a$ -> a", PL_EINOPS_E_CHAR, 3, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a \xc2\xb7 -> a", PL_EINOPS_E_CHAR, 2, 2, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a \xe2\x80\xa6 -> a", PL_EINOPS_E_CHAR, 2, 3, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a \xff -> a", PL_EINOPS_E_CHAR, 2, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a \xe2\x80", PL_EINOPS_E_ARROW, 4, 1, NULL, -1, {0}, {{0}}, 0},
		{PL_EINOPS_PARSE_SHAPE, "a->b", PL_EINOPS_E_CHAR, 1, 1, NULL, -1, {0}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_parse, parentheses)
{
	static const struct wrong table[] = {
		{REARRANGE, "(a b->a b", PL_EINOPS_E_PAREN, 0, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a) b->a b", PL_EINOPS_E_PAREN, 1, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "((a)) b->a b", PL_EINOPS_E_PAREN, 1, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a b -> (a (b))", PL_EINOPS_E_PAREN, 10, 1, NULL, -1, {0}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_parse, words)
{
	static const struct wrong table[] = {
		{REARRANGE, "_h b -> b _h", PL_EINOPS_E_IDENT, 0, 2, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "b h_ -> b h_", PL_EINOPS_E_IDENT, 2, 2, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "b _ -> b _", PL_EINOPS_E_IDENT, 2, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "2x -> 2x", PL_EINOPS_E_IDENT, 0, 2, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a... -> a...", PL_EINOPS_E_IDENT, 0, 4, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a\xc2\xb2 -> a\xc2\xb2", PL_EINOPS_E_IDENT, 0, 3, NULL, -1, {0}, {{0}},
			0},
		{REARRANGE, "\xd9\xa3 -> a", PL_EINOPS_E_IDENT, 0, 2, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a a -> a", PL_EINOPS_E_DUP, 2, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a b -> a b a", PL_EINOPS_E_DUP, 11, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "(aa aa) -> aa", PL_EINOPS_E_DUP, 4, 2, NULL, -1, {0}, {{0}}, 0},
		{REPEAT, "a -> a 0", PL_EINOPS_E_ANON_ZERO, 7, 1, NULL, -1, {0}, {{0}}, 0},
		{REPEAT, "a -> a 00", PL_EINOPS_E_ANON_ZERO, 7, 2, NULL, -1, {0}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_parse, sides_against_each_other)
{
	static const struct wrong table[] = {
		{REARRANGE, "a b -> a b ...", PL_EINOPS_E_ELL_RIGHT, 11, 3, NULL, -1, {0}, {{0}},
			0},
		{REARRANGE, "(...) -> (...)", PL_EINOPS_E_ELL_LEFT_PAREN, 1, 3, NULL, -1, {0},
			{{0}}, 0},
		{REARRANGE, "a -> a 2", PL_EINOPS_E_ANON_REARRANGE, 7, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "(a 22) -> a", PL_EINOPS_E_ANON_REARRANGE, 3, 2, NULL, -1, {0}, {{0}},
			0},
		{REARRANGE, "h w -> h", PL_EINOPS_E_ONE_SIDED, 2, 1, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a -> a bb", PL_EINOPS_E_ONE_SIDED, 7, 2, NULL, -1, {0}, {{0}}, 0},
		{REARRANGE, "a ... -> a", PL_EINOPS_E_ONE_SIDED, 2, 3, NULL, -1, {0}, {{0}}, 0},
		{REPEAT, "a -> b", PL_EINOPS_E_REPEAT_LEFT, 0, 1, NULL, -1, {0}, {{0}}, 0},
		{REPEAT, "a 2 -> a 2", PL_EINOPS_E_REPEAT_LEFT, 2, 1, NULL, -1, {0}, {{0}}, 0},
		{REDUCE, "a b -> a", PL_EINOPS_E_REDUCTION, 0, 8, "argmax", -1, {0}, {{0}}, 0},
		{REDUCE, "a b -> a c", PL_EINOPS_E_REDUCTION, 0, 10, NULL, -1, {0}, {{0}}, 0},
		{REDUCE, "a -> a b", PL_EINOPS_E_REDUCE_RIGHT, 7, 1, "sum", -1, {0}, {{0}}, 0},
		{REDUCE, "6 -> 6", PL_EINOPS_E_REDUCE_RIGHT, 5, 1, "sum", -1, {0}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_parse, pack)
{
	static const struct wrong table[] = {
		{PL_EINOPS_PACK, "a b a *", PL_EINOPS_E_DUP, 4, 1, NULL, -1, {0}, {{0}}, 0},
		{PL_EINOPS_PACK, "* b *", PL_EINOPS_E_DUP, 4, 1, NULL, -1, {0}, {{0}}, 0},
		{PL_EINOPS_UNPACK, "a b", PL_EINOPS_E_PACK_STAR, 3, 1, NULL, -1, {0}, {{0}}, 0},
		{PL_EINOPS_PACK, "", PL_EINOPS_E_PACK_STAR, 0, 1, NULL, -1, {0}, {{0}}, 0},
		{PL_EINOPS_PACK, "a* b", PL_EINOPS_E_PACK_STAR, 4, 1, NULL, -1, {0}, {{0}}, 0},
		{PL_EINOPS_PACK, "* (a)", PL_EINOPS_E_IDENT, 2, 3, NULL, -1, {0}, {{0}}, 0},
		{PL_EINOPS_PACK, "* a_", PL_EINOPS_E_IDENT, 2, 2, NULL, -1, {0}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_parse, shape_and_einsum)
{
	static const struct wrong table[] = {
		{PL_EINOPS_PARSE_SHAPE, "a (b c)", PL_EINOPS_E_COMPOSITE, 2, 5, NULL, -1, {0},
			{{0}}, 0},
		{PL_EINOPS_PARSE_SHAPE, "a (...)", PL_EINOPS_E_ELL_LEFT_PAREN, 3, 3, NULL, -1, {0},
			{{0}}, 0},
		{PL_EINOPS_EINSUM, "i () -> i", PL_EINOPS_E_EINSUM_UNIT, 2, 2, NULL, -1, {0}, {{0}},
			0},
		{PL_EINOPS_EINSUM, "i 1 -> i", PL_EINOPS_E_EINSUM_UNIT, 2, 1, NULL, -1, {0}, {{0}},
			0},
		{PL_EINOPS_EINSUM, "(i j) -> i", PL_EINOPS_E_EINSUM_COMPOSITE, 0, 5, NULL, -1, {0},
			{{0}}, 0},
		{PL_EINOPS_EINSUM, "i (...) -> i", PL_EINOPS_E_EINSUM_COMPOSITE, 2, 5, NULL, -1,
			{0}, {{0}}, 0},
		{PL_EINOPS_EINSUM, "i 3 -> i", PL_EINOPS_E_EINSUM_ANON, 2, 1, NULL, -1, {0}, {{0}},
			0},
		{PL_EINOPS_EINSUM, "i, j -> i k", PL_EINOPS_E_EINSUM_RIGHT, 10, 1, NULL, -1, {0},
			{{0}}, 0},
		{PL_EINOPS_EINSUM, "i -> i i", PL_EINOPS_E_DUP, 7, 1, NULL, -1, {0}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

static int parse(enum pl_einops_op op, const char *text, size_t n, struct pl_einops_error *e)
{
	struct pl_einops_spec spec = {op, text, n, "sum"};
	struct pl_einops_pattern *p = NULL;
	int r = pl_einops_parse(&spec, &p, e);

	pl_einops_pattern_destroy(p);
	return r;
}

Test(einops_parse, odd_but_legal)
{
	static const char *const texts[] = {"a(b)c->c(b a)", "(a b)(c d)->(a c)(b d)", "->",
		" -> 1 1", "  a   b->   b a ", "u_n a__b -> a__b u_n", "if None -> None if",
		"1 a () -> a (1 1) 01", "\xc3\x9f \xce\xb1 -> \xce\xb1 \xc3\x9f",
		"\xe6\xbc\xa2 a -> (a \xe6\xbc\xa2)"};

	for (size_t i = 0; i < PL_ARRAY_LEN(texts); i++)
		cr_assert(parse(REARRANGE, texts[i], strlen(texts[i]), NULL) == 0, "%s", texts[i]);
	cr_assert(parse(PL_EINOPS_PACK,
			  "a\t*\n\xc2\xa0"
			  "b",
			  7, NULL) == 0);
	cr_assert(parse(PL_EINOPS_EINSUM, "_ a a, b -> _ b", 15, NULL) == 0);
	cr_assert(parse(PL_EINOPS_PARSE_SHAPE, "_ _ a (b 1) ...", 15, NULL) == 0);
}

Test(einops_parse, text_need_not_end_in_nul_and_may_hold_one)
{
	struct pl_einops_error e;

	cr_assert(parse(REARRANGE, "a -> a$$", 6, NULL) == 0);
	cr_assert(parse(REARRANGE, "a\0 -> a", 7, &e) == -EINVAL);
	cr_assert(e.code == PL_EINOPS_E_CHAR && e.column == 1);
}

Test(einops_parse, long_names_work_and_limits_are_errors)
{
	static char text[2 * PL_EINOPS_PATTERN_MAX];
	struct pl_einops_error e;
	size_t n = 0;

	memset(text, 'n', 5000);
	memcpy(text + 5000, " -> ", 4);
	memset(text + 5004, 'n', 5000);
	cr_assert(parse(REARRANGE, text, 10004, &e) == 0);
	cr_assert(parse(REARRANGE, text, sizeof(text), &e) == -EOVERFLOW);
	cr_assert(e.code == PL_EINOPS_E_LIMIT);
	for (int i = 0; i < 70; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "a%d ", i);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "->");
	cr_assert(parse(REDUCE, text, n, &e) == -EOVERFLOW);
	cr_assert(e.code == PL_EINOPS_E_LIMIT && strncmp(text + e.column, "a64", 3) == 0);
	memset(text, '(', 50000);
	memcpy(text + 50000, "->", 2);
	cr_assert(parse(REARRANGE, text, 50002, &e) == -EINVAL);
	cr_assert(e.code == PL_EINOPS_E_PAREN && e.column == 1);
}

Test(einops_parse, wrong_calls_are_refused)
{
	struct pl_einops_spec spec = {(enum pl_einops_op)99, "a -> a", 6, NULL};
	struct pl_einops_pattern *p = NULL;
	struct pl_einops_error e;

	cr_assert(pl_einops_parse(&spec, &p, &e) == -EINVAL && e.code == PL_EINOPS_E_ARGUMENT);
	spec = (struct pl_einops_spec){REARRANGE, NULL, 6, NULL};
	cr_assert(pl_einops_parse(&spec, &p, &e) == -EINVAL && e.code == PL_EINOPS_E_ARGUMENT);
	cr_assert(!p);
	pl_einops_pattern_destroy(NULL);
}

static void expect_permutation(enum pl_einops_op op, const char *text, const char *wanted)
{
	struct pl_einops_spec spec = {op, text, strlen(text), "max"};
	struct pl_einops_pattern *pattern;
	int axis[PL_RANK_MAX];
	int rank = 0;
	char got[PL_RANK_MAX + 1] = "";

	cr_assert_eq(pl_einops_parse(&spec, &pattern, NULL), 0, "%s", text);
	if (pl_einops_is_permutation(pattern, axis, &rank))
		for (int i = 0; i < rank; i++)
			got[i] = (char)('0' + axis[i]);
	else
		strcpy(got, "no");
	cr_expect_str_eq(got, wanted, "%s: %s", text, got);
	pl_einops_pattern_destroy(pattern);
}

Test(einops_parse, orders_of_axes_are_known)
{
	expect_permutation(REARRANGE, "h w c -> c h w", "201");
	expect_permutation(REARRANGE, "a b c d -> d c b a", "3210");
	expect_permutation(REARRANGE, "(a) b -> b (a)", "10");
	expect_permutation(REARRANGE, "a b -> a b", "01");
	expect_permutation(REARRANGE, " -> ", "");
	expect_permutation(REARRANGE, "a b -> (a b)", "no");
	expect_permutation(REARRANGE, "(a b) c -> (b a) c", "no");
	expect_permutation(REARRANGE, "a b c -> (a b) c 1", "no");
	expect_permutation(REARRANGE, "a 1 -> 1 a", "no");
	expect_permutation(REARRANGE, "... a -> a ...", "no");
	expect_permutation(REDUCE, "a b -> b a", "no");
	expect_permutation(REPEAT, "a b -> b a", "no");
}
