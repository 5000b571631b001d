/* tests/unit/test_kit_expr.c - expressions: grammar, types, exact integers, errors. */
#include "daemon/kit/expr.h"

#include <errno.h>
#include <math.h>

#include <criterion/criterion.h>

#include "param_at.h"

enum { WIDTH, HEIGHT, SCORE, TEXT, IMAGE, FLAG, BIG, HIDDEN, HALF, N };

static const char *const names[N] = {
	"width", "height", "score", "text", "image", "flag", "big", "hidden", "half"};

static struct {
	struct pl_type type[N];
	bool is_live[N];
	struct pl_sample sample;
	int64_t width;
	int32_t height;
	float score;
	bool flag;
	uint64_t big;
	uint16_t half;
} s;

static void set_up(void)
{
	static const char text[] = "caption";
	struct pl_tensor *v = s.sample.value;

	s.width = 640;
	s.height = -480;
	s.score = 0.25f;
	s.flag = true;
	s.big = UINT64_MAX;
	s.half = pl_f32_to_f16(1.5f);
	for (int i = 0; i < N; i++)
		s.is_live[i] = i != HIDDEN;
	s.type[WIDTH] = s.type[HIDDEN] = pl_type_scalar(PL_I64);
	s.type[HEIGHT] = pl_type_scalar(PL_I32);
	s.type[SCORE] = pl_type_scalar(PL_F32);
	s.type[TEXT] = pl_type_bytes(PL_KIND_TEXT);
	s.type[IMAGE] = pl_type_image(-1, -1, 3);
	s.type[FLAG] = pl_type_scalar(PL_BOOL);
	s.type[BIG] = pl_type_scalar(PL_U64);
	s.type[HALF] = pl_type_scalar(PL_F16);
	v[WIDTH] = (struct pl_tensor){.data = &s.width, .dtype = PL_I64};
	v[HEIGHT] = (struct pl_tensor){.data = &s.height, .dtype = PL_I32};
	v[SCORE] = (struct pl_tensor){.data = &s.score, .dtype = PL_F32};
	v[TEXT] = (struct pl_tensor){.data = (void *)(uintptr_t)text,
		.dtype = PL_U8,
		.rank = 1,
		.shape = {7},
		.stride = {1}};
	v[IMAGE] = (struct pl_tensor){.dtype = PL_U8, .rank = 3, .shape = {11, 12, 3}};
	v[FLAG] = (struct pl_tensor){.data = &s.flag, .dtype = PL_BOOL};
	v[BIG] = (struct pl_tensor){.data = &s.big, .dtype = PL_U64};
	v[HALF] = (struct pl_tensor){.data = &s.half, .dtype = PL_F16};
}

TestSuite(kit_expr, .init = set_up);

static struct pl_expr *parse(const char *text, bool wants_bool, struct pl_expr_error *error)
{
	return pl_expr_parse(text, N, names, s.type, s.is_live, wants_bool, error);
}

static double value(const char *text, bool wants_bool)
{
	struct pl_expr_error error;
	struct pl_err err = {0};
	struct pl_expr *e = parse(text, wants_bool, &error);
	double result = -1;

	cr_assert(e, "%s: %zu: %s", text, error.offset, error.err.text);
	cr_assert_eq(pl_expr_eval(e, &s.sample, &result, &err), 0, "%s: %s", text, err.text);
	pl_expr_free(e);
	return result;
}

static void expect_number(const char *text, double wanted)
{
	double got = value(text, false);

	cr_expect(got == wanted || (isnan(got) && isnan(wanted)), "%s gives %g", text, got);
}

static void expect_true(const char *text)
{
	cr_expect_eq(value(text, true), 1, "%s is false", text);
}

static void expect_false(const char *text)
{
	cr_expect_eq(value(text, true), 0, "%s is true", text);
}

static void expect_error_of(const char *text, bool wants_bool, size_t offset, const char *part)
{
	struct pl_expr_error error;
	struct pl_expr *e = parse(text, wants_bool, &error);

	cr_assert_null(e, "%s is accepted", text);
	cr_expect_eq(error.err.code, -EINVAL);
	cr_expect_eq(error.offset, offset, "%s: at %zu: %s", text, error.offset, error.err.text);
	expect_text(error.err.text, part);
}

