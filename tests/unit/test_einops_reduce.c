/* tests/unit/test_einops_reduce.c - types, NaN, zeros, halves, sizes around the blocks. */
#include "proto/einops/einops.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "proto/base.h"

static enum pl_dtype reduce(
	const char *pattern, const char *reduction, const struct pl_tensor *in, void *result)
{
	struct pl_einops_spec spec = {PL_EINOPS_REDUCE, pattern, strlen(pattern), reduction};
	struct pl_einops_args args = {.inputs = in, .n_inputs = 1};
	struct pl_einops_plan *plan = NULL;
	struct pl_einops_error e;
	struct pl_tensor out;

	cr_assert(pl_einops_cache_plan(NULL, &spec, &args, &plan, &e) == 0, "%s", e.text);
	out = *pl_einops_plan_result(plan, 0);
	out.data = result;
	cr_assert(pl_einops_run(plan, in, &out) == 0);
	pl_einops_plan_release(plan);
	return out.dtype;
}

static struct pl_tensor line(enum pl_dtype dtype, void *data, int64_t n)
{
	struct pl_tensor t;

	cr_assert(pl_tensor_init(&t, data, dtype, 1, &n) == 0);
	return t;
}

Test(einops_reduce, result_types)
{
	static const struct {
		enum pl_dtype in;
		const char *reduction;
		enum pl_dtype out;
	} rows[] = {
		{PL_BOOL, "min", PL_BOOL},
		{PL_BOOL, "sum", PL_I64},
		{PL_U8, "max", PL_U8},
		{PL_U8, "sum", PL_U64},
		{PL_U32, "prod", PL_U64},
		{PL_I16, "prod", PL_I64},
		{PL_I16, "any", PL_BOOL},
		{PL_F16, "sum", PL_F16},
		{PL_BF16, "mean", PL_BF16},
		{PL_F32, "mean", PL_F32},
		{PL_F64, "all", PL_BOOL},
	};
	char data[64] = {0};
	char result[64];

	for (size_t i = 0; i < PL_ARRAY_LEN(rows); i++) {
		struct pl_tensor t = line(rows[i].in, data, 2);

		cr_assert(
			reduce("a ->", rows[i].reduction, &t, result) == rows[i].out, "row %zu", i);
	}
}

Test(einops_reduce, nothing_reduced_keeps_type_and_values)
{
	uint8_t data[3] = {7, 0, 9};
	uint8_t result[3];
	struct pl_tensor t = line(PL_U8, data, 3);

	cr_assert(reduce("a ... -> a", "any", &t, result) == PL_U8);
	cr_assert(memcmp(data, result, 3) == 0);
	cr_assert(reduce("a -> a 1", "mean", &t, result) == PL_U8);
}

Test(einops_reduce, nan_wins_and_zero_is_positive)
{
	float data[40] = {0};
	float result;
	uint8_t truth;
	struct pl_tensor t = line(PL_F32, data, 40);

	data[17] = NAN;
	cr_assert(reduce("a ->", "max", &t, &result) == PL_F32 && isnan(result));
	cr_assert(reduce("a ->", "min", &t, &result) == PL_F32 && isnan(result));
	cr_assert(reduce("a ->", "any", &t, &truth) == PL_BOOL && truth == 1);
	for (int i = 0; i < 40; i++)
		data[i] = -0.0f;
	cr_assert(reduce("a ->", "any", &t, &truth) == PL_BOOL && truth == 0);
	cr_assert(reduce("a ->", "sum", &t, &result) == PL_F32 && !signbit(result));
	t = line(PL_F32, data, 1);
	cr_assert(reduce("a ->", "sum", &t, &result) == PL_F32 && !signbit(result));
}

Test(einops_reduce, of_nothing)
{
	struct pl_tensor t = line(PL_F32, NULL, 0);
	float result = 7;
	uint8_t truth = 7;

	reduce("a ->", "sum", &t, &result);
	cr_assert(result == 0.0f);
	reduce("a ->", "prod", &t, &result);
	cr_assert(result == 1.0f);
	reduce("a ->", "mean", &t, &result);
	cr_assert(isnan(result));
	reduce("a ->", "any", &t, &truth);
	cr_assert(truth == 0);
	reduce("a ->", "all", &t, &truth);
	cr_assert(truth == 1);
}

