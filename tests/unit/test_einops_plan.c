/* tests/unit/test_einops_plan.c - views, references, and what run refuses. */
#include "proto/einops/einops.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "proto/base.h"

struct question {
	enum pl_einops_op op;
	const char *pattern;
	const char *reduction;
	struct pl_einops_axis axis;
};

static struct pl_einops_plan *plan(const struct question *q, const struct pl_tensor *in)
{
	struct pl_einops_spec spec = {q->op, q->pattern, strlen(q->pattern), q->reduction};
	struct pl_einops_args args = {
		.inputs = in, .n_inputs = 1, .axes = &q->axis, .n_axes = q->axis.name != NULL};
	struct pl_einops_plan *plan = NULL;
	struct pl_einops_error e;

	cr_assert(pl_einops_cache_plan(NULL, &spec, &args, &plan, &e) == 0, "%s", e.text);
	return plan;
}

static bool is_view(enum pl_einops_op op, const char *pattern, const struct pl_tensor *in,
	struct pl_tensor *view)
{
	struct question q = {op, pattern, "max", {NULL, 0}};
	struct pl_einops_plan *p = plan(&q, in);
	bool is = pl_einops_plan_view(p, 0, in, view);

	pl_einops_plan_release(p);
	return is;
}

static struct pl_tensor tensor(void *data, int rank, const int64_t *shape)
{
	struct pl_tensor t;

	cr_assert(pl_tensor_init(&t, data, PL_F32, rank, shape) == 0);
	return t;
}

Test(einops_plan, views_are_where_no_data_must_move)
{
	float data[24];
	struct pl_tensor in = tensor(data, 3, (const int64_t[]){2, 3, 4});
	struct pl_tensor view;

	cr_assert(is_view(PL_EINOPS_REARRANGE, "a b c -> c a b", &in, &view));
	cr_assert(view.data == data && view.stride[0] == 4 && view.stride[1] == 48 &&
		  view.stride[2] == 16);
	cr_assert(is_view(PL_EINOPS_REARRANGE, "a b c -> (a b) 1 c", &in, &view));
	cr_assert(view.rank == 3 && view.shape[0] == 6 && view.stride[0] == 16);
	cr_assert(is_view(PL_EINOPS_REPEAT, "a b c -> b a c 1", &in, NULL));
	cr_assert(is_view(PL_EINOPS_REDUCE, "a b c -> b a c", &in, NULL));
	cr_assert(!is_view(PL_EINOPS_REARRANGE, "a b c -> (b a) c", &in, NULL));
	cr_assert(!is_view(PL_EINOPS_REPEAT, "a b c -> a b c 2", &in, NULL));
	cr_assert(!is_view(PL_EINOPS_REDUCE, "a b c -> a b", &in, NULL));
	in.stride[1] = -16;
	cr_assert(!is_view(PL_EINOPS_REARRANGE, "a b c -> a (b c)", &in, NULL));
	cr_assert(is_view(PL_EINOPS_REARRANGE, "a b c -> c b a", &in, &view));
	cr_assert(view.stride[1] == -16);
}

Test(einops_plan, split_of_a_dimension_is_a_view)
{
	float data[24];
	struct pl_tensor in = tensor(data, 1, (const int64_t[]){24});
	struct question q = {PL_EINOPS_REARRANGE, "(a b) -> b a", NULL, {"b", 4}};
	struct pl_einops_plan *p = plan(&q, &in);
	struct pl_tensor view;

	cr_assert(pl_einops_plan_view(p, 0, &in, &view));
	cr_assert(view.shape[0] == 4 && view.stride[0] == 4 && view.stride[1] == 16);
	cr_assert(!pl_einops_plan_view(p, 1, &in, &view));
	cr_assert(pl_einops_plan_result(p, 1) == NULL && pl_einops_plan_n_results(p) == 1);
	pl_einops_plan_release(p);
}

Test(einops_plan, run_refuses_what_was_not_planned)
{
	float data[24] = {0};
	float result[24];
	struct pl_tensor in = tensor(data, 2, (const int64_t[]){4, 6});
	struct question q = {PL_EINOPS_REARRANGE, "a b -> b a", NULL, {NULL, 0}};
	struct pl_einops_plan *p = plan(&q, &in);
	struct pl_tensor out = tensor(result, 2, (const int64_t[]){6, 4});
	struct pl_tensor other = in;

	cr_assert(pl_einops_run(p, &in, &out) == 0);
	other.stride[0] = 4;
	cr_assert(pl_einops_run(p, &other, &out) == -EINVAL);
	other = in;
	other.dtype = PL_U32;
	cr_assert(pl_einops_run(p, &other, &out) == -EINVAL);
	other = in;
	other.data = NULL;
	cr_assert(pl_einops_run(p, &other, &out) == -EINVAL);
	other = out;
	other.shape[0] = 4;
	other.shape[1] = 6;
	cr_assert(pl_einops_run(p, &in, &other) == -EINVAL);
	other = out;
	other.stride[0] = 4;
	cr_assert(pl_einops_run(p, &in, &other) == -EINVAL);
	pl_einops_plan_release(p);
}

Test(einops_plan, strides_of_single_elements_do_not_matter)
{
	float data[6] = {0, 1, 2, 3, 4, 5};
	float result[6];
	struct pl_tensor in = tensor(data, 3, (const int64_t[]){1, 6, 1});
	struct pl_tensor out = tensor(result, 1, (const int64_t[]){6});
	struct question q = {PL_EINOPS_REARRANGE, "a b c -> (c b a)", NULL, {NULL, 0}};
	struct pl_einops_plan *p = plan(&q, &in);

	in.stride[0] = INT64_MIN;
	in.stride[2] = 12345;
	cr_assert(pl_einops_run(p, &in, &out) == 0);
	cr_assert(memcmp(data, result, sizeof(data)) == 0);
	pl_einops_plan_release(p);
	p = plan(&q, &in);
	cr_assert(pl_einops_run(p, &in, &out) == 0);
	pl_einops_plan_release(p);
}

Test(einops_plan, outlives_its_pattern_and_all_but_the_last_reference)
{
	float data[4] = {1, 2, 3, 4};
	float result[4];
	struct pl_tensor in = tensor(data, 2, (const int64_t[]){2, 2});
	struct pl_tensor out = tensor(result, 2, (const int64_t[]){2, 2});
	struct question q = {PL_EINOPS_REARRANGE, "a b -> b a", NULL, {NULL, 0}};
	struct pl_einops_plan *p = plan(&q, &in);

	cr_assert(pl_einops_plan_acquire(p) == p);
	pl_einops_plan_release(p);
	cr_assert(pl_einops_run(p, &in, &out) == 0 && result[1] == 3);
	pl_einops_plan_release(p);
	pl_einops_plan_release(NULL);
}

Test(einops_plan, a_plan_that_is_a_view_can_be_run)
{
	float data[4] = {1, 2, 3, 4};
	float result[4] = {0};
	struct pl_tensor in = tensor(data, 2, (const int64_t[]){2, 2});
	struct pl_tensor out = tensor(result, 1, (const int64_t[]){4});
	struct question q = {PL_EINOPS_REARRANGE, "a b -> (a b)", NULL, {NULL, 0}};
	struct pl_einops_plan *p = plan(&q, &in);

	cr_assert(pl_einops_plan_view(p, 0, &in, NULL));
	cr_assert(pl_einops_run(p, &in, &out) == 0);
	cr_assert(memcmp(data, result, sizeof(data)) == 0);
	pl_einops_plan_release(p);
}