static void expect_error(const char *text, size_t offset, const char *part)
{
	expect_error_of(text, true, offset, part);
}

Test(kit_expr, numbers_and_precedence)
{
	expect_number("1 + 2 * 3", 7);
	expect_number("(1 + 2) * 3", 9);
	expect_number("10 - 4 - 3", 3);
	expect_number("2 * 7 % 4", 2);
	expect_number("8 / 4 / 2", 1);
	expect_number("-2 * -3", 6);
	expect_number("- - 2", 2);
	expect_number("7 / 2", 3.5);
	expect_number("0.5e1", 5);
	expect_number("1e-3", 0.001);
	expect_number("010", 10);
	expect_number("1\t+\n1", 2);
}

Test(kit_expr, remainder_has_the_sign_of_the_divisor)
{
	expect_number("7 % 3", 1);
	expect_number("-7 % 3", 2);
	expect_number("7 % -3", -2);
	expect_number("-7 % -3", -1);
	expect_number("-7.5 % 2", 0.5);
	expect_number("7.5 % -2", -0.5);
	expect_number("width % -1", 0);
}

Test(kit_expr, fields_and_functions)
{
	expect_number("width", 640);
	expect_number("height", -480);
	expect_number("score", 0.25);
	expect_number("half", 1.5);
	expect_number("abs(height)", 480);
	expect_number("abs(-0.5)", 0.5);
	expect_number("min(width, height, 3)", -480);
	expect_number("max(width, height, 1000.5)", 1000.5);
	expect_number("len(text)", 7);
	expect_number("len(image)", 11);
	expect_number("max(width, abs(height)) / min(width, abs(height))", 640.0 / 480);
}

Test(kit_expr, comparisons_and_logic)
{
	expect_true("width == 640");
	expect_true("width != 641");
	expect_true("height < 0 and width > 0");
	expect_false("height >= 0 or width <= 0");
	expect_true("not height > 0");
	expect_true("not (height > 0 and flag)");
	expect_true("flag");
	expect_true("flag == true");
	expect_true("false or flag and not false");
	expect_true("true or false and false");
	expect_true("not not flag");
	expect_true("text == 'caption'");
	expect_true("text == \"caption\"");
	expect_true("text < 'captions' and text > 'captio' and text >= 'B'");
	expect_true("text != ''");
	expect_true("0.25 == score");
}

Test(kit_expr, lists)
{
	expect_true("width in [1, 640, -3]");
	expect_false("width in [1, 2]");
	expect_true("width not in [1, 2]");
	expect_true("height in [-480]");
	expect_true("score in [0.25]");
	expect_true("-score in [-0.25]");
	expect_true("text in ['cat', 'caption']");
	expect_false("width in []");
	expect_true("flag in [true]");
	expect_true("width + 1 in [641]");
	expect_true("not width in [1]");
}

Test(kit_expr, integers_compare_exactly)
{
	expect_true("big == 18446744073709551615");
	expect_false("big == 18446744073709551614");
	expect_true("big > 18446744073709551614");
	expect_false("big == -1");
	expect_true("big > -1");
	s.width = ((int64_t)1 << 53) + 1;
	expect_false("width == 9007199254740992");
	expect_false("width == 9007199254740992.0");
	expect_true("width > 9007199254740992.0");
	expect_true("width in [9007199254740993]");
	s.width = INT64_MIN;
	expect_true("width == -9223372036854775808");
	expect_true("abs(width) == 9223372036854775808");
	expect_true("big % 2 == 1");
	expect_true("big + big - big == big");
}

Test(kit_expr, what_leaves_128_bits_goes_on_as_a_fraction)
{
	expect_number("big * big * big", 0x1p192);
	expect_true("big * big * big > big");
}

Test(kit_expr, not_a_number_is_unequal_to_all)
{
	s.score = NAN;
	expect_false("score == score");
	expect_true("score != score");
	expect_false("score < 1 or score > 1 or score <= 1 or score >= 1");
	expect_false("score in [0.25]");
	expect_number("min(score, 1)", (double)NAN);
	expect_number("max(1, score)", (double)NAN);
}

