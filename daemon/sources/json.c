/* daemon/sources/json.c - reads JSON text in place, value by value, and says at which byte it is
 * none. */
#include "daemon/sources/json.h"

#include <errno.h>

#include "daemon/sources/utf8.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static int fail(struct pl_json *j, const char *fault)
{
	j->fault = fault;
	j->fault_at = j->at;
	return -EINVAL;
}

char pl_json_peek(struct pl_json *j)
{
	while (j->at < j->end &&
		(*j->at == ' ' || *j->at == '\t' || *j->at == '\r' || *j->at == '\n'))
		j->at++;
	return j->at < j->end ? *j->at : '\0';
}

/* What is wrong when something else should stand here. */
static int unexpected(struct pl_json *j, const char *wanted)
{
	if (j->at == j->end)
		return fail(j, "the value isn't finished at the line's end");
	if (*j->at == '\0')
		return fail(j, "a NUL byte: was the file cut by a crash, or is it no text?");
	return fail(j, wanted);
}

/* A byte of eight has its high bit set when it is a quote, a backslash or below space. */
static uint64_t special_bytes(uint64_t word)
{
	uint64_t quote = word ^ (ONES * '"');
	uint64_t slash = word ^ (ONES * '\\');

	return (((word - ONES * 0x20) & ~word) | ((quote - ONES) & ~quote) |
		       ((slash - ONES) & ~slash)) &
	       HIGHS;
}

