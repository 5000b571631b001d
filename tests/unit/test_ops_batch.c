/* tests/unit/test_ops_batch.c - what batch refuses to stack. */
#include "daemon/ops/table.h"

#include <errno.h>

#include "daemon/kit/batch.h"
#include "param_at.h"

static int infer(struct pl_type type, bool is_live, struct pl_err *err)
{
	static const char *const names[] = {"image"};
	struct pl_batch_params params = {.size = 4};
	struct pl_infer io = {.type = &type, .name = names, .is_live = &is_live, .n_fields = 1};

	*err = (struct pl_err){0};
	return pl_op_batch.infer(&io, &params, err);
}

Test(ops_batch, images_of_varying_size_are_refused)
{
	struct pl_err err;
	struct pl_type mask = {.kind = PL_KIND_MASK, .dtype = PL_U8, .rank = 2, .shape = {-1, 5}};

	cr_expect_eq(infer(pl_type_image(-1, -1, 3), true, &err), -EINVAL);
	expect_text(err.text, "field 'image' is image u8 [?, ?, 3]: its size varies");
	expect_text(err.text, "resize or crop");
	cr_expect_eq(infer(mask, true, &err), -EINVAL);
	cr_expect_eq(infer(pl_type_image(-1, -1, 3), false, &err), 0, "it isn't there any more");
}

Test(ops_batch, fixed_and_ragged_fields_are_fine)
{
	struct pl_err err;
	struct pl_type tokens = {.kind = PL_KIND_TOKENS, .dtype = PL_I32, .rank = 1, .shape = {-1}};

	cr_expect_eq(infer(pl_type_image(224, 224, 3), true, &err), 0);
	cr_expect_eq(infer(pl_type_bytes(PL_KIND_TEXT), true, &err), 0);
	cr_expect_eq(infer(tokens, true, &err), 0);
}

Test(ops_batch, it_says_why_it_never_runs_in_workers)
{
	cr_expect_eq(pl_op_batch.stages, PL_STAGE_POST);
	expect_text(pl_op_batch.whole_reason, "it must see the whole stream to");
	cr_expect_eq(pl_op_batch.params_size, sizeof(struct pl_batch_params));
}
