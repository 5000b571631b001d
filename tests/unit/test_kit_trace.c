/* tests/unit/test_kit_trace.c - how values are shown in a trace. */
#include "daemon/kit/trace.h"

#include <math.h>

#include <criterion/criterion.h>

#define SHOWS(type, dt, v, text)                                                                   \
	do {                                                                                       \
		type value = (v);                                                                  \
		struct pl_tensor shown = {.data = &value, .dtype = (dt)};                          \
		char line[64];                                                                     \
		cr_expect_str_eq(pl_trace_format(line, sizeof(line), &shown, false), text);        \
	} while (0)

Test(kit_trace, scalars)
{
	bool yes = true;
	bool no = false;
	struct pl_tensor t = {.data = &yes, .dtype = PL_BOOL};
	char out[64];

	SHOWS(int64_t, PL_I64, INT64_MIN, "-9223372036854775808");
	SHOWS(uint64_t, PL_U64, UINT64_MAX, "18446744073709551615");
	SHOWS(int8_t, PL_I8, -3, "-3");
	SHOWS(int16_t, PL_I16, -300, "-300");
	SHOWS(int32_t, PL_I32, -70000, "-70000");
	SHOWS(uint8_t, PL_U8, 200, "200");
	SHOWS(float, PL_F32, 0.1f, "0.1");
	SHOWS(float, PL_F32, 16777216.0f, "16777216");
	SHOWS(double, PL_F64, 0.5, "0.5");
	SHOWS(double, PL_F64, 1.0 / 3, "0.3333333333333333");
	SHOWS(double, PL_F64, -(double)INFINITY, "-inf");
	SHOWS(double, PL_F64, (double)NAN, "nan");
	SHOWS(uint16_t, PL_F16, pl_f32_to_f16(1.5f), "1.5");
	SHOWS(uint16_t, PL_BF16, pl_f32_to_bf16(2.0f), "2");
	cr_expect_str_eq(pl_trace_format(out, sizeof(out), &t, false), "true");
	t.data = &no;
	cr_expect_str_eq(pl_trace_format(out, sizeof(out), &t, false), "false");
}

static struct pl_tensor text_of(const char *bytes, int64_t n)
{
	return (struct pl_tensor){.data = (void *)(uintptr_t)bytes,
		.dtype = PL_U8,
		.rank = 1,
		.shape = {n},
		.stride = {1}};
}

Test(kit_trace, texts_stay_on_one_line)
{
	struct pl_tensor t = text_of("caf\xc3\xa9\n\xff", 7);
	char out[64];

	cr_expect_str_eq(pl_trace_format(out, sizeof(out), &t, true), "caf\xc3\xa9\\x0A\\xFF");
	t = text_of("a\0b\0", 4);
	cr_expect_str_eq(pl_trace_format(out, sizeof(out), &t, true), "a\\x00b\\x00");
	t = text_of("", 0);
	cr_expect_str_eq(pl_trace_format(out, sizeof(out), &t, true), "");
}

Test(kit_trace, long_texts_are_cut)
{
	char long_text[3000];
	char out[4096];
	struct pl_tensor t = text_of(long_text, sizeof(long_text));

	memset(long_text, 'x', sizeof(long_text));
	pl_trace_format(out, sizeof(out), &t, true);
	cr_expect_eq(strlen(out), 1027);
	cr_expect_str_eq(out + 1024, "...");
	pl_trace_format(out, 16, &t, true);
	cr_expect_lt(strlen(out), 16);
}

Test(kit_trace, other_values_show_their_type)
{
	struct pl_tensor t;
	const int64_t shape[] = {224, 224, 3};
	char out[64];

	cr_assert_eq(pl_tensor_init(&t, NULL, PL_U8, 3, shape), 0);
	cr_expect_str_eq(pl_trace_format(out, sizeof(out), &t, false), "u8 [224, 224, 3]");
	t = text_of("ab", 2);
	cr_expect_str_eq(pl_trace_format(out, sizeof(out), &t, false), "u8 [2]");
	cr_expect_eq(pl_trace_format(out, 0, &t, false), out);
}