Test(einops_reduce, halves_are_summed_in_single_and_rounded_once)
{
	uint16_t data[101];
	uint16_t result;
	struct pl_tensor t = line(PL_F16, data, 101);

	data[0] = pl_f32_to_f16(2048);
	for (int i = 1; i < 101; i++)
		data[i] = pl_f32_to_f16(1);
	reduce("a ->", "sum", &t, &result);
	cr_assert(pl_f16_to_f32(result) == 2148.0f);
	data[0] = data[1] = pl_f32_to_f16(60000);
	t = line(PL_F16, data, 2);
	reduce("a ->", "mean", &t, &result);
	cr_assert(result == data[0]);
	data[0] = data[1] = pl_f32_to_bf16(3);
	t.dtype = PL_BF16;
	reduce("a ->", "prod", &t, &result);
	cr_assert(pl_bf16_to_f32(result) == 9.0f);
}

/* Every size around the borders of blocks, vectors and lines, against a plain loop. */
Test(einops_reduce, sizes_around_the_blocks)
{
	static uint8_t data[3 * 9000];
	static uint64_t sums[9000];
	static const int64_t sizes[] = {
		1, 2, 3, 15, 16, 17, 31, 33, 127, 1023, 1024, 1025, 2731, 8191, 8192, 8193, 9000};

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 37 % 251);
	for (size_t k = 0; k < PL_ARRAY_LEN(sizes); k++) {
		int64_t n = sizes[k];
		uint64_t total = 0;
		struct pl_tensor t;

		cr_assert(pl_tensor_init(&t, data, PL_U8, 2, (const int64_t[]){3, n}) == 0);
		reduce("a b -> b", "sum", &t, sums);
		for (int64_t i = 0; i < n; i++)
			cr_assert(sums[i] == (uint64_t)data[i] + data[n + i] + data[2 * n + i]);
		reduce("a b ->", "sum", &t, sums);
		for (int64_t i = 0; i < 3 * n; i++)
			total += data[i];
		cr_assert(sums[0] == total, "%lld", (long long)n);
		reduce("a b -> a", "max", &t, sums);
	}
}

static int max4(const uint8_t *x, int64_t row, int64_t wide)
{
	int a = x[0] > x[wide] ? x[0] : x[wide];
	int b = x[row] > x[row + wide] ? x[row] : x[row + wide];

	return a > b ? a : b;
}

/* The kernels that fold both directions at once: ends of rows, and blocks that end within the
 * image. */
Test(einops_reduce, pooling_by_two_of_every_width)
{
	static uint8_t data[60 * 300 * 3];
	static uint8_t result[30 * 150 * 3];
	static const char pattern[] = "(h 2) (w 2 c) -> h (w c)";

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 73 % 256);
	for (int64_t w = 1; w <= 150; w++) {
		for (int64_t c = 1; c <= 3; c += 2) {
			struct pl_einops_spec spec = {
				PL_EINOPS_REDUCE, pattern, strlen(pattern), "max"};
			struct pl_einops_axis axis = {"c", c};
			struct pl_tensor in;
			struct pl_tensor out;
			struct pl_einops_args args = {
				.inputs = &in, .n_inputs = 1, .axes = &axis, .n_axes = 1};

			cr_assert(pl_tensor_init(&in, data, PL_U8, 2,
					  (const int64_t[]){60, 2 * w * c}) == 0);
			cr_assert(pl_tensor_init(&out, result, PL_U8, 2,
					  (const int64_t[]){30, w * c}) == 0);
			cr_assert(pl_einops_call(NULL, &spec, &args, &out, NULL) == 0);
			for (int64_t i = 0; i < 30 * w * c; i++) {
				int64_t y = i / (w * c);
				int64_t x = i % (w * c);

				cr_assert(result[i] ==
					  max4(data + y * 4 * w * c + x / c * 2 * c + x % c,
						  2 * w * c, c));
			}
		}
	}
}
