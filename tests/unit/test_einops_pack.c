/* tests/unit/test_einops_pack.c - pack and unpack: errors, the length left open, empty pieces. */
#include "proto/einops/einops.h"

#include <criterion/criterion.h>
#include <string.h>

#include "proto/base.h"

static struct pl_tensor tensor(void *data, int rank, const int64_t *shape)
{
	struct pl_tensor t;

	cr_assert(pl_tensor_init(&t, data, PL_U8, rank, shape) == 0);
	return t;
}

static enum pl_einops_code plan(enum pl_einops_op op, const char *pattern,
	const struct pl_einops_args *args, struct pl_einops_plan **out)
{
	struct pl_einops_spec spec = {op, pattern, strlen(pattern), NULL};
	struct pl_einops_plan *made = NULL;
	struct pl_einops_error e = {.code = PL_EINOPS_OK};

	if (pl_einops_cache_plan(NULL, &spec, args, &made, &e) == 0 && out)
		*out = made;
	else
		pl_einops_plan_release(made);
	return e.code;
}

static enum pl_einops_code pack2(
	const char *pattern, const struct pl_tensor *a, const struct pl_tensor *b)
{
	struct pl_tensor both[] = {*a, *b};

	return plan(PL_EINOPS_PACK, pattern,
		&(struct pl_einops_args){.inputs = both, .n_inputs = 2}, NULL);
}

Test(einops_pack, errors)
{
	struct pl_tensor a = tensor(NULL, 2, (const int64_t[]){2, 3});
	struct pl_tensor b = tensor(NULL, 2, (const int64_t[]){4, 3});
	struct pl_tensor c = tensor(NULL, 1, (const int64_t[]){2});
	struct pl_einops_args none = {.inputs = &a, .n_inputs = 0};

	cr_assert(pack2("* c", &a, &b) == PL_EINOPS_OK);
	cr_assert(pack2("a *", &a, &b) == PL_EINOPS_E_CONCAT);
	cr_assert(pack2("* c", &a, &c) == PL_EINOPS_E_CONCAT);
	cr_assert(pack2("a * c", &a, &c) == PL_EINOPS_E_RANK);
	cr_assert(plan(PL_EINOPS_PACK, "*", &none, NULL) == PL_EINOPS_E_EMPTY_LIST);
	cr_assert(plan(PL_EINOPS_PACK, "a", &none, NULL) == PL_EINOPS_E_PACK_STAR);
	b.dtype = PL_I8;
	cr_assert(pack2("* c", &a, &b) == PL_EINOPS_E_DTYPE);
}

Test(einops_pack, joins_and_tells_the_shapes)
{
	uint8_t x[6] = {1, 2, 3, 4, 5, 6};
	uint8_t y[2] = {7, 8};
	uint8_t result[8];
	struct pl_tensor in[] = {
		tensor(x, 2, (const int64_t[]){2, 3}), tensor(y, 1, (const int64_t[]){2})};
	struct pl_einops_plan *p = NULL;
	struct pl_einops_shape s;
	struct pl_tensor out;

	cr_assert(plan(PL_EINOPS_PACK, "a *", &(struct pl_einops_args){.inputs = in, .n_inputs = 2},
			  &p) == PL_EINOPS_OK);
	out = *pl_einops_plan_result(p, 0);
	out.data = result;
	cr_assert(out.rank == 2 && out.shape[0] == 2 && out.shape[1] == 4);
	cr_assert(pl_einops_run(p, in, &out) == 0);
	cr_assert(memcmp(result, (const uint8_t[]){1, 2, 3, 7, 4, 5, 6, 8}, 8) == 0);
	cr_assert(pl_einops_plan_packed(p, 0, &s) && s.rank == 1 && s.length[0] == 3);
	cr_assert(pl_einops_plan_packed(p, 1, &s) && s.rank == 0);
	cr_assert(!pl_einops_plan_packed(p, 2, &s));
	pl_einops_plan_release(p);
}

Test(einops_pack, a_named_axis_may_be_empty)
{
	struct pl_tensor a = tensor(NULL, 2, (const int64_t[]){0, 3});

	cr_assert(pack2("a *", &a, &a) == PL_EINOPS_OK);
	cr_assert(pack2("* c", &a, &a) == PL_EINOPS_OK);
}

