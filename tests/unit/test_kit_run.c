/* tests/unit/test_kit_run.c - where a step's output goes, and what is said when there is no room.
 */
#include <errno.h>

#include <criterion/criterion.h>

#include "daemon/kit/op.h"

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static struct pl_scratch scratch;
static struct pl_sample sample;
static struct pl_err err;
static const int fields[] = {3};
static bool writes_row[1];
static struct pl_run run;

static void begin(void)
{
	pl_scratch_init(&scratch, 4096);
	sample = (struct pl_sample){.scratch = &scratch};
	err = (struct pl_err){0};
	writes_row[0] = true;
	run = (struct pl_run){.sample = &sample,
		.in = fields,
		.out = fields,
		.n = 1,
		.writes_row = writes_row,
		.err = &err};
}

static void end(void)
{
	pl_scratch_finish(&scratch);
}

Test(kit_run, into_the_row, .init = begin, .fini = end)
{
	float row[6];

	cr_assert(pl_tensor_init(&sample.row[3], row, PL_F32, 2, SHAPE(2, 3)) == 0);
	cr_expect(pl_run_out(&run, 0, PL_F32, 2, SHAPE(2, 3)) == row);
	cr_expect(sample.value[3].data == row && sample.value[3].shape[1] == 3);
	writes_row[0] = false;
	cr_expect(pl_run_out(&run, 0, PL_F32, 2, SHAPE(2, 3)) != row);
	run.writes_row = NULL;
	cr_expect(pl_run_out(&run, 0, PL_F32, 2, SHAPE(2, 3)) != row);
}

Test(kit_run, never_over_the_input, .init = begin, .fini = end)
{
	float row[6];

	cr_assert(pl_tensor_init(&sample.row[3], row, PL_F32, 2, SHAPE(2, 3)) == 0);
	cr_assert(pl_tensor_init(&sample.value[3], row + 2, PL_F32, 1, SHAPE(3)) == 0);
	cr_expect(pl_run_out(&run, 0, PL_F32, 2, SHAPE(2, 3)) != row);
	cr_assert(pl_tensor_init(&sample.value[3], row + 5, PL_F32, 1, SHAPE(4)) == 0);
	sample.value[3].stride[0] = -4;
	cr_expect(
		pl_run_out(&run, 0, PL_F32, 2, SHAPE(2, 3)) != row, "negative strides reach back");
}

Test(kit_run, a_shape_that_the_row_has_not, .init = begin, .fini = end)
{
	float row[6];

	cr_assert(pl_tensor_init(&sample.row[3], row, PL_F32, 2, SHAPE(2, 3)) == 0);
	cr_expect(pl_run_out(&run, 0, PL_F32, 2, SHAPE(3, 2)) == NULL);
	cr_expect(pl_run_failed(&run) == -EINVAL);
	cr_expect_str_eq(err.text,
		"the result is f32 [3, 2], but the batch has room for f32 [2, 3] (all samples of a "
		"batch need one shape: resize, crop or pad first)");
	cr_expect(pl_run_out(&run, 0, PL_U8, 2, SHAPE(2, 3)) == NULL);
	cr_expect(pl_run_out(&run, 0, PL_F32, 1, SHAPE(6)) == NULL);
}

Test(kit_run, no_room, .init = begin, .fini = end)
{
	cr_expect(pl_run_out(&run, 0, PL_F32, 1, SHAPE(1025)) == NULL);
	cr_expect(pl_run_failed(&run) == -EMSGSIZE);
	cr_expect(strstr(err.text, "needs 4100 bytes more") && strstr(err.text, "of the 4096"),
		"%s", err.text);
	cr_expect(pl_run_out(&run, 0, PL_F64, 2, SHAPE(INT64_MAX / 4, 4)) == NULL);
	cr_expect(pl_run_failed(&run) == -EMSGSIZE);
	cr_expect(pl_run_out(&run, 0, PL_F64, 1, SHAPE(-1)) == NULL);
	cr_expect(pl_run_failed(&run) == -EINVAL);
	cr_expect(pl_run_scratch(&run, 5000) == NULL && pl_run_scratch(&run, 4096) != NULL);
	run.err = NULL;
	cr_expect(pl_run_scratch(&run, 1) == NULL && pl_run_failed(&run) < 0);
}

Test(kit_run, contiguous, .init = begin, .fini = end)
{
	int16_t values[2][3] = {{1, 2, 3}, {4, 5, 6}};
	const int16_t *flat;

	cr_assert(pl_tensor_init(&sample.value[3], values, PL_I16, 2, SHAPE(2, 3)) == 0);
	cr_expect(pl_run_contiguous(&run, 0) == values);
	sample.value[3].shape[0] = 3;
	sample.value[3].shape[1] = 2;
	sample.value[3].stride[0] = 2;
	sample.value[3].stride[1] = 6;
	flat = pl_run_contiguous(&run, 0);
	cr_assert(flat);
	cr_expect(flat[0] == 1 && flat[1] == 4 && flat[2] == 2 && flat[5] == 6);
	scratch.limit = scratch.taken;
	cr_expect(pl_run_contiguous(&run, 0) == NULL && pl_run_failed(&run) == -EMSGSIZE);
}
