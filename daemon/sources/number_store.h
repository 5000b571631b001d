/* daemon/sources/number_store.h - numbers of a record as elements of a field's dtype. */
#pragma once

#include "daemon/kit/type.h"

/*
 * Write one element. False when the dtype can't hold the number: an integer outside its range, or a
 * fraction for an integer. Any number goes into a float, rounded to the nearest; only 0 and 1 into
 * a bool.
 */
bool pl_number_store_int(enum pl_dtype dtype, void *to, int64_t number) PL_MUST_CHECK;
bool pl_number_store_real(enum pl_dtype dtype, void *to, double number) PL_MUST_CHECK;

/*
 * The shape of `count` elements in row order as a field of this type. 0 with the known lengths and
 * the one that isn't; -EINVAL with err when it doesn't fit, or when more than one is unknown.
 */
int pl_number_shape(const struct pl_type *type, uint64_t count, int64_t shape[PL_RANK_MAX],
	struct pl_err *err) PL_MUST_CHECK;
