/* tests/unit/test_einops_cache.c - a hit can't be told from a miss. */
#include "proto/einops/einops.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "proto/base.h"

static const char pattern[] = "(a b) -> b a";

static struct pl_einops_plan *ask(
	struct pl_einops_cache *cache, int64_t n, struct pl_einops_axis axis)
{
	struct pl_einops_spec spec = {PL_EINOPS_REARRANGE, pattern, strlen(pattern), NULL};
	struct pl_tensor in;
	struct pl_einops_args args = {.inputs = &in, .n_inputs = 1, .axes = &axis, .n_axes = 1};
	struct pl_einops_plan *plan = NULL;

	cr_assert(pl_tensor_init(&in, NULL, PL_U8, 1, &n) == 0);
	if (pl_einops_cache_plan(cache, &spec, &args, &plan, NULL))
		return NULL;
	return plan;
}

Test(einops_cache, the_same_question_gets_the_same_plan)
{
	struct pl_einops_cache *cache = pl_einops_cache_create(16);
	struct pl_einops_plan *a = ask(cache, 6, (struct pl_einops_axis){"a", 2});
	struct pl_einops_plan *b = ask(cache, 6, (struct pl_einops_axis){"a", 2});
	struct pl_einops_plan *c = ask(cache, 6, (struct pl_einops_axis){"b", 2});
	struct pl_einops_plan *d = ask(cache, 8, (struct pl_einops_axis){"a", 2});

	cr_assert(a && a == b && c && c != a && d && d != a);
	pl_einops_plan_release(a);
	pl_einops_plan_release(b);
	pl_einops_plan_release(c);
	pl_einops_plan_release(d);
	pl_einops_cache_destroy(cache);
	pl_einops_cache_destroy(NULL);
}

Test(einops_cache, an_error_is_not_kept_and_poisons_nothing)
{
	struct pl_einops_cache *cache = pl_einops_cache_create(1);

	for (int i = 0; i < 3; i++) {
		struct pl_einops_plan *plan;

		cr_assert(!ask(cache, 6, (struct pl_einops_axis){"a", 4}));
		plan = ask(cache, 6, (struct pl_einops_axis){"a", 3});
		cr_assert(plan);
		pl_einops_plan_release(plan);
	}
	pl_einops_cache_destroy(cache);
}

Test(einops_cache, is_bounded_and_plans_outlive_their_place)
{
	struct pl_einops_cache *cache = pl_einops_cache_create(4);
	struct pl_einops_plan *kept = ask(cache, 2, (struct pl_einops_axis){"a", 2});

	for (int64_t n = 2; n < 2000; n += 2) {
		struct pl_einops_plan *plan = ask(cache, n, (struct pl_einops_axis){"a", 2});

		cr_assert(plan && pl_einops_plan_result(plan, 0)->shape[0] == n / 2);
		pl_einops_plan_release(plan);
	}
	pl_einops_cache_destroy(cache);
	cr_assert(pl_einops_plan_result(kept, 0)->shape[0] == 1);
	pl_einops_plan_release(kept);
}

Test(einops_cache, questions_too_long_or_too_wrong_go_past_it)
{
	struct pl_einops_cache *cache = pl_einops_cache_create(16);
	static struct pl_tensor many[100];
	static const char list[] = "n a -> a n";
	struct pl_einops_spec spec = {PL_EINOPS_REARRANGE, list, strlen(list), NULL};
	struct pl_einops_args args = {.inputs = many, .n_inputs = 100, .is_list = true};
	struct pl_einops_plan *plan = NULL;
	struct pl_einops_error e;

	for (size_t i = 0; i < 100; i++)
		cr_assert(pl_tensor_init(&many[i], NULL, PL_U8, 1, (const int64_t[]){3}) == 0);
	cr_assert(pl_einops_cache_plan(cache, &spec, &args, &plan, &e) == 0);
	pl_einops_plan_release(plan);
	many[0].rank = 1 << 30;
	cr_assert(pl_einops_cache_plan(cache, &spec, &args, &plan, &e) == -EOVERFLOW);
	cr_assert(!ask(cache, 6, (struct pl_einops_axis){NULL, 2}));
	pl_einops_cache_destroy(cache);
}

Test(einops_cache, call_checks_the_output)
{
	struct pl_einops_spec spec = {PL_EINOPS_REARRANGE, "a b -> b a", 10, NULL};
	uint8_t x[6] = {1, 2, 3, 4, 5, 6};
	uint8_t y[6];
	struct pl_tensor in;
	struct pl_tensor out;
	struct pl_einops_args args = {.inputs = &in, .n_inputs = 1};
	struct pl_einops_error e;

	cr_assert(pl_tensor_init(&in, x, PL_U8, 2, (const int64_t[]){2, 3}) == 0);
	cr_assert(pl_tensor_init(&out, y, PL_U8, 2, (const int64_t[]){3, 2}) == 0);
	cr_assert(pl_einops_call(NULL, &spec, &args, &out, &e) == 0);
	cr_assert(memcmp(y, (const uint8_t[]){1, 4, 2, 5, 3, 6}, 6) == 0);
	out.shape[0] = 2;
	cr_assert(pl_einops_call(NULL, &spec, &args, &out, &e) == -EINVAL);
	cr_assert(e.code == PL_EINOPS_E_ARGUMENT);
}
