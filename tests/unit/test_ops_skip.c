/* tests/unit/test_ops_skip.c - skip leaves out the first records, wherever it stands. */
#include "daemon/ops/table.h"

#include "param_at.h"

static struct pl_order order_of(uint64_t n_in, int64_t *params, int64_t count)
{
	struct pl_order o = {.n_in = n_in};

	PARAM(int64_t, pl_op_skip.params, params, "count") = count;
	cr_assert_eq(pl_op_skip.order(params, &o, NULL), 0);
	return o;
}

Test(ops_skip, leaves_out_the_first)
{
	int64_t params[4];
	struct pl_order o = order_of(10, params, 3);

	cr_expect_eq(o.n_out, 7);
	for (uint64_t i = 0; i < 7; i++)
		cr_expect_eq(pl_op_skip.at(params, &o, i), i + 3);
}

Test(ops_skip, as_many_as_there_are_leaves_none)
{
	int64_t params[4];

	cr_expect_eq(order_of(10, params, 10).n_out, 0);
	cr_expect_eq(order_of(10, params, 11).n_out, 0);
	cr_expect_eq(order_of(10, params, 0).n_out, 10);
}

/* op.h: in post-main sample i stays when i - at(0) < n_out. */
Test(ops_skip, without_a_known_count)
{
	int64_t params[4];
	struct pl_order o = order_of(UINT64_MAX, params, 3);

	for (uint64_t i = 0; i < 10; i++)
		cr_expect_eq(i - pl_op_skip.at(params, &o, 0) < o.n_out, i >= 3);
}
