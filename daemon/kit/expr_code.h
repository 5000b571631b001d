/* daemon/kit/expr_code.h - what an expression is compiled to: a small stack machine. */
#pragma once

#include "daemon/kit/expr.h"

/* No expression needs more values at once; a deeper one is refused when it is parsed. */
#define PL_EXPR_STACK_MAX 128

enum pl_expr_tag {
	PL_EXPR_NONE, /* the type of what could not be parsed */
	PL_EXPR_INTEGER,
	PL_EXPR_FLOAT,
	PL_EXPR_BOOL,
	PL_EXPR_TEXT,
};

struct pl_expr_value {
	enum pl_expr_tag tag;
	union {
		__int128 integer;
		double real;
		bool truth;
		struct {
			const char *bytes;
			size_t n;
		} text;
	};
};

enum pl_expr_opcode {
	PL_EXPR_PUSH,       /* constant `arg` */
	PL_EXPR_FIELD,      /* value of field `arg` */
	PL_EXPR_FIELD_BOOL, /* the same, a scalar of dtype bool */
	PL_EXPR_FIELD_TEXT, /* the same, a text */
	PL_EXPR_FIELD_LEN,  /* first length of field `arg` */
	PL_EXPR_NEGATE,
	PL_EXPR_ABS,
	PL_EXPR_NOT,
	PL_EXPR_ADD,
	PL_EXPR_SUBTRACT,
	PL_EXPR_MULTIPLY,
	PL_EXPR_DIVIDE,
	PL_EXPR_MODULO,
	PL_EXPR_MIN,
	PL_EXPR_MAX,
	PL_EXPR_EQ,
	PL_EXPR_NE,
	PL_EXPR_LT,
	PL_EXPR_LE,
	PL_EXPR_GT,
	PL_EXPR_GE,
	PL_EXPR_IN,  /* the value is one of the `n` constants from `arg` on */
	PL_EXPR_AND, /* false: jump to `arg` and keep it; true: take it off */
	PL_EXPR_OR,  /* true: jump to `arg` and keep it; false: take it off */
};

struct pl_expr_code {
	enum pl_expr_opcode op;
	uint32_t arg;
	uint32_t n;
};

struct pl_expr {
	struct pl_expr_code *code;
	size_t n_code;
	size_t code_room;
	struct pl_expr_value *constant; /* texts among them point into `text` */
	size_t n_constants;
	size_t constant_room;
	char *text;
	uint64_t fields;
};
