/* daemon/ops/numbers.h - conversion between element types, one element or many. */
#pragma once

#include "daemon/kit/op.h"

/*
 * The rules of every conversion: integer to integer keeps the low bits (as C and numpy); integer to
 * float rounds to nearest; float to integer cuts off towards zero, is limited to the type's range,
 * and NaN gives 0; anything to bool is "not zero" (NaN is true); f64 to f16 and bf16 rounds to f32
 * first.
 */
void pl_numbers_convert(
	void *dst, enum pl_dtype to, const void *src, enum pl_dtype from, int64_t n);

/* Stores one value by the same rules. */
void pl_number_store(void *dst, enum pl_dtype dtype, double value);

/* True when the dtype holds the value without being limited or cut: 255 in u8, not 256 or 0.5. */
bool pl_number_fits(enum pl_dtype dtype, double value);
