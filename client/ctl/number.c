/* client/ctl/number.c - one element of a tensor as text. */
#include "client/ctl/ctl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOAD(type, from)                                                                           \
	({                                                                                         \
		type value_;                                                                       \
		memcpy(&value_, from, sizeof(value_));                                             \
		value_;                                                                            \
	})

static float load_float(enum pl_dtype dtype, const void *element)
{
	switch (dtype) {
	case PL_F16:
		return pl_f16_to_f32(LOAD(uint16_t, element));
	case PL_BF16:
		return pl_bf16_to_f32(LOAD(uint16_t, element));
	default:
		return LOAD(float, element);
	}
}

static int64_t load_signed(enum pl_dtype dtype, const void *element)
{
	switch (dtype) {
	case PL_I8:
		return LOAD(int8_t, element);
	case PL_I16:
		return LOAD(int16_t, element);
	case PL_I32:
		return LOAD(int32_t, element);
	default:
		return LOAD(int64_t, element);
	}
}

static uint64_t load_unsigned(enum pl_dtype dtype, const void *element)
{
	switch (dtype) {
	case PL_U16:
		return LOAD(uint16_t, element);
	case PL_U32:
		return LOAD(uint32_t, element);
	case PL_U64:
		return LOAD(uint64_t, element);
	default:
		return LOAD(uint8_t, element);
	}
}

static bool is_signed(enum pl_dtype dtype)
{
	return dtype >= PL_I8 && dtype <= PL_I64;
}

double ctl_number_value(enum pl_dtype dtype, const void *element)
{
	if (dtype == PL_F64)
		return LOAD(double, element);
	if (pl_dtype_is_float(dtype))
		return (double)load_float(dtype, element);
	if (is_signed(dtype))
		return (double)load_signed(dtype, element);
	return (double)load_unsigned(dtype, element);
}

static int print_special(char *out, double value)
{
	const char *word = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";

	return snprintf(out, CTL_NUMBER_MAX, "\"%s\"", word);
}

/* As many digits as are needed to read the same number back. */
static int print_f32(char *out, float value)
{
	int n = 0;

	if (!isfinite(value))
		return print_special(out, (double)value);
	for (int digits = 6; digits <= 9; digits++) {
		n = snprintf(out, CTL_NUMBER_MAX, "%.*g", digits, (double)value);
		if (strtof(out, NULL) == value)
			break;
	}
	return n;
}

static int print_f64(char *out, double value)
{
	int n = 0;

	if (!isfinite(value))
		return print_special(out, value);
	for (int digits = 15; digits <= 17; digits++) {
		n = snprintf(out, CTL_NUMBER_MAX, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	return n;
}

int ctl_number_json(char out[CTL_NUMBER_MAX], enum pl_dtype dtype, const void *element)
{
	if (dtype == PL_BOOL)
		return snprintf(
			out, CTL_NUMBER_MAX, "%s", LOAD(uint8_t, element) ? "true" : "false");
	if (dtype == PL_F64)
		return print_f64(out, LOAD(double, element));
	if (pl_dtype_is_float(dtype))
		return print_f32(out, load_float(dtype, element));
	if (is_signed(dtype))
		return snprintf(out, CTL_NUMBER_MAX, "%" PRId64, load_signed(dtype, element));
	return snprintf(out, CTL_NUMBER_MAX, "%" PRIu64, load_unsigned(dtype, element));
}