static enum pl_einops_code unpack(const struct pl_tensor *t, const char *pattern,
	const struct pl_einops_shape *shapes, size_t n)
{
	struct pl_einops_args args = {.inputs = t, .n_inputs = 1, .packed = shapes, .n_packed = n};

	return plan(PL_EINOPS_UNPACK, pattern, &args, NULL);
}

#define SHAPES(...)                                                                                \
	(const struct pl_einops_shape[]){__VA_ARGS__},                                             \
		PL_ARRAY_LEN(((const struct pl_einops_shape[]){__VA_ARGS__}))
#define L(rank, ...)                                                                               \
	{                                                                                          \
		rank,                                                                              \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

Test(einops_pack, unpack_errors)
{
	struct pl_tensor t = tensor(NULL, 1, (const int64_t[]){5});
	struct pl_tensor e = tensor(NULL, 2, (const int64_t[]){0, 5});

	cr_assert(unpack(&t, "a *", SHAPES(L(1, 5))) == PL_EINOPS_E_RANK);
	cr_assert(unpack(&t, "*", SHAPES(L(1, -1), L(1, -1))) == PL_EINOPS_E_UNPACK_MULTI);
	cr_assert(unpack(&t, "*", SHAPES(L(2, -1, -1))) == PL_EINOPS_E_UNPACK_SPLIT);
	cr_assert(unpack(&t, "*", SHAPES(L(1, 2), L(1, 1), L(1, 1))) == PL_EINOPS_E_UNPACK_SPLIT);
	cr_assert(unpack(&t, "*", SHAPES(L(1, 6), L(1, -1))) == PL_EINOPS_E_UNPACK_SPLIT);
	cr_assert(unpack(&t, "*", SHAPES(L(2, 0, -1))) == PL_EINOPS_E_UNPACK_SPLIT);
	cr_assert(unpack(&t, "*", SHAPES(L(2, 3, -1), L(2, 2, 1), L(1, 1))) ==
		  PL_EINOPS_E_UNPACK_SPLIT);
	cr_assert(unpack(&t, "*", SHAPES(L(2, INT64_MAX, INT64_MAX))) == PL_EINOPS_E_UNPACK_SPLIT);
	cr_assert(unpack(&t, "*", SHAPES(L(17, 1))) == PL_EINOPS_E_LIMIT);
	cr_assert(unpack(&e, "a *", SHAPES(L(1, 7))) == PL_EINOPS_E_UNPACK_SPLIT);
}

Test(einops_pack, unpack_fits)
{
	struct pl_tensor t = tensor(NULL, 1, (const int64_t[]){5});
	struct pl_tensor e = tensor(NULL, 2, (const int64_t[]){0, 5});

	cr_assert(unpack(&t, "*", SHAPES(L(1, 2), L(1, 3), L(1, -1))) == PL_EINOPS_OK);
	cr_assert(unpack(&t, "*", SHAPES(L(1, -1), L(1, 5))) == PL_EINOPS_OK);
	cr_assert(unpack(&t, "*", SHAPES(L(0, 0), L(0, 0), L(0, 0), L(0, 0), L(0, 0))) ==
		  PL_EINOPS_OK);
	cr_assert(unpack(&e, "a *", SHAPES(L(1, 2), L(1, -1))) == PL_EINOPS_OK);
}

Test(einops_pack, pieces_are_views_with_an_offset)
{
	uint8_t x[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct pl_tensor t = tensor(x, 2, (const int64_t[]){2, 5});
	struct pl_einops_args args = {.inputs = &t, .n_inputs = 1};
	struct pl_einops_shape shapes[] = {L(0, 0), L(2, 2, -1)};
	struct pl_einops_plan *p = NULL;
	struct pl_tensor view;

	args.packed = shapes;
	args.n_packed = 2;
	cr_assert(plan(PL_EINOPS_UNPACK, "a *", &args, &p) == PL_EINOPS_OK);
	cr_assert(pl_einops_plan_n_results(p) == 2);
	cr_assert(pl_einops_plan_view(p, 1, &t, &view));
	cr_assert(
		view.data == x + 1 && view.rank == 3 && view.shape[2] == 2 && view.stride[0] == 5);
	pl_einops_plan_release(p);
}
