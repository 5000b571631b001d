/* daemon/ops/number_or_field.h - a parameter that is a number, or the name of the field that holds
 * it. */
#pragma once

#include "daemon/kit/op.h"

struct pl_number_or_field {
	bool is_field;
	double number; /* else */
};

/* Reads the text of a parameter: a decimal number from 0 to `max`, or a name. 0 or -EINVAL. */
int pl_number_or_field_parse(const char *key, const char *text, double max,
	struct pl_number_or_field *v, struct pl_err *err) PL_MUST_CHECK;

/* For pl_op.infer: field `at` is one number. 0 or -EINVAL. */
int pl_number_or_field_infer(
	const struct pl_infer *io, int pair, const char *key, struct pl_err *err) PL_MUST_CHECK;

/* The number of this sample, read from in[pair] when it is a field; from 0 to `max` like the
 * parameter's. 0 or -EINVAL with err set. */
int pl_number_or_field_read(
	struct pl_run *r, int pair, const char *key, double max, double *out) PL_MUST_CHECK;
