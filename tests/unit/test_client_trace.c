/* tests/unit/test_client_trace.c - trace lines in order, and no more than fit. */
#include "client/room.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(trace, in_order_and_valid_until_the_next)
{
	struct pl_trace trace = {0};

	cr_assert_null(pl_trace_pop(&trace));
	cr_assert_eq(pl_trace_push(&trace, "Worker 0 1"), 0);
	cr_assert_eq(pl_trace_push(&trace, "Worker 1 2"), 0);
	cr_assert_str_eq(pl_trace_pop(&trace), "Worker 0 1");
	cr_assert_eq(pl_trace_push(&trace, "Worker 2 1"), 0);
	cr_assert_str_eq(pl_trace_pop(&trace), "Worker 1 2");
	cr_assert_str_eq(pl_trace_pop(&trace), "Worker 2 1");
	cr_assert_null(pl_trace_pop(&trace));
	pl_trace_finish(&trace);
}

Test(trace, the_oldest_are_dropped)
{
	struct pl_trace trace = {0};
	char text[32];

	for (int i = 0; i < PL_TRACE_MAX + 10; i++) {
		snprintf(text, sizeof(text), "%d", i);
		cr_assert_eq(pl_trace_push(&trace, text), 0);
	}
	cr_assert_str_eq(pl_trace_pop(&trace), "10");
	cr_assert_eq(trace.n, PL_TRACE_MAX - 1);
	pl_trace_finish(&trace);
	cr_assert_null(trace.first);
}
