/* tests/unit/test_ops_trace.c - trace tells its label and the first field to whoever asked. */
#include "daemon/ops/table.h"

#include <stdio.h>

#include "param_at.h"

struct heard {
	int n;
	char line[256];
};

static void hear(void *context, const char *label, const char *value)
{
	struct heard *h = context;

	h->n++;
	snprintf(h->line, sizeof(h->line), "%s|%s", label, value);
}

static void trace(
	struct pl_type type, struct pl_tensor value, int n, bool is_asked, struct heard *h)
{
	static const char *const names[] = {"value"};
	static const int field[] = {0};
	const char *label;
	bool is_live = true;
	struct pl_infer io = {.type = &type,
		.name = names,
		.is_live = &is_live,
		.n_fields = 1,
		.in = field,
		.out = field,
		.n = n};
	struct pl_sample sample = {.value = {value}};
	struct pl_run r = {.sample = &sample,
		.op = &pl_op_trace,
		.params = &label,
		.in = field,
		.out = field,
		.n = n,
		.trace = is_asked ? hear : NULL,
		.trace_context = h};

	*h = (struct heard){0};
	PARAM(const char *, pl_op_trace.params, &label, "label") = "Pre Main";
	cr_assert_eq(pl_op_trace.prepare(&io, &label, &r.state, NULL), 0);
	cr_expect_eq(pl_op_trace.run(&r), 0);
}

Test(ops_trace, tells_label_and_value)
{
	int64_t three = 3;
	struct pl_tensor value = {.data = &three, .dtype = PL_I64};
	struct heard h;

	trace(pl_type_scalar(PL_I64), value, 1, true, &h);
	cr_expect_str_eq(h.line, "Pre Main|3");
	trace(pl_type_scalar(PL_I64), value, 1, false, &h);
	cr_expect_eq(h.n, 0, "nobody asked");
	trace(pl_type_scalar(PL_I64), value, 0, true, &h);
	cr_expect_str_eq(h.line, "Pre Main|", "a sample without fields");
}

Test(ops_trace, texts_and_other_bytes_differ)
{
	char text[] = "ab";
	struct pl_tensor value = {
		.data = text, .dtype = PL_U8, .rank = 1, .shape = {2}, .stride = {1}};
	struct heard h;

	trace(pl_type_bytes(PL_KIND_TEXT), value, 1, true, &h);
	cr_expect_str_eq(h.line, "Pre Main|ab");
	trace(pl_type_bytes(PL_KIND_BYTES), value, 1, true, &h);
	cr_expect_str_eq(h.line, "Pre Main|u8 [2]");
}

Test(ops_trace, it_stands_anywhere)
{
	cr_expect_eq(pl_op_trace.stages, PL_STAGE_PRE | PL_STAGE_WORKER | PL_STAGE_POST);
	for (int k = PL_KIND_TENSOR; k < PL_KIND_END; k++)
		cr_expect(pl_op_trace.takes & PL_KIND_BIT(k));
}