static void skip_plain(struct pl_json *j)
{
	uint64_t word;

	for (; j->end - j->at >= (ptrdiff_t)sizeof(word); j->at += sizeof(word)) {
		memcpy(&word, j->at, sizeof(word));
		if (special_bytes(word))
			break;
	}
	while (j->at < j->end && *j->at != '"' && *j->at != '\\' && (uint8_t)*j->at >= 0x20)
		j->at++;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits at p; -1: they are none. */
static int32_t hex_unit(const char *p, const char *end)
{
	int32_t unit = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(p[i]);

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

static int skip_escape(struct pl_json *j)
{
	char c = j->at + 1 < j->end ? j->at[1] : '\0';

	if (c && strchr("\"\\/bfnrt", c)) {
		j->at += 2;
		return 0;
	}
	if (j->at + 1 >= j->end)
		return fail(j, "the text isn't closed at the line's end");
	if (c != 'u')
		return fail(j, "no such escape: \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX are");
	if (hex_unit(j->at + 2, j->end) < 0)
		return fail(j, "\\u needs four hexadecimal digits");
	j->at += 6;
	return 0;
}

int pl_json_string(struct pl_json *j, struct pl_json_span *inside)
{
	const char *begin;

	if (pl_json_peek(j) != '"')
		return unexpected(j, "a text in double quotes must stand here");
	begin = ++j->at;
	for (;;) {
		skip_plain(j);
		if (j->at == j->end)
			return fail(j, "the text isn't closed at the line's end");
		if (*j->at == '"')
			break;
		if (*j->at != '\\')
			return unexpected(j, "a control character in a text: it must be escaped");
		if (skip_escape(j))
			return -EINVAL;
	}
	if (inside)
		*inside = (struct pl_json_span){begin, (size_t)(j->at - begin)};
	j->at++;
	return 0;
}

static bool skip_digits(struct pl_json *j)
{
	const char *begin = j->at;

	while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
		j->at++;
	return j->at > begin;
}

static bool skip_byte(struct pl_json *j, const char *any)
{
	if (j->at == j->end || !*j->at || !strchr(any, *j->at))
		return false;
	j->at++;
	return true;
}

static int skip_number(struct pl_json *j)
{
	const char *digits;

	skip_byte(j, "-");
	digits = j->at;
	if (!skip_digits(j))
		return unexpected(j, "a digit must follow '-' (JSON has no Infinity and no NaN: "
				     "write null)");
	if (*digits == '0' && j->at - digits > 1) {
		j->at = digits;
		return fail(j, "a number has no zeros in front");
	}
	if (skip_byte(j, ".") && !skip_digits(j))
		return unexpected(j, "a digit must follow '.'");
	if (skip_byte(j, "eE")) {
		skip_byte(j, "+-");
		if (!skip_digits(j))
			return unexpected(j, "the exponent has no digits");
	}
	return 0;
}

static int skip_word(struct pl_json *j, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(j->end - j->at) < n || memcmp(j->at, word, n) != 0)
		return fail(j, "a value is true, false, null, a number, a text in double quotes, "
			       "{...} or [...]");
	j->at += n;
	return 0;
}

/* A value that holds no others. */
static int skip_plain_value(struct pl_json *j, char c)
{
	switch (c) {
	case '"':
		return pl_json_string(j, NULL);
	case 't':
		return skip_word(j, "true");
	case 'f':
		return skip_word(j, "false");
	case 'n':
		return skip_word(j, "null");
	case 'N':
	case 'I':
		return fail(j, "JSON has no NaN and no Infinity: write null");
	default:
		if (c == '-' || (c >= '0' && c <= '9'))
			return skip_number(j);
		return unexpected(j, "a value is true, false, null, a number, a text in double "
				     "quotes, {...} or [...]");
	}
}

void pl_json_begin(struct pl_json *j, bool *is_first)
{
	j->at++;
	*is_first = true;
}

int pl_json_next(struct pl_json *j, char closing, bool *is_first)
{
	char c = pl_json_peek(j);
	bool was_first = *is_first;

	*is_first = false;
	if (c == closing) {
		j->at++;
		return 0;
	}
	if (was_first)
		return 1;
	if (c != ',')
		return unexpected(j, closing == '}' ? "',' or '}' must stand here"
						    : "',' or ']' must stand here");
	j->at++;
	return 1;
}

int pl_json_key(struct pl_json *j, struct pl_json_span *key)
{
	if (pl_json_string(j, key))
		return -EINVAL;
	if (pl_json_peek(j) != ':')
		return unexpected(j, "':' must follow the key");
	j->at++;
	return 0;
}

/* The brackets that are open: a bit each, set for an object. */
struct nest {
	int depth;
	bool is_first;
	uint64_t is_object[PL_JSON_DEPTH / 64];
};

static int open_bracket(struct pl_json *j, struct nest *nest, bool is_object)
{
	uint64_t bit = (uint64_t)1 << (nest->depth % 64);

	if (nest->depth == PL_JSON_DEPTH)
		return fail(j, "nested deeper than 512");
	if (is_object)
		nest->is_object[nest->depth / 64] |= bit;
	else
		nest->is_object[nest->depth / 64] &= ~bit;
	nest->depth++;
	pl_json_begin(j, &nest->is_first);
	return 0;
}

/* To the next value inside of the innermost bracket: passes the closing ones, commas and keys. */
static int next_value(struct pl_json *j, struct nest *nest)
{
	while (nest->depth) {
		int i = nest->depth - 1;
		bool is_object = nest->is_object[i / 64] >> (i % 64) & 1;
		int r = pl_json_next(j, is_object ? '}' : ']', &nest->is_first);

		if (r < 0)
			return r;
		if (r)
			return is_object ? pl_json_key(j, NULL) : 0;
		nest->depth--;
	}
	return 0;
}

int pl_json_skip(struct pl_json *j, struct pl_json_span *value)
{
	struct nest nest;
	const char *begin;
	int r;

	nest.depth = 0;
	nest.is_first = false;
	pl_json_peek(j);
	begin = j->at;
	do {
		char c = pl_json_peek(j);

		if (c == '{' || c == '[')
			r = open_bracket(j, &nest, c == '{');
		else
			r = skip_plain_value(j, c);
		if (!r)
			r = next_value(j, &nest);
	} while (!r && nest.depth);
	if (!r && value)
		*value = (struct pl_json_span){begin, (size_t)(j->at - begin)};
	return r;
}

int pl_json_finish(struct pl_json *j)
{
	pl_json_peek(j);
	if (j->at == j->end)
		return 0;
	return unexpected(j, "more follows the value: a line is one value");
}

static char escaped_byte(char c)
{
	switch (c) {
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return c;
	}
}

/* The code point of the \u at p, and where it ends; half a pair gives -1. */
static int32_t escaped_point(const char *p, const char *end, const char **next)
{
	int32_t unit = hex_unit(p + 2, end);
	int32_t low;

	*next = p + 6;
	if (unit < 0xd800 || unit > 0xdfff)
		return unit;
	if (unit > 0xdbff || end - *next < 6 || (*next)[0] != '\\' || (*next)[1] != 'u')
		return -1;
	low = hex_unit(*next + 2, end);
	if (low < 0xdc00 || low > 0xdfff)
		return -1;
	*next += 6;
	return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

int pl_json_unescape(struct pl_json_span inside, char *out, size_t *n)
{
	const char *p = inside.at;
	const char *end = p + inside.n;
	char *to = out;
	int r = 0;

	while (p < end) {
		const char *slash = memchr(p, '\\', (size_t)(end - p));
		size_t plain = (size_t)((slash ? slash : end) - p);
		int32_t point;

		memcpy(to, p, plain);
		to += plain;
		p += plain;
		if (!slash)
			break;
		if (p[1] != 'u') {
			*to++ = escaped_byte(p[1]);
			p += 2;
			continue;
		}
		point = escaped_point(p, end, &p);
		r = point < 0 ? -EILSEQ : r;
		to += pl_utf8_put(to, point < 0 ? 0xfffd : (uint32_t)point);
	}
	*n = (size_t)(to - out);
	return r;
}

/* An escape is longer than what it stands for, so equal texts without one have equal lengths. */
bool pl_json_equals(struct pl_json_span inside, const char *text, size_t n)
{
	char undone[256];
	size_t n_undone;

	if (!memchr(inside.at, '\\', inside.n))
		return inside.n == n && !memcmp(inside.at, text, n);
	if (inside.n > 6 * n || inside.n <= n)
		return false;
	if (inside.n > sizeof(undone)) {
		PL_AUTO_FREE char *large = malloc(inside.n);

		return large && !pl_json_unescape(inside, large, &n_undone) && n_undone == n &&
		       !memcmp(large, text, n);
	}
	return !pl_json_unescape(inside, undone, &n_undone) && n_undone == n &&
	       !memcmp(undone, text, n);
}

const char *pl_json_kind(char first)
{
	switch (first) {
	case '"':
		return "text";
	case '{':
		return "an object";
	case '[':
		return "an array";
	case 't':
	case 'f':
		return "true or false";
	case 'n':
		return "null";
	default:
		return "a number";
	}
}
