/* tests/unit/test_ops_delay.c - delay waits as long as it says. */
#include "daemon/ops/table.h"

#include <time.h>

#include "param_at.h"

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t wait_of(int64_t time, int64_t spread, uint64_t index)
{
	int64_t params[4] = {0};
	struct pl_draw_key key = {.seed = 1, .index = index};
	struct pl_run r = {.op = &pl_op_delay, .params = params};
	int64_t began = now_ns();

	PARAM(int64_t, pl_op_delay.params, params, "time") = time;
	PARAM(int64_t, pl_op_delay.params, params, "spread") = spread;
	pl_rng_init(&r.rng, &key, 5, 0);
	cr_expect_eq(pl_op_delay.run(&r), 0);
	return now_ns() - began;
}

Test(ops_delay, waits_at_least_its_time)
{
	cr_expect_geq(wait_of(3000000, 0, 0), 3000000);
	cr_expect_geq(wait_of(0, 0, 0), 0);
	cr_expect_geq(wait_of(1000000, 2000000, 1), 1000000);
}

Test(ops_delay, it_can_not_change_a_byte)
{
	for (const struct pl_param *p = pl_op_delay.params; p->key; p++)
		cr_expect(p->is_tuning, "%s", p->key);
	expect_text(pl_op_delay.help, "tests");
}
