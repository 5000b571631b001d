/* tests/unit/test_tensor_dtype.c - names, sizes and kinds of the element types. */
#include "proto/tensor/tensor.h"

#include <criterion/criterion.h>
#include <string.h>

Test(tensor_dtype, names_lead_back)
{
	for (int i = PL_BOOL; i < PL_DTYPE_END; i++) {
		const char *name = pl_dtype_name((enum pl_dtype)i);

		cr_assert(pl_dtype_parse(name, strlen(name)) == (enum pl_dtype)i, "%s", name);
		cr_assert(pl_dtype_size((enum pl_dtype)i) > 0);
	}
	cr_assert(pl_dtype_parse("f3", 2) == 0 && pl_dtype_parse("f321", 4) == 0);
	cr_assert(pl_dtype_parse("f32x", 3) == PL_F32 && pl_dtype_parse("", 0) == 0);
}

Test(tensor_dtype, no_dtype)
{
	static const int numbers[] = {0, PL_DTYPE_END, -1, 1 << 30};

	for (int i = 0; i < 4; i++) {
		enum pl_dtype dtype = (enum pl_dtype)numbers[i];

		cr_assert(pl_dtype_size(dtype) == 0 && !pl_dtype_is_float(dtype));
		cr_assert_str_eq(pl_dtype_name(dtype), "?");
	}
}

Test(tensor_dtype, floats_and_sizes)
{
	cr_assert(pl_dtype_is_float(PL_F16) && pl_dtype_is_float(PL_BF16) &&
		  pl_dtype_is_float(PL_F32));
	cr_assert(!pl_dtype_is_float(PL_I64) && !pl_dtype_is_float(PL_BOOL));
	cr_assert(pl_dtype_size(PL_BOOL) == 1 && pl_dtype_size(PL_BF16) == 2 &&
		  pl_dtype_size(PL_U64) == 8);
}
