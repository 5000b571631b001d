/* tests/unit/test_ops_fill_missing.c - NaN of every float type, and nothing else, is replaced. */
#include <math.h>

#include "daemon/ops/numbers.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_fill_missing;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

Test(ops_fill_missing, every_float_type)
{
	static const enum pl_dtype dtypes[] = {PL_F16, PL_BF16, PL_F32, PL_F64};
	const double wanted[6] = {1.5, -0.25, (double)INFINITY, -(double)INFINITY, -0.25, 0};

	for (size_t k = 0; k < PL_ARRAY_LEN(dtypes); k++) {
		double given[6] = {
			1.5, (double)NAN, (double)INFINITY, -(double)INFINITY, -(double)NAN, 0};
		double got[6];
		char values[6 * sizeof(double)];
		struct op_harness h;

		pl_numbers_convert(values, dtypes[k], given, PL_F64, 6);
		op_begin(&h, &pl_op_fill_missing);
		op_set(&h, "value", "-0.25");
		op_field(&h, "x", PL_KIND_TENSOR, dtypes[k], 2, SHAPE(2, 3), values);
		cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
		cr_expect(op_type(&h, 0)->dtype == dtypes[k]);
		pl_numbers_convert(got, PL_F64, op_value(&h, 0)->data, dtypes[k], 6);
		for (int i = 0; i < 6; i++)
			cr_expect(got[i] == wanted[i], "%s [%d]: %g", pl_dtype_name(dtypes[k]), i,
				got[i]);
		op_end(&h);
	}
}

Test(ops_fill_missing, a_scalar_and_a_field_of_integers)
{
	const double missing = (double)NAN;
	struct op_harness h;

	op_begin(&h, &pl_op_fill_missing);
	op_set(&h, "value", "7");
	op_field(&h, "age", PL_KIND_SCALAR, PL_F64, 0, SHAPE(0), &missing);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_at(&h, 0, NULL) == 7);
	cr_expect(isnan(missing), "the input is not written to");
	h.type[0].dtype = PL_I64;
	op_expect_error(&h, op_load(&h), "field 'age' is scalar i64, where nothing can be missing");
	op_end(&h);
}
