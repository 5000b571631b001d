/* daemon/sources/number.c - a number's text to a number of any dtype: exact, or refused. */
#include "daemon/sources/number.h"

#include <math.h>

/* Both operands of the quick way are exact in a double, so that one rounding is the only one. */
#define EXACT_DIGITS   15
#define EXACT_EXPONENT 22

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *misfit(enum pl_dtype dtype)
{
	static const char *const texts[PL_DTYPE_END] = {
		[PL_U8] = "doesn't fit u8 (0 to 255)",
		[PL_U16] = "doesn't fit u16 (0 to 65535)",
		[PL_U32] = "doesn't fit u32 (0 to 4294967295)",
		[PL_U64] = "doesn't fit u64 (0 to 18446744073709551615)",
		[PL_I8] = "doesn't fit i8 (-128 to 127)",
		[PL_I16] = "doesn't fit i16 (-32768 to 32767)",
		[PL_I32] = "doesn't fit i32 (-2147483648 to 2147483647)",
		[PL_I64] = "doesn't fit i64 (-9223372036854775808 to 9223372036854775807)",
		[PL_F16] = "doesn't fit f16 (up to 65504)",
		[PL_BF16] = "doesn't fit bf16 (up to 3.39e38)",
		[PL_F32] = "doesn't fit f32 (up to 3.4e38)",
		[PL_F64] = "doesn't fit f64 (up to 1.8e308)",
	};

	return texts[dtype];
}

/* Whole numbers have at most as many bits as their size says, one less with a sign. */
static const char *store_whole(enum pl_dtype dtype, bool is_negative, uint64_t magnitude, void *to)
{
	size_t size = pl_dtype_size(dtype);
	bool has_sign = dtype >= PL_I8;
	uint64_t most = UINT64_MAX >> (64 - 8 * size + has_sign);
	uint64_t bits = is_negative ? 0 - magnitude : magnitude;

	if (magnitude > most + (is_negative && has_sign) || (is_negative && !has_sign && magnitude))
		return misfit(dtype);
	memcpy(to, &bits, size); /* little-endian: the low bytes first */
	return NULL;
}

static const char *read_whole(enum pl_dtype dtype, const char *text, size_t n, void *to)
{
	bool has_sign = n && (*text == '-' || *text == '+');
	uint64_t magnitude = 0;
	bool is_over = false;

	if (n == has_sign)
		return "is no whole number";
	for (size_t i = has_sign; i < n; i++) {
		if (!is_digit(text[i]))
			return "is no whole number";
		is_over |= __builtin_mul_overflow(magnitude, 10, &magnitude) ||
			   __builtin_add_overflow(magnitude, (uint64_t)(text[i] - '0'), &magnitude);
	}
	return is_over ? misfit(dtype) : store_whole(dtype, *text == '-', magnitude, to);
}

/* A float's text in parts. */
struct parts {
	bool is_negative;
	uint64_t digits; /* all of them as one number, when there are few */
	size_t n_digits;
	int64_t exponent; /* of ten */
};

static size_t read_digits(const char *text, size_t n, struct parts *p)
{
	size_t i = 0;

	for (; i < n && is_digit(text[i]); i++) {
		if (p->n_digits < EXACT_DIGITS)
			p->digits = p->digits * 10 + (uint64_t)(text[i] - '0');
		p->n_digits += p->n_digits || text[i] != '0';
	}
	return i;
}

/* Just the first digits of an exponent count: it is large either way. */
static bool read_exponent(const char *text, size_t n, struct parts *p)
{
	size_t i = n && (*text == '-' || *text == '+');
	int64_t exponent = 0;

	if (i == n)
		return false;
	for (; i < n && is_digit(text[i]); i++)
		exponent = exponent < 100000 ? exponent * 10 + (text[i] - '0') : exponent;
	p->exponent += *text == '-' ? -exponent : exponent;
	return i == n;
}

static bool read_parts(const char *text, size_t n, struct parts *p)
{
	size_t i = n && (*text == '-' || *text == '+');
	size_t whole, fraction = 0;

	*p = (struct parts){.is_negative = n && *text == '-'};
	whole = read_digits(text + i, n - i, p);
	i += whole;
	if (i < n && text[i] == '.') {
		fraction = read_digits(text + i + 1, n - i - 1, p);
		i += 1 + fraction;
		p->exponent = -(int64_t)fraction;
	}
	if (whole + fraction == 0)
		return false;
	if (i < n && (text[i] == 'e' || text[i] == 'E'))
		return read_exponent(text + i + 1, n - i - 1, p);
	return i == n;
}

static double value_of(const struct parts *p, const char *text)
{
	static const double ten[EXACT_EXPONENT + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
		1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	double v;

	if (p->n_digits > EXACT_DIGITS || p->exponent < -EXACT_EXPONENT ||
		p->exponent > EXACT_EXPONENT)
		return strtod(text, NULL);
	v = (double)p->digits;
	v = p->exponent < 0 ? v / ten[-p->exponent] : v * ten[p->exponent];
	return p->is_negative ? -v : v;
}

void pl_number_parse_f64(enum pl_dtype dtype, double value, void *to)
{
	float f = (float)value;
	uint16_t half = dtype == PL_BF16 ? pl_f32_to_bf16(f) : pl_f32_to_f16(f);

	if (dtype == PL_F64)
		memcpy(to, &value, sizeof(value));
	else if (dtype == PL_F32)
		memcpy(to, &f, sizeof(f));
	else
		memcpy(to, &half, sizeof(half));
}

static bool is_finite_in(enum pl_dtype dtype, double value)
{
	float f = (float)value;

	if (dtype == PL_F16)
		f = pl_f16_to_f32(pl_f32_to_f16(f));
	if (dtype == PL_BF16)
		f = pl_bf16_to_f32(pl_f32_to_bf16(f));
	return dtype == PL_F64 ? isfinite(value) : isfinite(f);
}

static const char *read_float(enum pl_dtype dtype, const char *text, size_t n, void *to)
{
	struct parts parts;
	double value;

	if (!read_parts(text, n, &parts))
		return "is no number";
	value = value_of(&parts, text);
	if (!is_finite_in(dtype, value))
		return misfit(dtype);
	pl_number_parse_f64(dtype, value, to);
	return NULL;
}

const char *pl_number_parse(enum pl_dtype dtype, const char *text, size_t n, void *to)
{
	return pl_dtype_is_float(dtype) ? read_float(dtype, text, n, to)
					: read_whole(dtype, text, n, to);
}