Test(kit_expr, logic_stops_once_it_knows)
{
	s.width = 0;
	expect_false("width != 0 and 10 / width > 1");
	expect_true("width == 0 or 10 / width > 1");
	expect_true("width == 0 or 10 / width > 1 or 1 / width > 1");
	expect_false("width != 0 and 1 / width > 1 and 1 / width > 1 or false");
}

static void expect_division_error(const char *text)
{
	struct pl_expr_error error;
	struct pl_err err = {0};
	struct pl_expr *e = parse(text, true, &error);
	double result;

	cr_assert(e);
	cr_expect_eq(pl_expr_eval(e, &s.sample, &result, &err), -EDOM, "%s", text);
	cr_expect_str_eq(err.text, "division by zero");
	pl_expr_free(e);
}

Test(kit_expr, division_by_zero_is_an_error_of_the_sample)
{
	s.width = 0;
	expect_division_error("1 / width > 0");
	expect_division_error("1 % width > 0");
	expect_division_error("1 / 0.0 > 0");
	expect_division_error("1.5 % 0 > 0");
}

Test(kit_expr, a_missing_value_is_an_error_of_the_sample)
{
	struct pl_expr_error error;
	struct pl_err err = {0};
	struct pl_expr *e = parse("width > 0", true, &error);
	double result;

	s.sample.value[WIDTH].dtype = 0;
	cr_expect_eq(pl_expr_eval(e, &s.sample, &result, &err), -EINVAL);
	expect_text(err.text, "no such value");
	pl_expr_free(e);
	e = parse("text == 'a'", true, &error);
	s.sample.value[TEXT].stride[0] = 2;
	cr_expect_eq(pl_expr_eval(e, &s.sample, &result, &err), -EINVAL);
	expect_text(err.text, "no plain text");
	pl_expr_free(e);
}

Test(kit_expr, it_knows_its_fields)
{
	struct pl_expr_error error;
	struct pl_expr *e = parse("width > 0 and (len(image) > 2 or text in ['a'])", true, &error);

	cr_assert(e);
	cr_expect_eq(pl_expr_fields(e), 1u << WIDTH | 1u << IMAGE | 1u << TEXT);
	pl_expr_free(e);
	pl_expr_free(NULL);
}

Test(kit_expr, unknown_names)
{
	expect_error("widht > 3", 0, "no field 'widht' here (did you mean 'width'?)");
	expect_error("1 < hidden", 4, "no field 'hidden' here; there are: width, height, score");
	expect_error("len(txet) > 1", 4, "did you mean 'text'?");
	expect_error("sqrt(width) > 1", 0, "no function 'sqrt'; there are min, max, len, abs");
}

Test(kit_expr, signs_of_other_languages)
{
	expect_error("width = 3", 6, "write '==' to compare");
	expect_error("flag && flag", 5, "write 'and' instead of '&&'");
	expect_error("flag || flag", 5, "write 'or' instead of '||'");
	expect_error("!flag", 0, "write 'not' instead of '!'");
	expect_error("width ** 2 > 1", 6, "no power");
	expect_error("width // 2 > 1", 6, "no integer division");
	expect_error("width > .5", 8, "0.5");
	expect_error("width ? 1", 6, "no meaning");
	expect_error("flag; flag", 4, "no meaning");
	expect_error("caf\xc3\xa9 > 1", 3, "letters a-z");
}

