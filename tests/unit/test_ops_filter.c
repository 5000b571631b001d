/* tests/unit/test_ops_filter.c - filter keeps, drops, and says what is wrong with an expression. */
#include "op_harness.h"

#include <errno.h>

#include "daemon/ops/table.h"
#include "param_at.h"

static int64_t label = 3;
static const unsigned char caption[] = "a cat";

/* Two fields that the filter sees and does not take. */
static void begin(struct op_harness *h, const char *expr)
{
	struct pl_tensor *v = h->sample.value;

	op_begin(h, &pl_op_filter);
	PARAM(const char *, pl_op_filter.params, h->params, "expr") = expr;
	h->n_fields = 3;
	h->name[0] = "label";
	h->type[0] = pl_type_scalar(PL_I64);
	h->name[1] = "caption";
	h->type[1] = pl_type_bytes(PL_KIND_TEXT);
	h->name[2] = "image";
	h->type[2] = pl_type_image(-1, -1, 3);
	h->is_live[0] = h->is_live[1] = true;
	v[0] = (struct pl_tensor){.data = &label, .dtype = PL_I64};
	v[1] = (struct pl_tensor){.data = (void *)(uintptr_t)caption,
		.dtype = PL_U8,
		.rank = 1,
		.shape = {5},
		.stride = {1}};
}

static void expect_run(const char *expr, int wanted)
{
	struct op_harness h;

	begin(&h, expr);
	cr_assert_eq(op_load(&h), 0, "%s", h.err.text);
	cr_expect_eq(op_run(&h), wanted, "%s: %s", expr, h.err.text);
	cr_expect_eq(op_run(&h), wanted, "%s: the second sample", expr);
	op_end(&h);
}

Test(ops_filter, keeps_and_drops)
{
	expect_run("label == 3", 0);
	expect_run("label > 3", PL_OP_DROP);
	expect_run("caption == 'a cat' and len(caption) == 5", 0);
	expect_run("caption in ['dog']", PL_OP_DROP);
}

Test(ops_filter, an_error_of_a_sample_has_its_reason)
{
	struct op_harness h;

	begin(&h, "1 / (label - 3) > 0");
	cr_assert_eq(op_load(&h), 0);
	cr_expect_eq(op_run(&h), -EDOM);
	expect_text(h.err.text, "division by zero");
	op_end(&h);
}

static void expect_load_error(const char *expr, size_t offset, const char *part)
{
	struct op_harness h;

	begin(&h, expr);
	cr_expect_eq(op_load(&h), -EINVAL);
	expect_text(h.err.text, part);
	cr_expect_str_eq(h.err.param, "expr");
	cr_expect_eq(h.err.offset, offset, "%s: %zu", expr, h.err.offset);
	op_end(&h);
}

Test(ops_filter, load_errors_name_the_place)
{
	expect_load_error("1 < labell", 4, "no field 'labell' here (did you mean 'label'?)");
	expect_load_error("label", 0, "must be true or false");
	expect_load_error("label ==", 8, "a value is missing at the end");
}

/* In pre-main only what is known without reading is live. */
Test(ops_filter, fields_that_are_not_live_do_not_exist)
{
	expect_load_error("len(image) > 3", 4, "no field 'image' here");
}

Test(ops_filter, half_built_states_are_freed)
{
	pl_op_filter.destroy(NULL);
	cr_expect(pl_op_filter.stages == (PL_STAGE_PRE | PL_STAGE_WORKER));
}
