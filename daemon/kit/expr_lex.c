/* daemon/kit/expr_lex.c - cuts the text of an expression into tokens. */
#include "daemon/kit/expr_lex.h"

#include <errno.h>
#include <math.h>

#define FLOAT_LETTERS_MAX 64

bool pl_expr_token_is(const char *text, const struct pl_expr_token *t, const char *what)
{
	return (t->kind == PL_EXPR_TOKEN_NAME || t->kind == PL_EXPR_TOKEN_OPERATOR) &&
	       strlen(what) == t->n && !memcmp(text + t->offset, what, t->n);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static struct pl_expr_token fail(
	struct pl_expr_token t, struct pl_expr_error *error, const char *reason)
{
	t.kind = PL_EXPR_TOKEN_ERROR;
	error->offset = t.offset;
	pl_err_set(&error->err, -EINVAL, "%s", reason);
	return t;
}

/* Digits with an optional fraction and exponent; *is_float tells that it has one of them. */
static size_t number_length(const char *s, bool *is_float)
{
	size_t n = 0;
	size_t sign;

	while (is_digit(s[n]))
		n++;
	*is_float = false;
	if (s[n] == '.' && is_digit(s[n + 1])) {
		*is_float = true;
		for (n++; is_digit(s[n]);)
			n++;
	}
	if (s[n] != 'e' && s[n] != 'E')
		return n;
	sign = s[n + 1] == '-' || s[n + 1] == '+';
	if (!is_digit(s[n + 1 + sign]))
		return n;
	*is_float = true;
	for (n += 1 + sign; is_digit(s[n]);)
		n++;
	return n;
}

static struct pl_expr_token lex_float(
	const char *s, struct pl_expr_token t, struct pl_expr_error *error)
{
	char letters[FLOAT_LETTERS_MAX];

	if (t.n >= sizeof(letters))
		return fail(t, error, "the number has too many digits");
	memcpy(letters, s, t.n);
	letters[t.n] = '\0';
	t.value.tag = PL_EXPR_FLOAT;
	t.value.real = strtod(letters, NULL);
	return isfinite(t.value.real) ? t : fail(t, error, "the number is too large");
}

static struct pl_expr_token lex_number(
	const char *s, struct pl_expr_token t, struct pl_expr_error *error)
{
	uint64_t integer = 0;
	bool is_float;

	t.kind = PL_EXPR_TOKEN_NUMBER;
	t.n = number_length(s, &is_float);
	if (is_letter(s[t.n]) || is_digit(s[t.n]) || s[t.n] == '.')
		return fail(t, error, "not a number: write it as 12, 0.5 or 1e-3");
	if (is_float)
		return lex_float(s, t, error);
	for (size_t i = 0; i < t.n; i++)
		if (__builtin_mul_overflow(integer, 10u, &integer) ||
			__builtin_add_overflow(integer, (uint64_t)(s[i] - '0'), &integer))
			return fail(t, error, "the integer does not fit into 64 bits");
	t.value.tag = PL_EXPR_INTEGER;
	t.value.integer = integer;
	return t;
}

static struct pl_expr_token lex_text(
	const char *s, struct pl_expr_token t, struct pl_expr_error *error)
{
	const char *end = strchr(s + 1, *s);

	if (!end)
		return fail(t, error, "the text has no closing quote");
	t.kind = PL_EXPR_TOKEN_TEXT;
	t.n = (size_t)(end - s) + 1;
	t.value.tag = PL_EXPR_TEXT;
	t.value.text.bytes = s + 1;
	t.value.text.n = t.n - 2;
	return t;
}

static struct pl_expr_token lex_operator(
	const char *s, struct pl_expr_token t, struct pl_expr_error *error)
{
	static const char *const foreign[][2] = {
		{"&&", "write 'and' instead of '&&'"},
		{"||", "write 'or' instead of '||'"},
		{"**", "there is no power; multiply"},
		{"//", "there is no integer division; / gives a fraction"},
	};
	static const char *const doubled[] = {"==", "!=", "<=", ">="};

	for (size_t i = 0; i < PL_ARRAY_LEN(foreign); i++)
		if (!strncmp(s, foreign[i][0], 2))
			return fail(t, error, foreign[i][1]);
	t.kind = PL_EXPR_TOKEN_OPERATOR;
	for (size_t i = 0; i < PL_ARRAY_LEN(doubled); i++)
		if (!strncmp(s, doubled[i], 2)) {
			t.n = 2;
			return t;
		}
	if (*s == '=')
		return fail(t, error, "write '==' to compare");
	if (*s == '!')
		return fail(t, error, "write 'not' instead of '!'");
	if (*s == '.')
		return fail(t, error, "a fraction begins with a digit: 0.5");
	if (!strchr("+-*/%<>()[],", *s))
		return fail(t, error, "this sign has no meaning in an expression");
	t.n = 1;
	return t;
}

struct pl_expr_token pl_expr_next(const char *text, size_t offset, struct pl_expr_error *error)
{
	struct pl_expr_token t = {.kind = PL_EXPR_TOKEN_END};
	const char *s;

	while (text[offset] == ' ' || text[offset] == '\t' || text[offset] == '\n')
		offset++;
	t.offset = offset;
	s = text + offset;
	if (!*s)
		return t;
	if (is_digit(*s))
		return lex_number(s, t, error);
	if (*s == '\'' || *s == '"')
		return lex_text(s, t, error);
	if (!is_letter(*s))
		return lex_operator(s, t, error);
	t.kind = PL_EXPR_TOKEN_NAME;
	while (is_letter(s[t.n]) || is_digit(s[t.n]))
		t.n++;
	if ((unsigned char)s[t.n] < 0x80)
		return t;
	t.offset += t.n;
	return fail(t, error, "names here are letters a-z, digits and _");
}
