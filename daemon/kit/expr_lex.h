/* daemon/kit/expr_lex.h - cuts the text of an expression into tokens. */
#pragma once

#include "daemon/kit/expr_code.h"

enum pl_expr_token_kind {
	PL_EXPR_TOKEN_END,
	PL_EXPR_TOKEN_NUMBER,   /* `value` holds it */
	PL_EXPR_TOKEN_TEXT,     /* `value` holds it, pointing into the text */
	PL_EXPR_TOKEN_NAME,     /* a field, a function, or a word such as and */
	PL_EXPR_TOKEN_OPERATOR, /* one or two signs */
	PL_EXPR_TOKEN_ERROR,
};

struct pl_expr_token {
	enum pl_expr_token_kind kind;
	size_t offset; /* in the text */
	size_t n;      /* bytes */
	struct pl_expr_value value;
};

/* The token at or after `offset`; of kind ERROR with *error filled when there is none. */
struct pl_expr_token pl_expr_next(const char *text, size_t offset, struct pl_expr_error *error);

/* True when the token is these letters or signs. */
bool pl_expr_token_is(const char *text, const struct pl_expr_token *t, const char *what);
