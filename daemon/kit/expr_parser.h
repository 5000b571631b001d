/* daemon/kit/expr_parser.h - what the parts of the expression parser share. */
#pragma once

#include "daemon/kit/expr_lex.h"

struct pl_expr_parser {
	const char *text; /* the expression's own copy */
	struct pl_expr_token token;
	struct pl_expr *e;
	struct pl_expr_error *error;
	int n_fields;
	const char *const *name;
	const struct pl_type *type;
	const bool *is_live;
	int depth;
	int n_values; /* on the stack after the code so far */
};

/*
 * What a part of an expression is, and where it begins. Numbers are PL_EXPR_FLOAT here, whether
 * integer or not. After the first fault, which fills *error, every function returns PL_EXPR_NOTHING
 * or false.
 */
struct pl_expr_part {
	enum pl_expr_tag type;
	size_t offset;
};

#define PL_EXPR_NOTHING ((struct pl_expr_part){PL_EXPR_NONE, 0})

/* daemon/kit/expr_emit.c */
struct pl_expr_part pl_expr_fail(struct pl_expr_parser *p, size_t offset, const char *format, ...)
	PL_PRINTF(3, 4);
struct pl_expr_part pl_expr_fail_memory(struct pl_expr_parser *p);
const char *pl_expr_type_name(enum pl_expr_tag type);

/* Goes to the next token; false when there is none. */
bool pl_expr_advance(struct pl_expr_parser *p);
bool pl_expr_is_at(const struct pl_expr_parser *p, const char *what);
bool pl_expr_expect(struct pl_expr_parser *p, const char *what);

/* Appends an instruction, a constant; counts one more value on the stack. */
bool pl_expr_emit(struct pl_expr_parser *p, enum pl_expr_opcode op, size_t arg, size_t n);
bool pl_expr_add_constant(struct pl_expr_parser *p, struct pl_expr_value value);
bool pl_expr_reserve(struct pl_expr_parser *p, size_t offset);

/* True when the part has this type; else the error says that `who` needs it. */
bool pl_expr_needs(
	struct pl_expr_parser *p, struct pl_expr_part part, enum pl_expr_tag type, const char *who);

/* daemon/kit/expr_operand.c: a literal, a field, a call, or a part in parentheses. */
struct pl_expr_part pl_expr_parse_operand(struct pl_expr_parser *p);

/* daemon/kit/expr_parse.c: everything, down from `or`. */
struct pl_expr_part pl_expr_parse_part(struct pl_expr_parser *p);
