/* tests/unit/test_einops_shape.c - lengths against tensors, each fault with its column. */
#include "tests/unit/test_einops_table.h"

#define REARRANGE PL_EINOPS_REARRANGE
#define REDUCE    PL_EINOPS_REDUCE
#define REPEAT    PL_EINOPS_REPEAT

Test(einops_shape, rank)
{
	static const struct wrong table[] = {
		{REARRANGE, "a -> a", PL_EINOPS_E_RANK, 0, 2, NULL, 2, {2, 3}, {{0}}, 0},
		{REARRANGE, "a b c ... -> a b c ...", PL_EINOPS_E_RANK, 0, 10, NULL, 2, {2, 3},
			{{0}}, 0},
		{REARRANGE, "1 a -> a", PL_EINOPS_E_RANK, 0, 4, NULL, 1, {2}, {{0}}, 0},
		{PL_EINOPS_PARSE_SHAPE, "a b", PL_EINOPS_E_RANK, 0, 3, NULL, 1, {2}, {{0}}, 0},
		{PL_EINOPS_EINSUM, "a b -> a", PL_EINOPS_E_RANK, 0, 4, NULL, 1, {2}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_shape, given_lengths)
{
	static const struct wrong table[] = {
		{REARRANGE, "a b -> b a", PL_EINOPS_E_AXIS_NAME, 0, 10, NULL, 2, {2, 3},
			{{"_a", 2}}, 0},
		{REARRANGE, "a b -> b a", PL_EINOPS_E_AXIS_NAME, 0, 10, NULL, 2, {2, 3}, {{"", 2}},
			0},
		{REARRANGE, "a b -> b a", PL_EINOPS_E_AXIS_NAME, 0, 10, NULL, 2, {2, 3},
			{{"...", 2}}, 0},
		{REARRANGE, "a b -> b a", PL_EINOPS_E_AXIS_NAME, 0, 1, NULL, 2, {2, 3},
			{{"a", 2}, {"a", 2}}, 0},
		{REARRANGE, "a b -> b a", PL_EINOPS_E_AXIS_UNUSED, 0, 10, NULL, 2, {2, 3},
			{{"c", 3}}, 0},
		{REPEAT, "a -> a bb", PL_EINOPS_E_REPEAT_SIZE, 7, 2, NULL, 1, {2}, {{0}}, 0},
		{REPEAT, "a -> a bb", PL_EINOPS_E_REPEAT_SIZE, 7, 2, NULL, 3, {2, 2, 2}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_shape, lengths)
{
	static const struct wrong table[] = {
		{REARRANGE, "x (a b) -> x a b", PL_EINOPS_E_UNDERDETERMINED, 2, 5, NULL, 2, {1, 6},
			{{0}}, 0},
		{REARRANGE, "(a b) -> a b", PL_EINOPS_E_MISMATCH, 0, 5, NULL, 1, {6},
			{{"a", 2}, {"b", 4}}, 0},
		{REARRANGE, "a b -> b a", PL_EINOPS_E_MISMATCH, 2, 1, NULL, 2, {2, 3}, {{"b", 2}},
			0},
		{REARRANGE, "1 a -> a", PL_EINOPS_E_MISMATCH, 0, 1, NULL, 2, {3, 2}, {{0}}, 0},
		{REARRANGE, "a () -> a", PL_EINOPS_E_MISMATCH, 2, 2, NULL, 2, {3, 2}, {{0}}, 0},
		{REDUCE, "5 ->", PL_EINOPS_E_MISMATCH, 0, 1, "sum", 1, {6}, {{0}}, 0},
		{PL_EINOPS_PARSE_SHAPE, "a 3", PL_EINOPS_E_MISMATCH, 2, 1, NULL, 2, {3, 2}, {{0}},
			0},
		{REARRANGE, "(a b) -> a b", PL_EINOPS_E_DIVIDE, 0, 5, NULL, 1, {6}, {{"a", 4}}, 0},
		{REDUCE, "(a 4) -> a", PL_EINOPS_E_DIVIDE, 0, 5, "sum", 1, {6}, {{0}}, 0},
		{REARRANGE, "(a b) -> a b", PL_EINOPS_E_ZERO_DIVISOR, 0, 5, NULL, 1, {0},
			{{"a", 0}}, 0},
		{REARRANGE, "(a b) -> a b", PL_EINOPS_E_NEGATIVE, 1, 1, NULL, 1, {6}, {{"a", -2}},
			0},
		{REPEAT, "a -> a b", PL_EINOPS_E_NEGATIVE, 7, 1, NULL, 1, {6}, {{"b", -1}}, 0},
		{REPEAT, "a -> a b", PL_EINOPS_E_NEGATIVE, 7, 1, NULL, 1, {6}, {{"b", INT64_MIN}},
			0},
	};

	CHECK_WRONG(table);
}

Test(einops_shape, reductions)
{
	static const struct wrong table[] = {
		{REDUCE, "a b -> a", PL_EINOPS_E_MEAN_DTYPE, 0, 8, "mean", 2, {2, 3}, {{0}},
			PL_I32},
		{REDUCE, "a b -> b", PL_EINOPS_E_EMPTY_REDUCE, 0, 1, "max", 2, {0, 3}, {{0}}, 0},
		{REDUCE, "a b -> a", PL_EINOPS_E_EMPTY_REDUCE, 2, 1, "min", 2, {0, 0}, {{0}}, 0},
		{REDUCE, "... a -> a", PL_EINOPS_E_EMPTY_REDUCE, 0, 3, "min", 2, {0, 5}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

Test(einops_shape, too_large_is_an_error_and_not_a_crash)
{
	static const struct wrong table[] = {
		{REPEAT, "a -> a b c", PL_EINOPS_E_TOO_LARGE, 9, 1, NULL, 1, {2},
			{{"b", 1 << 20}, {"c", INT64_C(1) << 46}}, 0},
		{REPEAT, "a -> a b", PL_EINOPS_E_TOO_LARGE, 7, 1, NULL, 1, {2},
			{{"b", INT64_C(1) << 62}}, 0},
		{REPEAT, "a -> a b c", PL_EINOPS_E_TOO_LARGE, 9, 1, NULL, 1, {0},
			{{"b", INT64_C(1) << 40}, {"c", INT64_C(1) << 40}}, 0},
		{REPEAT, "a -> a 99999999999999999999999", PL_EINOPS_E_TOO_LARGE, 7, 23, NULL, 1,
			{2}, {{0}}, 0},
		{REARRANGE, "(a b) -> a b", PL_EINOPS_E_MISMATCH, 0, 5, NULL, 1, {6},
			{{"a", INT64_C(1) << 62}, {"b", 4}}, 0},
		{REARRANGE, "a -> a 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", PL_EINOPS_E_LIMIT, 4, 34,
			NULL, 1, {2}, {{0}}, 0},
	};

	CHECK_WRONG(table);
}

static int infer(const char *pattern, const struct pl_tensor *in, struct pl_tensor *out,
	const struct pl_einops_axis *axis)
{
	struct pl_einops_spec spec = {REARRANGE, pattern, strlen(pattern), NULL};
	struct pl_einops_args args = {
		.inputs = in, .n_inputs = 1, .axes = axis, .n_axes = axis != NULL};
	struct pl_einops_pattern *p = NULL;
	struct pl_einops_error e;
	int r = pl_einops_parse(&spec, &p, &e);

	cr_assert(r == 0, "%s", e.text);
	r = pl_einops_infer(p, &args, out, &e);
	pl_einops_pattern_destroy(p);
	return r ? (int)e.code : 0;
}

Test(einops_shape, infer_keeps_the_unknown_unknown)
{
	struct pl_tensor in = {.dtype = PL_U8, .rank = 3, .shape = {-1, 224, 3}};
	struct pl_einops_axis p = {"p", 16};
	struct pl_tensor out;

	cr_assert(infer("h w c -> c h w", &in, &out, NULL) == 0);
	cr_assert(out.rank == 3 && out.dtype == PL_U8 && out.shape[0] == 3 && out.shape[1] == -1 &&
		  out.shape[2] == 224);
	cr_assert(infer("(h p) w c -> h (p w) c", &in, &out, &p) == 0);
	cr_assert(out.shape[0] == -1 && out.shape[1] == 16 * 224 && out.shape[2] == 3);
	in.dtype = (enum pl_dtype)0;
	cr_assert(infer("h w c -> c h w", &in, &out, NULL) == 0 && out.dtype == 0);
}

Test(einops_shape, infer_fails_where_the_known_part_cannot_fit)
{
	struct pl_tensor in = {.dtype = PL_U8, .rank = 3, .shape = {-1, 225, 3}};
	struct pl_einops_axis p = {"p", 16};
	struct pl_tensor out;

	cr_assert(infer("h w -> w h", &in, &out, NULL) == PL_EINOPS_E_RANK);
	cr_assert(infer("h (w p) c -> h w (p c)", &in, &out, &p) == PL_EINOPS_E_DIVIDE);
	cr_assert(infer("h 1 c -> h c", &in, &out, NULL) == PL_EINOPS_E_MISMATCH);
	in.shape[0] = -2;
	cr_assert(infer("h w c -> w h c", &in, &out, NULL) == PL_EINOPS_E_ARGUMENT);
}

static enum pl_einops_code plan_list(const struct pl_tensor *inputs, size_t n)
{
	static const char pattern[] = "n a -> a n";
	struct pl_einops_spec spec = {REARRANGE, pattern, strlen(pattern), NULL};
	struct pl_einops_args args = {.inputs = inputs, .n_inputs = n, .is_list = true};
	struct pl_einops_plan *plan = NULL;
	struct pl_einops_error e = {.code = PL_EINOPS_OK};

	if (pl_einops_cache_plan(NULL, &spec, &args, &plan, &e) == 0)
		pl_einops_plan_release(plan);
	return e.code;
}

Test(einops_shape, lists)
{
	struct pl_tensor in[2];

	cr_assert(pl_tensor_init(&in[0], NULL, PL_U8, 1, (const int64_t[]){3}) == 0);
	in[1] = in[0];
	cr_assert(plan_list(in, 2) == PL_EINOPS_OK);
	cr_assert(plan_list(in, 0) == PL_EINOPS_E_EMPTY_LIST);
	in[1].shape[0] = 4;
	cr_assert(plan_list(in, 2) == PL_EINOPS_E_STACK);
	in[1].shape[0] = 3;
	in[1].dtype = PL_I8;
	cr_assert(plan_list(in, 2) == PL_EINOPS_E_DTYPE);
	in[1].dtype = (enum pl_dtype)77;
	cr_assert(plan_list(in, 2) == PL_EINOPS_E_DTYPE);
	in[1] = in[0];
	in[1].stride[0] = INT64_MAX / 2;
	cr_assert(plan_list(in, 2) == PL_EINOPS_E_TOO_LARGE);
}
