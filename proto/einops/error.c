/* proto/einops/error.c - the text of a fault: reason, the pattern's text, carets under the span. */
#include "proto/einops/room.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define WINDOW 100 /* bytes of a long pattern that are shown around a fault */

static const char *const code_names[PL_EINOPS_CODE_END] = {
	[PL_EINOPS_OK] = "E_OK",
	[PL_EINOPS_E_ARROW] = "E_ARROW",
	[PL_EINOPS_E_DOTS] = "E_DOTS",
	[PL_EINOPS_E_CHAR] = "E_CHAR",
	[PL_EINOPS_E_PAREN] = "E_PAREN",
	[PL_EINOPS_E_IDENT] = "E_IDENT",
	[PL_EINOPS_E_DUP] = "E_DUP",
	[PL_EINOPS_E_ANON_ZERO] = "E_ANON_ZERO",
	[PL_EINOPS_E_ELL_RIGHT] = "E_ELL_RIGHT",
	[PL_EINOPS_E_ELL_LEFT_PAREN] = "E_ELL_LEFT_PAREN",
	[PL_EINOPS_E_ANON_REARRANGE] = "E_ANON_REARRANGE",
	[PL_EINOPS_E_ONE_SIDED] = "E_ONE_SIDED",
	[PL_EINOPS_E_REPEAT_LEFT] = "E_REPEAT_LEFT",
	[PL_EINOPS_E_REPEAT_SIZE] = "E_REPEAT_SIZE",
	[PL_EINOPS_E_REDUCTION] = "E_REDUCTION",
	[PL_EINOPS_E_REDUCE_RIGHT] = "E_REDUCE_RIGHT",
	[PL_EINOPS_E_RANK] = "E_RANK",
	[PL_EINOPS_E_AXIS_NAME] = "E_AXIS_NAME",
	[PL_EINOPS_E_AXIS_UNUSED] = "E_AXIS_UNUSED",
	[PL_EINOPS_E_UNDERDETERMINED] = "E_UNDERDETERMINED",
	[PL_EINOPS_E_MISMATCH] = "E_MISMATCH",
	[PL_EINOPS_E_DIVIDE] = "E_DIVIDE",
	[PL_EINOPS_E_ZERO_DIVISOR] = "E_ZERO_DIVISOR",
	[PL_EINOPS_E_NEGATIVE] = "E_NEGATIVE",
	[PL_EINOPS_E_EMPTY_LIST] = "E_EMPTY_LIST",
	[PL_EINOPS_E_STACK] = "E_STACK",
	[PL_EINOPS_E_MEAN_DTYPE] = "E_MEAN_DTYPE",
	[PL_EINOPS_E_EMPTY_REDUCE] = "E_EMPTY_REDUCE",
	[PL_EINOPS_E_PACK_STAR] = "E_PACK_STAR",
	[PL_EINOPS_E_CONCAT] = "E_CONCAT",
	[PL_EINOPS_E_UNPACK_MULTI] = "E_UNPACK_MULTI",
	[PL_EINOPS_E_UNPACK_SPLIT] = "E_UNPACK_SPLIT",
	[PL_EINOPS_E_COMPOSITE] = "E_COMPOSITE",
	[PL_EINOPS_E_EINSUM_UNIT] = "E_EINSUM_UNIT",
	[PL_EINOPS_E_EINSUM_COMPOSITE] = "E_EINSUM_COMPOSITE",
	[PL_EINOPS_E_EINSUM_ANON] = "E_EINSUM_ANON",
	[PL_EINOPS_E_EINSUM_RIGHT] = "E_EINSUM_RIGHT",
	[PL_EINOPS_E_EINSUM_OPERANDS] = "E_EINSUM_OPERANDS",
	[PL_EINOPS_E_EINSUM_OUT] = "E_EINSUM_OUT",
	[PL_EINOPS_E_DTYPE] = "E_DTYPE",
	[PL_EINOPS_E_LIMIT] = "E_LIMIT",
	[PL_EINOPS_E_TOO_LARGE] = "E_TOO_LARGE",
	[PL_EINOPS_E_MEMORY] = "E_MEMORY",
	[PL_EINOPS_E_ARGUMENT] = "E_ARGUMENT",
};

static const char *const op_names[] = {
	[PL_EINOPS_REARRANGE] = "rearrange",
	[PL_EINOPS_REDUCE] = "reduce",
	[PL_EINOPS_REPEAT] = "repeat",
	[PL_EINOPS_PACK] = "pack",
	[PL_EINOPS_UNPACK] = "unpack",
	[PL_EINOPS_PARSE_SHAPE] = "parse_shape",
	[PL_EINOPS_EINSUM] = "einsum",
};

