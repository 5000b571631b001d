/* tests/unit/test_ops_cast.c - every pair of element types, and what happens at the limits. */
#include <math.h>

#include "daemon/ops/numbers.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_cast;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* Small whole numbers survive any way there and back. */
Test(ops_cast, every_pair_keeps_small_numbers)
{
	const int64_t given[] = {0, 1, 2, 3, 100, 127};
	enum { N = 6 };

	for (int from = PL_BOOL; from < PL_DTYPE_END; from++) {
		for (int to = PL_BOOL; to < PL_DTYPE_END; to++) {
			bool is_bool = from == PL_BOOL || to == PL_BOOL;
			unsigned char a[N * 8], b[N * 8];
			int64_t back[N];

			pl_numbers_convert(a, (enum pl_dtype)from, given, PL_I64, N);
			pl_numbers_convert(b, (enum pl_dtype)to, a, (enum pl_dtype)from, N);
			pl_numbers_convert(back, PL_I64, b, (enum pl_dtype)to, N);
			for (int i = 0; i < N; i++)
				cr_expect(back[i] == (is_bool ? given[i] != 0 : given[i]),
					"%s to %s: %d", pl_dtype_name((enum pl_dtype)from),
					pl_dtype_name((enum pl_dtype)to), (int)back[i]);
		}
	}
}

Test(ops_cast, integers_wrap)
{
	const int64_t wide[] = {256, -1, INT64_MAX, INT64_MIN};
	uint8_t u8[4];
	int16_t i16[4];
	uint64_t u64[4];
	float f32[4];

	pl_numbers_convert(u8, PL_U8, wide, PL_I64, 4);
	cr_expect(u8[0] == 0 && u8[1] == 255 && u8[2] == 255 && u8[3] == 0);
	pl_numbers_convert(i16, PL_I16, wide, PL_I64, 4);
	cr_expect(i16[0] == 256 && i16[1] == -1 && i16[2] == -1 && i16[3] == 0);
	pl_numbers_convert(u64, PL_U64, wide, PL_I64, 4);
	cr_expect(u64[1] == UINT64_MAX);
	pl_numbers_convert(f32, PL_F32, u64, PL_U64, 4);
	cr_expect(f32[1] == 18446744073709551616.0f, "u64 is not taken for negative");
}

Test(ops_cast, floats_are_cut_and_limited)
{
	const float f[] = {NAN, INFINITY, -INFINITY, 1.9f, -1.9f, 300, -300, 1e30f};
	uint8_t u8[8];
	int8_t i8[8];
	int64_t i64[8];
	uint64_t u64[8];
	bool b[8];

	pl_numbers_convert(u8, PL_U8, f, PL_F32, 8);
	cr_expect(memcmp(u8, "\0\xff\0\1\0\xff\0\xff", 8) == 0);
	pl_numbers_convert(i8, PL_I8, f, PL_F32, 8);
	cr_expect(i8[0] == 0 && i8[1] == 127 && i8[2] == -128 && i8[3] == 1 && i8[4] == -1);
	pl_numbers_convert(i64, PL_I64, f, PL_F32, 8);
	cr_expect(i64[0] == 0 && i64[1] == INT64_MAX && i64[2] == INT64_MIN && i64[7] == INT64_MAX);
	pl_numbers_convert(u64, PL_U64, f, PL_F32, 8);
	cr_expect(u64[0] == 0 && u64[1] == UINT64_MAX && u64[2] == 0 && u64[6] == 0);
	pl_numbers_convert(b, PL_BOOL, f, PL_F32, 8);
	cr_expect(b[0] && b[1] && b[3], "NaN is not zero");
}

Test(ops_cast, halves)
{
	const double d[] = {1.0 / 3, 65504, 1e6, -0.0};
	uint16_t f16[4], bf16[4];
	float back[4];

	pl_numbers_convert(f16, PL_F16, d, PL_F64, 4);
	pl_numbers_convert(back, PL_F32, f16, PL_F16, 4);
	cr_expect(fabsf(back[0] - 1.0f / 3) < 2e-4f && back[1] == 65504 && isinf(back[2]));
	cr_expect(signbit(back[3]));
	pl_numbers_convert(bf16, PL_BF16, d, PL_F64, 4);
	pl_numbers_convert(back, PL_F32, bf16, PL_BF16, 4);
	cr_expect(fabsf(back[0] - 1.0f / 3) < 2e-3f && fabsf(back[2] - 1e6f) < 4e3f);
}

Test(ops_cast, what_fits)
{
	cr_expect(pl_number_fits(PL_U8, 255) && !pl_number_fits(PL_U8, 256) &&
		  !pl_number_fits(PL_U8, 0.5));
	cr_expect(pl_number_fits(PL_I16, -7) && !pl_number_fits(PL_U16, -7));
	cr_expect(pl_number_fits(PL_F16, 0.3));
}

Test(ops_cast, the_step)
{
	int32_t values[1500];
	struct op_harness h;

	for (int i = 0; i < 1500; i++)
		values[i] = i - 700;
	op_begin(&h, &pl_op_cast);
	op_set(&h, "dtype", "f32");
	op_field(&h, "x", PL_KIND_TENSOR, PL_I32, 2, SHAPE(3, 500), values);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->dtype == PL_F32 && op_type(&h, 0)->kind == PL_KIND_TENSOR);
	for (int64_t i = 0; i < 1500; i++)
		cr_assert(op_at(&h, 0, SHAPE(i / 500, i % 500)) == values[i]);
	op_end(&h);
}

Test(ops_cast, to_its_own_type_copies_nothing)
{
	float values[4] = {1, 2, 3, 4};
	float row[4];
	struct op_harness h;

	op_begin(&h, &pl_op_cast);
	op_set(&h, "dtype", "f32");
	op_field(&h, "x", PL_KIND_TENSOR, PL_F32, 1, SHAPE(4), values);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->data == values);
	cr_assert(pl_tensor_init(&h.sample.row[0], row, PL_F32, 1, SHAPE(4)) == 0);
	h.writes_row[0] = true;
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->data == row && row[3] == 4);
	op_end(&h);
}

Test(ops_cast, text_is_refused)
{
	struct op_harness h;

	op_begin(&h, &pl_op_cast);
	op_set(&h, "dtype", "f32");
	op_field(&h, "caption", PL_KIND_TEXT, PL_U8, 1, SHAPE(0), NULL);
	op_expect_error(&h, op_load(&h), "only numbers can be cast");
	op_end(&h);
}
