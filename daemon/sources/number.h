/* daemon/sources/number.h - a number's text to a number of any dtype: exact, or refused. */
#pragma once

#include "proto/err.h"
#include "proto/tensor/tensor.h"

/*
 * Stores the number that the n bytes write in `to`, as one element of dtype (not bool). Decimal
 * only. Whole dtypes take digits with or without a sign, zeros in front too, and are exact or
 * refused; nothing is rounded or wrapped. Float dtypes take digits, a point and an exponent, are
 * read as f64 (rightly rounded) and converted to the dtype as a cast does. NULL, or why not, as "is
 * no whole number" or "doesn't fit i8": static storage.
 *
 * Behind the n bytes must be one that can't go on a number: the text is NUL-terminated, or another
 * byte than a letter, digit, '.', '+' or '-'.
 */
const char *pl_number_parse(enum pl_dtype dtype, const char *text, size_t n, void *to);

/* The same for a number that is known: NaN and infinities. `to` of a float dtype. */
void pl_number_parse_f64(enum pl_dtype dtype, double value, void *to);
