/* tests/unit/test_plan_scalar.c - one text to one number, and never a guess. */
#include <criterion/criterion.h>

#include "daemon/plan/format.h"
#include "daemon/plan/scalar.h"
#include "daemon/plan/suggest.h"

Test(plan_scalar, integers)
{
	const struct {
		const char *text;
		bool is_ok;
		int64_t value;
	} row[] = {
		{"0", true, 0},
		{"-0", true, 0},
		{"010", true, 10},
		{"000123", true, 123},
		{"+5", true, 5},
		{"-9223372036854775808", true, INT64_MIN},
		{"9223372036854775807", true, INT64_MAX},
		{"9223372036854775808", false, 0},
		{"-9223372036854775809", false, 0},
		{"99999999999999999999999", false, 0},
		{"", false, 0},
		{"-", false, 0},
		{"+-1", false, 0},
		{" 1", false, 0},
		{"1 ", false, 0},
		{"1e3", false, 0},
		{"0x10", false, 0},
		{"0o10", false, 0},
		{"0b1", false, 0},
		{"1_000", false, 0},
		{"1:30", false, 0},
		{"4096.0", false, 0},
		{"\xd9\xa3", false, 0},
	};

	for (size_t i = 0; i < PL_ARRAY_LEN(row); i++) {
		int64_t value = 0;

		cr_expect_eq(pl_scalar_int(row[i].text, &value, NULL) == 0, row[i].is_ok, "%s",
			row[i].text);
		cr_expect_eq(value, row[i].value, "%s", row[i].text);
	}
}

Test(plan_scalar, numbers)
{
	const struct {
		const char *text;
		bool is_ok;
		double value;
	} row[] = {
		{"1", true, 1},
		{"-1.5", true, -1.5},
		{".5", true, 0.5},
		{"5.", true, 5},
		{"1e3", true, 1000},
		{"1.5E-2", true, 0.015},
		{"3/4", true, 0.75},
		{"1/255", true, 1.0 / 255},
		{"-1/2.5", true, -0.4},
		{".", false, 0},
		{"", false, 0},
		{"e5", false, 0},
		{"1e", false, 0},
		{"1e+", false, 0},
		{"1/0", false, 0},
		{"1/", false, 0},
		{"1/2/3", false, 0},
		{"1e400", false, 0},
		{"nan", false, 0},
		{"inf", false, 0},
		{".inf", false, 0},
		{"0x1p3", false, 0},
		{"1,5", false, 0},
		{"1_0", false, 0},
	};

	for (size_t i = 0; i < PL_ARRAY_LEN(row); i++) {
		double value = 0;

		cr_expect_eq(pl_scalar_float(row[i].text, &value, NULL) == 0, row[i].is_ok, "%s",
			row[i].text);
		cr_expect_float_eq(value, row[i].value, 1e-15, "%s", row[i].text);
	}
}

Test(plan_scalar, bytes_and_times)
{
	int64_t v;

	cr_assert_eq(pl_scalar_bytes("123", &v, NULL), 0);
	cr_assert_eq(v, 123);
	cr_assert_eq(pl_scalar_bytes("64MiB", &v, NULL), 0);
	cr_assert_eq(v, 64 << 20);
	cr_assert_eq(pl_scalar_bytes("1.5 KiB", &v, NULL), 0);
	cr_assert_eq(v, 1536);
	cr_assert_eq(pl_scalar_bytes("3B", &v, NULL), 0);
	cr_assert_lt(pl_scalar_bytes("64M", &v, NULL), 0);
	cr_assert_lt(pl_scalar_bytes("64MB", &v, NULL), 0);
	cr_assert_lt(pl_scalar_bytes("-1KiB", &v, NULL), 0);
	cr_assert_lt(pl_scalar_bytes("1.5B", &v, NULL), 0);
	cr_assert_lt(pl_scalar_bytes("99999999999TiB", &v, NULL), 0);
	cr_assert_eq(pl_scalar_duration("0", &v, NULL), 0);
	cr_assert_eq(v, 0);
	cr_assert_eq(pl_scalar_duration("250ms", &v, NULL), 0);
	cr_assert_eq(v, 250000000);
	cr_assert_eq(pl_scalar_duration("1.5min", &v, NULL), 0);
	cr_assert_eq(v, 90000000000);
	cr_assert_eq(pl_scalar_duration("2h", &v, NULL), 0);
	cr_assert_lt(pl_scalar_duration("10", &v, NULL), 0);
	cr_assert_lt(pl_scalar_duration("1:30", &v, NULL), 0);
	cr_assert_lt(pl_scalar_duration("-1s", &v, NULL), 0);
	cr_assert_lt(pl_scalar_duration("10 seconds", &v, NULL), 0);
}

Test(plan_scalar, booleans)
{
	static const char *const refused[] = {
		"yes", "no", "on", "off", "True", "FALSE", "1", "0", "", "y"};
	bool v = false;

	cr_assert_eq(pl_scalar_bool("true", &v, NULL), 0);
	cr_assert_eq(v, true);
	cr_assert_eq(pl_scalar_bool("false", &v, NULL), 0);
	cr_assert_eq(v, false);
	for (size_t i = 0; i < PL_ARRAY_LEN(refused); i++)
		cr_expect_lt(pl_scalar_bool(refused[i], &v, NULL), 0, "%s", refused[i]);
}

Test(plan_scalar, bytes_for_people)
{
	char text[32];

	cr_assert_str_eq(pl_format_bytes(text, sizeof(text), 0), "0 B");
	cr_assert_str_eq(pl_format_bytes(text, sizeof(text), 1023), "1023 B");
	cr_assert_str_eq(pl_format_bytes(text, sizeof(text), 602112), "588.0 KiB");
	cr_assert_str_eq(pl_format_bytes(text, sizeof(text), (uint64_t)3 << 40), "3.0 TiB");
	cr_assert_str_eq(pl_format_bytes(text, sizeof(text), UINT64_MAX), "over 256 TiB");
}

Test(plan_scalar, hints)
{
	struct pl_names names = {0};
	char text[100];

	pl_names_add(&names, "width");
	pl_names_add(&names, "height");
	pl_names_add(&names, "width");
	cr_assert_eq(names.n, 2);
	cr_assert_str_eq(
		pl_names_hint(&names, "widht", text, sizeof(text)), " (did you mean 'width'?)");
	cr_assert_str_eq(
		pl_names_hint(&names, "colour", text, sizeof(text)), " (valid: width, height)");
	names.n = 0;
	cr_assert_str_eq(pl_names_join(&names, text, sizeof(text)), "none");
}