Test(kit_expr, faults_of_grammar)
{
	expect_error("", 0, "the expression is empty");
	expect_error("  ", 0, "the expression is empty");
	expect_error("width >", 7, "a value is missing at the end");
	expect_error("(width > 1", 10, "expected ')', but the expression ends here");
	expect_error("width > 1)", 9, "expected an operator or the end, not ')'");
	expect_error("width height", 6, "expected an operator or the end, not 'height'");
	expect_error("width > > 1", 8, "expected a value, not '>'");
	expect_error("and flag", 0, "expected a value, not 'and'");
	expect_error("1 < width < 3", 10, "comparisons can't be chained");
	expect_error("width in [1] in [2]", 13, "comparisons can't be chained");
	expect_error("width in 3", 9, "'in' needs a list");
	expect_error("width not 3", 10, "expected 'in' behind 'not'");
	expect_error(
		"width in [1, height]", 13, "a list holds numbers, texts, true and false only");
	expect_error("width in [1, -'a']", 13, "a list holds");
	expect_error("width in [1 2]", 12, "expected ']', not '2'");
	expect_error("width in [1,]", 12, "a list holds");
	expect_error("[1] == [1]", 0, "a list stands only behind 'in'");
	expect_error("len(3) > 1", 4, "len takes the name of a field");
	expect_error("len(width) > 1", 4, "'width' is a scalar and has no length");
	expect_error("min(width) > 1", 0, "min needs at least two numbers");
	expect_error("abs(width, 2) > 1", 9, "expected ')', not ','");
	expect_error("'abc == text", 0, "no closing quote");
	expect_error("3x > 1", 0, "not a number");
	expect_error("1.2.3 > 1", 0, "not a number");
	expect_error("0x10 > 1", 0, "not a number");
	expect_error("1e > 1", 0, "not a number");
	expect_error("1e999 > 1", 0, "too large");
	expect_error("18446744073709551616 > 1", 0, "does not fit into 64 bits");
}

Test(kit_expr, types_never_mix)
{
	expect_error("width", 0, "the expression gives a number, and must be true or false");
	expect_error("text", 0, "the expression gives a text, and must be true or false");
	expect_error_of(
		"flag", false, 0, "the expression gives true or false, and must be a number");
	expect_error("width == text", 0, "'==' compares a number with a text");
	expect_error("flag == 1", 0, "'==' compares true or false with a number");
	expect_error("flag < true", 0, "true and false have no order");
	expect_error("text + 1 > 1", 0, "'+' needs a number here, and this is a text");
	expect_error("1 + flag > 1", 4, "'+' needs a number here, and this is true or false");
	expect_error("-text > 1", 1, "'-' needs a number");
	expect_error("width and flag", 0,
		"and needs true or false here, and this is a number (write x != 0)");
	expect_error("flag or text", 8, "or needs true or false here, and this is a text");
	expect_error("not width", 4, "'not' needs true or false");
	expect_error("width in ['a']", 10, "the list needs a number here, and this is a text");
	expect_error("max(1, text) > 1", 7, "max needs a number");
	expect_error("image > 3", 0,
		"'image' is image u8 [?, ?, 3]: an expression takes scalars and texts, other "
		"fields only "
		"in len(image)");
}

static void repeat(char *out, const char *part, size_t n, const char *end)
{
	out[0] = '\0';
	for (size_t i = 0; i < n; i++)
		strcat(out, part);
	strcat(out, end);
}

Test(kit_expr, depth_is_bounded)
{
	static char text[70000];
	struct pl_expr_error error;

	repeat(text, "(", 20000, "flag");
	cr_expect_null(parse(text, true, &error));
	expect_text(error.err.text, "nested deeper than 32 levels");
	repeat(text, "not ", 10000, "flag");
	cr_expect_null(parse(text, true, &error));
	expect_text(error.err.text, "nested deeper than 32 levels");
	repeat(text, "-", 20000, "1 > 0");
	cr_expect_null(parse(text, true, &error));
	expect_text(error.err.text, "nested deeper than 32 levels");
	repeat(text, "(", 20, "flag");
	repeat(text + strlen(text), ")", 20, "");
	cr_expect_eq(value(text, true), 1);
}

Test(kit_expr, the_stack_is_bounded)
{
	char text[2000];
	struct pl_expr_error error;
	struct pl_expr *e;

	/* Five values wait at each of thirty levels. */
	repeat(text, "max(1, 1 + 1 * (", 15, "1");
	repeat(text + strlen(text), "))", 15, " > 0");
	e = parse(text, true, &error);
	cr_assert(e, "%s", error.err.text);
	pl_expr_free(e);
}

Test(kit_expr, length_is_bounded_but_long_chains_are_fine)
{
	static char text[70000];
	struct pl_expr_error error;
	struct pl_expr *e;

	repeat(text, "flag and ", 7000, "flag");
	e = parse(text, true, &error);
	cr_expect(e, "%s", error.err.text);
	pl_expr_free(e);
	memset(text, ' ', sizeof(text) - 1);
	cr_expect_null(parse(text, true, &error));
	expect_text(error.err.text, "longer than 65536 bytes");
}
