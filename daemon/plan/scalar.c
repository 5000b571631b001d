/* daemon/plan/scalar.c - one text to one number, by a fixed grammar and without guesses. */
#include "daemon/plan/scalar.h"

#include <errno.h>
#include <math.h>

#define QUOTED_MAX 64

/* For messages: the text, cut where it is long. */
static const char *shown(const char *text, char out[QUOTED_MAX])
{
	return pl_err_quote(out, QUOTED_MAX, text);
}

static size_t count_digits(const char *text)
{
	size_t n = 0;

	while (text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

static int refuse(struct pl_err *err, const char *expected, const char *text)
{
	char quoted[QUOTED_MAX];

	return pl_err_set(err, -EINVAL, "must be %s, not '%s'", expected, shown(text, quoted));
}

int pl_scalar_int(const char *text, int64_t *out, struct pl_err *err)
{
	const char *digits = text + (text[0] == '-' || text[0] == '+');
	size_t n = count_digits(digits);
	char quoted[QUOTED_MAX];
	int64_t value = 0;

	if (n == 0 || digits[n])
		return refuse(err, "a whole number in decimal digits", text);
	for (size_t i = 0; i < n; i++) {
		int digit = digits[i] - '0';

		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_sub_overflow(value, digit, &value))
			return pl_err_set(err, -EINVAL, "is too large for 64 bits: '%s'",
				shown(text, quoted));
	}
	if (text[0] != '-' && __builtin_sub_overflow(0, value, &value))
		return pl_err_set(
			err, -EINVAL, "is too large for 64 bits: '%s'", shown(text, quoted));
	*out = value;
	return 0;
}

/* Length of the decimal number that text begins with, or 0. */
static size_t decimal_length(const char *text)
{
	size_t sign = text[0] == '-' || text[0] == '+';
	size_t whole = count_digits(text + sign);
	size_t n = sign + whole;
	size_t part = 0;
	size_t exponent;

	if (text[n] == '.') {
		part = count_digits(text + n + 1);
		n += 1 + part;
	}
	if (whole + part == 0)
		return 0;
	if (text[n] != 'e' && text[n] != 'E')
		return n;
	exponent = n + 1 + (text[n + 1] == '-' || text[n + 1] == '+');
	return count_digits(text + exponent) ? exponent + count_digits(text + exponent) : 0;
}

int pl_scalar_float(const char *text, double *out, struct pl_err *err)
{
	size_t n = decimal_length(text);
	bool is_fraction = n > 0 && text[n] == '/';
	double value;
	double below = 1;

	if (n == 0 || (text[n] && !is_fraction))
		return refuse(err, "a decimal number such as 0.5 or 3/4", text);
	value = strtod(text, NULL);
	if (is_fraction) {
		const char *rest = text + n + 1;
		size_t n_rest = decimal_length(rest);

		if (n_rest == 0 || rest[n_rest])
			return refuse(err, "a decimal number such as 0.5 or 3/4", text);
		below = strtod(rest, NULL);
	}
	if (below == 0 || !isfinite(value / below))
		return refuse(err, "a finite number", text);
	*out = value / below;
	return 0;
}

int pl_scalar_bool(const char *text, bool *out, struct pl_err *err)
{
	bool is_true = strcmp(text, "true") == 0;

	if (!is_true && strcmp(text, "false") != 0)
		return refuse(err, "true or false", text);
	*out = is_true;
	return 0;
}

struct unit {
	const char *name;
	double factor;
};

/* A decimal number with one of the units: *out is their product, checked to be whole and to fit. */
static int scalar_with_unit(const char *text, const struct unit *units, int64_t *out,
	const char *expected, struct pl_err *err)
{
	size_t n = decimal_length(text);
	const char *name = text + n + (n > 0 && text[n] == ' ');
	double value;

	if (n == 0 || text[0] == '-' || strcspn(text, "eE") < n)
		return refuse(err, expected, text);
	value = strtod(text, NULL);
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			break;
	if (!units->name)
		return refuse(err, expected, text);
	value *= units->factor;
	if (value >= 9.2e18)
		return refuse(err, "smaller", text);
	if (value != floor(value))
		return refuse(err, "a whole number of the smallest unit", text);
	*out = (int64_t)value;
	return 0;
}

int pl_scalar_bytes(const char *text, int64_t *out, struct pl_err *err)
{
	static const struct unit units[] = {
		{"", 1},
		{"B", 1},
		{"KiB", 1024.0},
		{"MiB", 1048576.0},
		{"GiB", 1073741824.0},
		{"TiB", 1099511627776.0},
		{NULL, 0},
	};
	size_t n = count_digits(text);

	if (n > 0 && text[n] == '\0')
		return pl_scalar_int(text, out, err);
	return scalar_with_unit(
		text, units, out, "bytes with B, KiB, MiB, GiB or TiB, such as 64MiB", err);
}

int pl_scalar_duration(const char *text, int64_t *out, struct pl_err *err)
{
	static const struct unit units[] = {
		{"ms", 1e6},
		{"s", 1e9},
		{"min", 60e9},
		{"h", 3600e9},
		{NULL, 0},
	};

	*out = 0;
	if (strcmp(text, "0") == 0)
		return 0;
	return scalar_with_unit(text, units, out, "a time with ms, s, min or h, such as 90s", err);
}
