/* daemon/kit/expr.h - the expressions of `filter`: typed at load, evaluated per sample. */
#pragma once

#include "daemon/kit/sample.h"

/*
 * Grammar (LANGUAGE rule 9), loosest first: or; and; not; comparison (== != < <= > >= in, not
 * chained); + -; * / %; unary -; literals (numbers, 'text', "text", true, false), field names,
 * [lists], ( ), and the functions min(a, b, ...) max(a, b, ...) len(x) abs(x). Numbers are f64,
 * except that integers of fields and literals compare exactly. / is float division; % has the sign
 * of the divisor. len of text counts bytes, of a tensor its first axis.
 */
struct pl_expr;

/* An error's place: byte offset into the text. */
struct pl_expr_error {
	size_t offset;
	struct pl_err err;
};

/*
 * Compiles `text` against the live fields: is_live[i], name[i], type[i] for i < n. Fields must be
 * scalars or text, except as the argument of len. The result must be boolean (wants_bool) or a
 * number. NULL with *error filled.
 */
struct pl_expr *pl_expr_parse(const char *text, int n, const char *const *name,
	const struct pl_type *type, const bool *is_live, bool wants_bool,
	struct pl_expr_error *error);
void pl_expr_free(struct pl_expr *e);

/* Field numbers used, as a bit set (bit i = field i). */
uint64_t pl_expr_fields(const struct pl_expr *e);

/* Evaluates on a sample. 0 and *result, or -EDOM with err ("division by zero"). */
int pl_expr_eval(const struct pl_expr *e, const struct pl_sample *sample, double *result,
	struct pl_err *err);
