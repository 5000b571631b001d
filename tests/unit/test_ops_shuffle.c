/* tests/unit/test_ops_shuffle.c - shuffles are bijections that keep blocks together. */
#include "daemon/ops/table.h"

#include "param_at.h"

struct shuffle {
	int64_t params[8];
	struct pl_order order;
};

static void begin(struct shuffle *s, uint64_t n, int64_t block, int64_t window, uint32_t epoch)
{
	memset(s, 0, sizeof(*s));
	cr_assert_leq(pl_op_shuffle.params_size, sizeof(s->params));
	PARAM(int64_t, pl_op_shuffle.params, s->params, "block") = block;
	PARAM(int64_t, pl_op_shuffle.params, s->params, "window") = window;
	s->order = (struct pl_order){.n_in = n, .seed = 7, .epoch = epoch, .place = 11};
	cr_assert_eq(pl_op_shuffle.order(s->params, &s->order, NULL), 0);
	cr_assert_eq(s->order.n_out, n);
}

static uint64_t at(const struct shuffle *s, uint64_t i)
{
	return pl_op_shuffle.at(s->params, &s->order, i);
}

static void expect_bijective(uint64_t n, int64_t block, int64_t window)
{
	PL_AUTO_FREE unsigned char *seen = calloc(n + 1, 1);
	struct shuffle s;

	begin(&s, n, block, window, 0);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t to = at(&s, i);

		cr_assert(to < n && !seen[to], "n %llu block %lld window %lld: %llu goes to %llu",
			(unsigned long long)n, (long long)block, (long long)window,
			(unsigned long long)i, (unsigned long long)to);
		seen[to] = 1;
	}
}

Test(ops_shuffle, every_form_is_a_bijection)
{
	for (uint64_t n = 0; n <= 70; n++)
		for (int64_t block = 1; block <= 12; block++)
			for (int64_t window = 1; window <= 7; window += 2)
				expect_bijective(n, block, window);
	expect_bijective(100003, 1, 16);
	expect_bijective(100003, 64, 16);
	expect_bijective(100003, 100003, 1);
	expect_bijective(100003, 1000000, 16);
}

Test(ops_shuffle, epochs_differ_and_repeat_exactly)
{
	struct shuffle a, b, again;
	int n_same = 0;

	begin(&a, 1000, 8, 4, 0);
	begin(&b, 1000, 8, 4, 1);
	begin(&again, 1000, 8, 4, 0);
	for (uint64_t i = 0; i < 1000; i++) {
		n_same += at(&a, i) == at(&b, i);
		cr_assert_eq(at(&a, i), at(&again, i));
	}
	cr_expect_lt(n_same, 20);
}

/* A window of w blocks is read before the next one begins. */
Test(ops_shuffle, a_window_takes_whole_blocks)
{
	enum { N = 1000, BLOCK = 10, WINDOW = 5 };
	struct shuffle s;

	begin(&s, N, BLOCK, WINDOW, 3);
	for (uint64_t w = 0; w < N / BLOCK / WINDOW; w++) {
		bool is_in[N / BLOCK] = {false};
		int n_blocks = 0;
		int n_followed = 0;

		for (uint64_t i = 0; i < BLOCK * WINDOW; i++) {
			uint64_t record = at(&s, w * BLOCK * WINDOW + i);

			n_blocks += !is_in[record / BLOCK];
			is_in[record / BLOCK] = true;
			n_followed += i > 0 &&
				      at(&s, w * BLOCK * WINDOW + i - 1) / BLOCK == record / BLOCK;
		}
		cr_expect_eq(n_blocks, WINDOW);
		cr_expect_lt(n_followed, 25, "blocks are mixed inside the window");
	}
}

Test(ops_shuffle, windows_are_mixed_differently)
{
	struct shuffle s;
	int n_same = 0;

	begin(&s, 4000, 100, 1, 0);
	for (uint64_t i = 0; i < 100; i++)
		n_same += at(&s, i) % 100 == at(&s, i + 100) % 100;
	cr_expect_lt(n_same, 15);
}

Test(ops_shuffle, it_never_runs_in_workers)
{
	cr_expect_eq(pl_op_shuffle.stages, PL_STAGE_PRE);
	expect_text(pl_op_shuffle.whole_reason, "whole stream");
}
