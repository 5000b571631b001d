/* daemon/sources/number_store.c - numbers of a record as elements of a field's dtype. */
#include "daemon/sources/number_store.h"

#include <errno.h>
#include <math.h>

/* What an integer dtype holds; false for a float. */
static bool range_of(enum pl_dtype dtype, int64_t *low, uint64_t *high)
{
	size_t bits = 8 * pl_dtype_size(dtype);

	switch (dtype) {
	case PL_BOOL:
		*low = 0;
		*high = 1;
		return true;
	case PL_U8:
	case PL_U16:
	case PL_U32:
	case PL_U64:
		*low = 0;
		*high = UINT64_MAX >> (64 - bits);
		return true;
	case PL_I8:
	case PL_I16:
	case PL_I32:
	case PL_I64:
		*high = UINT64_MAX >> (65 - bits);
		*low = -(int64_t)*high - 1;
		return true;
	default:
		return false;
	}
}

bool pl_number_store_int(enum pl_dtype dtype, void *to, int64_t number)
{
	int64_t low;
	uint64_t high;

	if (!range_of(dtype, &low, &high))
		return pl_number_store_real(dtype, to, (double)number);
	if (number < low || (number > 0 && (uint64_t)number > high))
		return false;
	memcpy(to, &number, pl_dtype_size(dtype));
	return true;
}

/* An integer of a float's value that both have exactly. */
static bool store_whole(enum pl_dtype dtype, void *to, double number)
{
	if (!(number >= -0x1p53 && number <= 0x1p53) || trunc(number) != number)
		return false;
	return pl_number_store_int(dtype, to, (int64_t)number);
}

bool pl_number_store_real(enum pl_dtype dtype, void *to, double number)
{
	float single = (float)number;
	uint16_t half;

	switch (dtype) {
	case PL_F64:
		memcpy(to, &number, sizeof(number));
		return true;
	case PL_F32:
		memcpy(to, &single, sizeof(single));
		return true;
	case PL_F16:
	case PL_BF16:
		half = dtype == PL_F16 ? pl_f32_to_f16(single) : pl_f32_to_bf16(single);
		memcpy(to, &half, sizeof(half));
		return true;
	default:
		return store_whole(dtype, to, number);
	}
}

int pl_number_shape(
	const struct pl_type *type, uint64_t count, int64_t shape[PL_RANK_MAX], struct pl_err *err)
{
	uint64_t known = 1;
	int unknown = -1;
	char text[128];

	for (int d = 0; d < type->rank; d++) {
		shape[d] = type->shape[d];
		if (shape[d] >= 0 && __builtin_mul_overflow(known, (uint64_t)shape[d], &known))
			return pl_err_set(err, -EINVAL, "its shape is too large");
		if (shape[d] < 0 && unknown >= 0)
			return pl_err_set(err, -EINVAL, "more than one length is not known");
		unknown = shape[d] < 0 ? d : unknown;
	}
	if (unknown >= 0 && known > 0 && count % known == 0 && count / known <= INT64_MAX) {
		shape[unknown] = (int64_t)(count / known);
		return 0;
	}
	if (unknown < 0 && count == known)
		return 0;
	return pl_err_set(err, -EINVAL, "%llu values are no %s", (unsigned long long)count,
		pl_type_format(text, sizeof(text), type));
}
