/* tests/unit/test_einops_einsum.c - errors of operands and lengths, long lines. */
#include "proto/einops/einops.h"

#include <criterion/criterion.h>
#include <string.h>

#include "proto/base.h"

static enum pl_einops_code einsum(
	const char *pattern, const struct pl_tensor *in, size_t n, void *result, size_t *column)
{
	struct pl_einops_spec spec = {PL_EINOPS_EINSUM, pattern, strlen(pattern), NULL};
	struct pl_einops_args args = {.inputs = in, .n_inputs = n};
	struct pl_einops_plan *plan = NULL;
	struct pl_einops_error e = {.code = PL_EINOPS_OK};
	struct pl_tensor out;

	if (pl_einops_cache_plan(NULL, &spec, &args, &plan, &e)) {
		*column = e.column;
		return e.code;
	}
	out = *pl_einops_plan_result(plan, 0);
	out.data = result;
	cr_assert(!result || pl_einops_run(plan, in, &out) == 0);
	pl_einops_plan_release(plan);
	return PL_EINOPS_OK;
}

static struct pl_tensor tensor(void *data, enum pl_dtype dtype, int rank, const int64_t *shape)
{
	struct pl_tensor t;

	cr_assert(pl_tensor_init(&t, data, dtype, rank, shape) == 0);
	return t;
}

Test(einops_einsum, errors)
{
	struct pl_tensor in[] = {tensor(NULL, PL_F32, 2, (const int64_t[]){2, 3}),
		tensor(NULL, PL_F32, 2, (const int64_t[]){4, 5}),
		tensor(NULL, PL_I32, 2, (const int64_t[]){3, 5})};
	size_t column;

	cr_assert(einsum("i j, k l -> i", in, 1, NULL, &column) == PL_EINOPS_E_EINSUM_OPERANDS);
	cr_assert(column == 0);
	cr_assert(einsum("i j -> i", in, 2, NULL, &column) == PL_EINOPS_E_EINSUM_OPERANDS);
	cr_assert(einsum("i j, j k -> i", in, 2, NULL, &column) == PL_EINOPS_E_MISMATCH);
	cr_assert(column == 5);
	cr_assert(einsum("i i -> i", in, 1, NULL, &column) == PL_EINOPS_E_MISMATCH && column == 2);
	cr_assert(einsum("i ..., k ... -> ...", in, 2, NULL, &column) == PL_EINOPS_E_MISMATCH);
	cr_assert(column == 9);
	cr_assert(einsum("... j -> j", in, 1, NULL, &column) == PL_EINOPS_E_EINSUM_OUT);
	cr_assert(column == 8);
	cr_assert(einsum("i j -> i ...", in, 1, NULL, &column) == PL_EINOPS_E_EINSUM_OUT);
	cr_assert(column == 9);
	cr_assert(einsum("_ _ -> _ _", in, 1, NULL, &column) == PL_EINOPS_E_EINSUM_OUT &&
		  column == 9);
	in[1] = in[2];
	cr_assert(einsum("i j, j k -> i k", in, 2, NULL, &column) == PL_EINOPS_E_DTYPE);
}

Test(einops_einsum, lines_longer_than_one_strip)
{
	static float x[3 * 1000];
	static float y[1000];
	float sums[3] = {0};
	float total = 0;
	struct pl_tensor in[] = {tensor(x, PL_F32, 2, (const int64_t[]){3, 1000}),
		tensor(y, PL_F32, 1, (const int64_t[]){1000})};
	size_t column;

	for (int i = 0; i < 3000; i++)
		x[i] = (float)(i % 7);
	for (int i = 0; i < 1000; i++)
		y[i] = (float)(i % 5);
	cr_assert(einsum("i j, j -> i", in, 2, sums, &column) == PL_EINOPS_OK);
	for (int i = 0; i < 3; i++) {
		float wanted = 0;

		for (int j = 0; j < 1000; j++)
			wanted += x[i * 1000 + j] * y[j];
		cr_assert(sums[i] == wanted);
		total += wanted;
	}
	cr_assert(einsum("i j, j ->", in, 2, sums, &column) == PL_EINOPS_OK && sums[0] == total);
}

Test(einops_einsum, sum_over_nothing_is_zero)
{
	int32_t result[2] = {7, 7};
	struct pl_tensor in = tensor(NULL, PL_I32, 2, (const int64_t[]){2, 0});
	size_t column;

	cr_assert(einsum("i j -> i", &in, 1, result, &column) == PL_EINOPS_OK);
	cr_assert(result[0] == 0 && result[1] == 0);
}

Test(einops_einsum, integers_wrap_in_their_own_type_and_bools_are_or_of_and)
{
	uint8_t x[3] = {200, 100, 50};
	uint8_t result;
	struct pl_tensor in = tensor(x, PL_U8, 1, (const int64_t[]){3});
	size_t column;

	cr_assert(einsum("i ->", &in, 1, &result, &column) == PL_EINOPS_OK && result == 94);
	in.dtype = PL_BOOL;
	cr_assert(einsum("i ->", &in, 1, &result, &column) == PL_EINOPS_OK && result == 1);
}
