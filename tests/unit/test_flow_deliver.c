/* tests/unit/test_flow_deliver.c - a sample's fields reach their row or cell, or an error says why
 * not. */
#include "daemon/flow/deliver.h"

#include <criterion/criterion.h>
#include <errno.h>

static struct pl_plan plan;
static struct pl_sample sample;
static struct pl_scratch scratch;
static char slot[8192], cell[8192];
static const struct pl_target row2 = {.slot = slot, .row = 2, .cell = cell};

static void make(void)
{
	struct pl_layout *l = &plan.layout;

	plan.field_name[0] = "x";
	plan.field_name[1] = "text";
	l->n_deliveries = 2;
	l->delivery[0] = (struct pl_delivery){.field = 0,
		.form = PL_FORM_FIXED,
		.row_bytes = 8,
		.slot_offset = 64,
		.type = {.kind = PL_KIND_TENSOR, .dtype = PL_U16, .rank = 2, .shape = {2, 2}}};
	l->delivery[1] = (struct pl_delivery){.field = 1,
		.form = PL_FORM_RAGGED,
		.row_bytes = 1,
		.cell_offset = 128,
		.cell_bytes = 10,
		.type = pl_type_bytes(PL_KIND_TEXT)};
	pl_scratch_init(&scratch, 1 << 20);
	sample.scratch = &scratch;
}

static void unmake(void)
{
	pl_scratch_finish(&scratch);
}

static void give(int field, void *data, enum pl_dtype dtype, int rank, const int64_t *shape)
{
	cr_assert_eq(pl_tensor_init(&sample.value[field], data, dtype, rank, shape), 0);
}

Test(deliver, copies_rows_and_ragged_values, .init = make, .fini = unmake)
{
	uint16_t x[4] = {1, 2, 3, 4};
	int64_t shapes[PL_SHAPE_WORDS];
	struct pl_err err = {0};

	give(0, x, PL_U16, 2, (int64_t[]){2, 2});
	give(1, (char[]){"hello"}, PL_U8, 1, (int64_t[]){5});
	cr_assert_eq(pl_deliver_sample(&plan, &row2, &sample, shapes, &err), 0, "%s", err.text);
	cr_assert_eq(memcmp(slot + 64 + 16, x, 8), 0);
	cr_assert_eq(memcmp(cell + 128, "hello", 5), 0);
	cr_assert_eq(shapes[0], 1);
	cr_assert_eq(shapes[1], 5);
}

Test(deliver, a_strided_value_is_laid_out, .init = make, .fini = unmake)
{
	uint16_t x[4] = {1, 2, 3, 4}, expected[4] = {1, 3, 2, 4};
	int64_t shapes[PL_SHAPE_WORDS];
	struct pl_err err = {0};

	give(0, x, PL_U16, 2, (int64_t[]){2, 2});
	sample.value[0].stride[0] = 2;
	sample.value[0].stride[1] = 4;
	give(1, (char[]){""}, PL_U8, 1, (int64_t[]){0});
	cr_assert_eq(pl_deliver_sample(&plan, &row2, &sample, shapes, &err), 0, "%s", err.text);
	cr_assert_eq(memcmp(slot + 64 + 16, expected, 8), 0);
}

Test(deliver, what_is_in_place_stays, .init = make, .fini = unmake)
{
	int64_t shapes[PL_SHAPE_WORDS];
	struct pl_err err = {0};
	void *room;

	pl_deliver_prepare(&plan.layout, &row2, &sample);
	cr_assert_eq(sample.row[0].data, slot + 64 + 16);
	room = pl_sample_alloc(&sample, 1, 10);
	cr_assert_eq(room, cell + 128, "the cell itself");
	cr_assert_neq(pl_sample_alloc(&sample, 1, 11), cell + 128, "too large for it: scratch");
	memcpy(room, "0123456789", 10);
	give(0, sample.row[0].data, PL_U16, 2, (int64_t[]){2, 2});
	give(1, (char *)room + 3, PL_U8, 1, (int64_t[]){7});
	cr_assert_eq(pl_deliver_sample(&plan, &row2, &sample, shapes, &err), 0, "%s", err.text);
	cr_assert_eq(memcmp(cell + 128, "3456789", 7), 0, "a part of the room moves to its start");
}

Test(deliver, surprises_are_errors, .init = make, .fini = unmake)
{
	int64_t shapes[PL_SHAPE_WORDS];
	struct pl_err err = {0};
	char x[64] = {0};

	give(0, x, PL_U16, 2, (int64_t[]){2, 3});
	give(1, x, PL_U8, 1, (int64_t[]){1});
	cr_assert_eq(pl_deliver_sample(&plan, &row2, &sample, shapes, &err), -EINVAL);
	cr_assert(strstr(err.text, "[2, 3]") && strstr(err.text, "[2, 2]"), "%s", err.text);
	give(0, x, PL_U8, 2, (int64_t[]){2, 2});
	cr_assert_eq(pl_deliver_sample(&plan, &row2, &sample, shapes, &err), -EINVAL);
	give(0, x, PL_U16, 2, (int64_t[]){2, 2});
	give(1, x, PL_U8, 1, (int64_t[]){11});
	cr_assert_eq(pl_deliver_sample(&plan, &row2, &sample, shapes, &err), -EMSGSIZE);
	cr_assert(strstr(err.text, "'text'") && strstr(err.text, "sample_max"), "%s", err.text);
}
