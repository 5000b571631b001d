/* daemon/plan/scalar.h - one text to one number, by a fixed grammar and without guesses. */
#pragma once

#include "proto/err.h"

/*
 * All return 0, or -EINVAL with err telling what was expected ("must be a whole number, not
 * '1e3'"): the caller puts the name of the parameter before it.
 */

/* [+-]digits, decimal whatever it begins with: 010 is ten. No exponent, point, hex, or '_'. */
int pl_scalar_int(const char *text, int64_t *out, struct pl_err *err);

/* [+-]digits with an optional point and exponent, or a fraction of two such numbers: 3/4. Finite.
 */
int pl_scalar_float(const char *text, double *out, struct pl_err *err);

/* true or false, nothing else. */
int pl_scalar_bool(const char *text, bool *out, struct pl_err *err);

/* A number with B, KiB, MiB, GiB, TiB or none of them; >= 0 and whole in bytes. */
int pl_scalar_bytes(const char *text, int64_t *out, struct pl_err *err);

/* A number with ms, s, min or h, in nanoseconds; 0 needs no unit. */
int pl_scalar_duration(const char *text, int64_t *out, struct pl_err *err);