PL_EXPORT const char *pl_einops_code_name(enum pl_einops_code code)
{
	unsigned int i = (unsigned int)code;

	return i < PL_EINOPS_CODE_END ? code_names[i] : "E_?";
}

PL_EXPORT const char *pl_einops_op_name(enum pl_einops_op op)
{
	unsigned int i = (unsigned int)op;

	return i < PL_ARRAY_LEN(op_names) && op_names[i] ? op_names[i] : "?";
}

/* A buffer that is always terminated; what does not fit is left out. */
struct sink {
	char *out;
	size_t size;
	size_t at;
};

static void put(struct sink *s, const char *bytes, size_t n)
{
	if (s->at + n >= s->size)
		return;
	memcpy(s->out + s->at, bytes, n);
	s->at += n;
	s->out[s->at] = '\0';
}

/* Puts the character at text + at, printable; returns its bytes, and its columns on a terminal. */
static size_t put_char(struct sink *s, const char *text, size_t n_left, size_t *columns)
{
	uint32_t c = 0;
	size_t n = pl_utf8_decode(text, n_left, &c);
	char hex[8];

	if (n && c >= 0x20 && (c < 0x7f || c >= 0xa0)) {
		put(s, text, n);
		*columns = 1;
		return n;
	}
	snprintf(hex, sizeof(hex), "\\x%02X", (unsigned char)*text);
	put(s, hex, 4);
	*columns = 4;
	return 1;
}

const char *pl_fault_word(char out[48], const char *text, struct span at)
{
	struct sink s = {out, 40, 0};
	size_t columns;

	out[0] = '\0';
	for (size_t i = 0; i < at.n;) {
		if (s.at + 5 >= s.size) {
			s.size += 4;
			put(&s, "...", 3);
			break;
		}
		i += put_char(&s, text + at.at + i, at.n - i, &columns);
	}
	return out;
}

static bool is_inside_character(const char *text, size_t at, size_t n)
{
	return at > 0 && at < n && ((unsigned char)text[at] & 0xc0) == 0x80;
}

/* Which bytes of the pattern to show: all, or WINDOW of them with the fault in it. */
static struct span window_of(const struct fault *f, struct span at)
{
	size_t first = 0;
	size_t end = f->n_text;

	if (f->n_text > WINDOW) {
		first = at.at > WINDOW / 2 ? at.at - WINDOW / 2 : 0;
		if (first > f->n_text - WINDOW)
			first = f->n_text - WINDOW;
		end = first + WINDOW;
	}
	for (int i = 0; i < 3 && is_inside_character(f->text, first, f->n_text); i++)
		first++;
	for (int i = 0; i < 3 && is_inside_character(f->text, end, f->n_text); i++)
		end--;
	return (struct span){(uint32_t)first, (uint32_t)(end - first)};
}

static void put_spaces(struct sink *s, const char *with, size_t n)
{
	while (n--)
		put(s, with, 1);
}

/* The pattern on one line, and carets under the span on the next. */
static void put_picture(struct sink *s, const struct fault *f, struct span at)
{
	struct span w = window_of(f, at);
	size_t end = w.at + w.n;
	size_t before = w.at ? 3 : 0;
	size_t under = 0;
	size_t columns;

	put(s, "\n    ...", w.at ? 8 : 5);
	for (size_t i = w.at; i < end;) {
		size_t here = i;

		i += put_char(s, f->text + i, end - i, &columns);
		if (here < at.at)
			before += columns;
		else if (here < (size_t)at.at + at.n)
			under += columns;
	}
	put(s, end < f->n_text ? "...\n    " : "\n    ", end < f->n_text ? 8 : 5);
	put_spaces(s, " ", before);
	put_spaces(s, "^", under ? under : 1);
}

static int errno_of(enum pl_einops_code code)
{
	switch (code) {
	case PL_EINOPS_E_MEMORY:
		return -ENOMEM;
	case PL_EINOPS_E_TOO_LARGE:
	case PL_EINOPS_E_LIMIT:
		return -EOVERFLOW;
	default:
		return -EINVAL;
	}
}

int pl_fault(
	const struct fault *f, enum pl_einops_code code, struct span at, const char *format, ...)
{
	struct pl_einops_error *e = f->error;
	struct sink s;
	va_list args;

	if (!e)
		return errno_of(code);
	e->code = code;
	e->column = at.at;
	e->length = at.n;
	va_start(args, format);
	vsnprintf(e->reason, sizeof(e->reason), format, args);
	va_end(args);
	s = (struct sink){e->text, sizeof(e->text), 0};
	e->text[0] = '\0';
	put(&s, pl_einops_op_name(f->op), strlen(pl_einops_op_name(f->op)));
	put(&s, ": ", 2);
	put(&s, e->reason, strlen(e->reason));
	if (f->text)
		put_picture(&s, f, at);
	return errno_of(code);
}
