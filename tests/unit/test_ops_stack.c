/* tests/unit/test_ops_stack.c - equal fields become one, along any axis. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_stack;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static const int32_t a[2][3] = {{0, 1, 2}, {3, 4, 5}};
static const int32_t b[2][3] = {{10, 11, 12}, {13, 14, 15}};

/* Three fields of which the second is the third's rows; out is a fourth. */
static void begin(struct op_harness *h, const char *axis)
{
	op_begin(h, &pl_op_stack);
	op_set(h, "axis", axis);
	op_field(h, "a", PL_KIND_TENSOR, PL_I32, 2, SHAPE(2, 3), a);
	op_field(h, "b", PL_KIND_TENSOR, PL_I32, 2, SHAPE(2, 3), b);
	h->out[0] = h->n_fields++;
}

Test(ops_stack, every_axis)
{
	static const char *const axes[] = {"0", "1", "2", "-1", "-3"};
	static const int at[] = {0, 1, 2, 2, 0};

	for (size_t k = 0; k < PL_ARRAY_LEN(axes); k++) {
		struct op_harness h;
		int64_t shape[3] = {2, 3, 0};

		memmove(&shape[at[k] + 1], &shape[at[k]], (size_t)(2 - at[k]) * sizeof(*shape));
		shape[at[k]] = 2;
		begin(&h, axes[k]);
		cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
		for (int d = 0; d < 3; d++) {
			cr_expect(op_type(&h, 0)->shape[d] == shape[d]);
			cr_expect(op_value(&h, 0)->shape[d] == shape[d]);
		}
		for (int64_t i = 0; i < 12; i++) {
			int64_t place[3] = {i / 3 % 2, i % 3, 0};

			memmove(&place[at[k] + 1], &place[at[k]],
				(size_t)(2 - at[k]) * sizeof(*place));
			place[at[k]] = i / 6;
			cr_expect(op_at(&h, 0, place) == (double)(i % 6 + i / 6 * 10));
		}
		op_end(&h);
	}
}

Test(ops_stack, scalars)
{
	static const float x = 1.5f;
	static const float y = -2;
	struct op_harness h;

	op_begin(&h, &pl_op_stack);
	op_field(&h, "x", PL_KIND_SCALAR, PL_F32, 0, SHAPE(0), &x);
	op_field(&h, "y", PL_KIND_SCALAR, PL_F32, 0, SHAPE(0), &y);
	h.out[0] = h.n_fields++;
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->kind == PL_KIND_TENSOR && op_type(&h, 0)->shape[0] == 2);
	cr_expect(op_at(&h, 0, SHAPE(0)) == 1.5 && op_at(&h, 0, SHAPE(1)) == -2);
	op_end(&h);
}

Test(ops_stack, strided_inputs)
{
	struct op_harness h;

	begin(&h, "0");
	cr_assert(op_load(&h) == 0);
	h.given[1].data = (void *)(uintptr_t)&b[1][2];
	h.given[1].stride[0] = -(int64_t)sizeof(b[0]);
	h.given[1].stride[1] = -(int64_t)sizeof(b[0][0]);
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, SHAPE(1, 0, 0)) == 15 && op_at(&h, 0, SHAPE(1, 1, 2)) == 10);
	op_end(&h);
}

Test(ops_stack, what_is_refused)
{
	struct op_harness h;

	begin(&h, "3");
	op_expect_error(&h, op_load(&h), "axis: 3 is no place among the axes of 'a'");
	op_set(&h, "axis", "-4");
	op_expect_error(&h, op_load(&h), "axis: -4");
	op_set(&h, "axis", "0");
	h.type[1].shape[1] = 4;
	op_expect_error(&h, op_load(&h), "'a' is tensor i32 [2, 3] and 'b' is tensor i32 [2, 4]");
	h.type[1].shape[1] = -1;
	cr_assert(op_load(&h) == 0 && op_type(&h, 0)->shape[2] == 3);
	h.given[1].shape[1] = 2;
	op_expect_error(&h, op_run(&h), "different shapes in this sample: [2, 3] and [2, 2]");
	h.type[0] = h.type[1] = pl_type_bytes(PL_KIND_TEXT);
	op_expect_error(&h, op_load(&h), "only numbers can be stacked");
	op_end(&h);
}
