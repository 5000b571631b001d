/* daemon/kit/expr_emit.c - the expression parser's errors, place in the text, and output. */
#include "daemon/kit/expr_parser.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct pl_expr_part PL_PRINTF(3, 4)
	pl_expr_fail(struct pl_expr_parser *p, size_t offset, const char *format, ...)
{
	char reason[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	p->error->offset = offset;
	pl_err_set(&p->error->err, -EINVAL, "%s", reason);
	return PL_EXPR_NOTHING;
}

struct pl_expr_part pl_expr_fail_memory(struct pl_expr_parser *p)
{
	p->error->offset = 0;
	pl_err_set(&p->error->err, -ENOMEM, "out of memory");
	return PL_EXPR_NOTHING;
}

const char *pl_expr_type_name(enum pl_expr_tag type)
{
	return type == PL_EXPR_BOOL   ? "true or false"
	       : type == PL_EXPR_TEXT ? "a text"
				      : "a number";
}

/* Goes to the next token; false when that isn't one. */
bool pl_expr_advance(struct pl_expr_parser *p)
{
	p->token = pl_expr_next(p->text, p->token.offset + p->token.n, p->error);
	return p->token.kind != PL_EXPR_TOKEN_ERROR;
}

bool pl_expr_is_at(const struct pl_expr_parser *p, const char *what)
{
	return pl_expr_token_is(p->text, &p->token, what);
}

/* Doubles the room of an array when it is full; NULL when out of memory. */
static void *grow(void *array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 16;
	void *grown;

	if (n < *room)
		return array;
	grown = reallocarray(array, more, size);
	if (grown)
		*room = more;
	return grown;
}

/* False with the error set when memory is out. */
bool pl_expr_emit(struct pl_expr_parser *p, enum pl_expr_opcode op, size_t arg, size_t n)
{
	struct pl_expr *e = p->e;
	struct pl_expr_code *code = grow(e->code, e->n_code, &e->code_room, sizeof(*code));

	if (!code) {
		pl_expr_fail_memory(p);
		return false;
	}
	e->code = code;
	code[e->n_code++] = (struct pl_expr_code){op, (uint32_t)arg, (uint32_t)n};
	return true;
}

bool pl_expr_add_constant(struct pl_expr_parser *p, struct pl_expr_value value)
{
	struct pl_expr *e = p->e;
	struct pl_expr_value *all =
		grow(e->constant, e->n_constants, &e->constant_room, sizeof(*all));

	if (!all) {
		pl_expr_fail_memory(p);
		return false;
	}
	e->constant = all;
	all[e->n_constants++] = value;
	return true;
}

/* One more value on the stack. */
bool pl_expr_reserve(struct pl_expr_parser *p, size_t offset)
{
	if (p->n_values == PL_EXPR_STACK_MAX) {
		pl_expr_fail(p, offset, "the expression is too deeply nested");
		return false;
	}
	p->n_values++;
	return true;
}

bool pl_expr_expect(struct pl_expr_parser *p, const char *what)
{
	if (pl_expr_is_at(p, what))
		return pl_expr_advance(p);
	if (p->token.kind == PL_EXPR_TOKEN_END)
		pl_expr_fail(
			p, p->token.offset, "expected '%s', but the expression ends here", what);
	else
		pl_expr_fail(p, p->token.offset, "expected '%s', not '%.*s'", what,
			(int)(p->token.n < 64 ? p->token.n : 64), p->text + p->token.offset);
	return false;
}

bool pl_expr_needs(
	struct pl_expr_parser *p, struct pl_expr_part part, enum pl_expr_tag type, const char *who)
{
	if (part.type == PL_EXPR_NONE)
		return false;
	if (part.type == type)
		return true;
	pl_expr_fail(p, part.offset, "%s needs %s here, and this is %s%s", who,
		pl_expr_type_name(type), pl_expr_type_name(part.type),
		type == PL_EXPR_BOOL && part.type == PL_EXPR_FLOAT ? " (write x != 0)" : "");
	return false;
}
