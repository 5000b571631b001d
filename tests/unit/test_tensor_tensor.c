/* tests/unit/test_tensor_tensor.c - shapes, overflow, bounds, copies between strides. */
#include "proto/tensor/tensor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

Test(tensor_tensor, init)
{
	struct pl_tensor t;
	char byte;

	cr_assert(pl_tensor_init(&t, &byte, PL_F32, 3, SHAPE(2, 3, 4)) == 0);
	cr_assert(t.stride[0] == 48 && t.stride[1] == 16 && t.stride[2] == 4);
	cr_assert(pl_tensor_count(&t) == 24 && pl_tensor_bytes(&t) == 96);
	cr_assert(pl_tensor_init(&t, &byte, PL_U8, 0, NULL) == 0 && pl_tensor_count(&t) == 1);
	cr_assert(pl_tensor_init(&t, NULL, PL_U8, 2, SHAPE(0, 5)) == 0 && pl_tensor_count(&t) == 0);
}

Test(tensor_tensor, init_errors_leave_it_alone)
{
	struct pl_tensor t = {.rank = 77};

	cr_assert(pl_tensor_init(&t, NULL, (enum pl_dtype)0, 1, SHAPE(1)) == -EINVAL);
	cr_assert(pl_tensor_init(&t, NULL, PL_DTYPE_END, 1, SHAPE(1)) == -EINVAL);
	cr_assert(pl_tensor_init(&t, NULL, PL_U8, 17, SHAPE(1)) == -EINVAL);
	cr_assert(pl_tensor_init(&t, NULL, PL_U8, -1, SHAPE(1)) == -EINVAL);
	cr_assert(pl_tensor_init(&t, NULL, PL_U8, 1, SHAPE(-1)) == -EINVAL);
	cr_assert(pl_tensor_init(&t, NULL, PL_U16, 1, SHAPE(INT64_MAX)) == -EOVERFLOW);
	cr_assert(pl_tensor_init(&t, NULL, PL_U8, 3, SHAPE(INT64_MAX, 0, 2)) == -EOVERFLOW);
	cr_assert(pl_tensor_init(&t, NULL, PL_U8, 3, SHAPE(INT64_MAX, 2, -1)) == -EINVAL);
	cr_assert(t.rank == 77);
}

Test(tensor_tensor, contiguous)
{
	struct pl_tensor t;

	cr_assert(pl_tensor_init(&t, NULL, PL_U8, 3, SHAPE(2, 1, 4)) == 0);
	t.stride[1] = -999;
	cr_assert(pl_tensor_is_contiguous(&t));
	t.stride[0] = 8;
	cr_assert(!pl_tensor_is_contiguous(&t));
	t.shape[2] = 0;
	cr_assert(pl_tensor_is_contiguous(&t));
}

Test(tensor_tensor, check)
{
	char memory[64];
	struct pl_tensor t;

	cr_assert(pl_tensor_init(&t, memory + 8, PL_U8, 2, SHAPE(4, 8)) == 0);
	cr_assert(pl_tensor_check(&t, memory, 40) == 0);
	cr_assert(pl_tensor_check(&t, memory, 39) == -ERANGE);
	cr_assert(pl_tensor_check(&t, memory + 9, 60) == -ERANGE);
	t.stride[0] = -8;
	cr_assert(pl_tensor_check(&t, memory, sizeof(memory)) == -ERANGE);
	t.data = memory + 24;
	cr_assert(pl_tensor_check(&t, memory, 32) == 0);
	t.stride[0] = INT64_MAX;
	cr_assert(pl_tensor_check(&t, memory, sizeof(memory)) == -ERANGE);
	t.stride[0] = INT64_MIN;
	cr_assert(pl_tensor_check(&t, memory, sizeof(memory)) == -ERANGE);
	t.shape[0] = 0;
	cr_assert(pl_tensor_check(&t, memory, 0) == 0);
	t.shape[0] = -5;
	cr_assert(pl_tensor_check(&t, memory, 64) == -EINVAL);
	t.shape[0] = INT64_MAX;
	cr_assert(pl_tensor_check(&t, memory, 64) == -EOVERFLOW);
}

Test(tensor_tensor, copy)
{
	uint16_t from[6] = {1, 2, 3, 4, 5, 6};
	uint16_t to[6] = {0};
	struct pl_tensor src;
	struct pl_tensor dst;

	cr_assert(pl_tensor_init(&src, from, PL_U16, 2, SHAPE(2, 3)) == 0);
	cr_assert(pl_tensor_init(&dst, to, PL_U16, 2, SHAPE(2, 3)) == 0);
	cr_assert(pl_tensor_copy(&dst, &src) == 0 && memcmp(from, to, sizeof(to)) == 0);
	dst.stride[0] = 2;
	dst.stride[1] = 4;
	cr_assert(pl_tensor_copy(&dst, &src) == 0);
	cr_assert(memcmp(to, ((const uint16_t[]){1, 4, 2, 5, 3, 6}), sizeof(to)) == 0);
	src.data = from + 5;
	src.stride[0] = -6;
	src.stride[1] = -2;
	cr_assert(pl_tensor_copy(&dst, &src) == 0);
	cr_assert(memcmp(to, ((const uint16_t[]){6, 3, 5, 2, 4, 1}), sizeof(to)) == 0);
	dst.shape[1] = 2;
	cr_assert(pl_tensor_copy(&dst, &src) == -EINVAL);
	dst.shape[1] = 3;
	dst.dtype = PL_I16;
	cr_assert(pl_tensor_copy(&dst, &src) == -EINVAL);
}

Test(tensor_tensor, copy_of_a_scalar_and_of_nothing)
{
	double from = 3;
	double to = 0;
	struct pl_tensor src;
	struct pl_tensor dst;

	cr_assert(pl_tensor_init(&src, &from, PL_F64, 0, NULL) == 0);
	cr_assert(pl_tensor_init(&dst, &to, PL_F64, 0, NULL) == 0);
	cr_assert(pl_tensor_copy(&dst, &src) == 0 && to == 3);
	cr_assert(pl_tensor_init(&src, NULL, PL_F64, 1, SHAPE(0)) == 0);
	cr_assert(pl_tensor_copy(&src, &src) == 0);
}

Test(tensor_tensor, shape_format)
{
	char out[64];

	cr_assert_str_eq(pl_shape_format(out, sizeof(out), 3, SHAPE(3, -1, 224)), "[3, ?, 224]");
	cr_assert_str_eq(pl_shape_format(out, sizeof(out), 0, NULL), "[]");
	cr_assert_str_eq(pl_shape_format(out, 6, 3, SHAPE(100, 200, 300)), "[100,");
	cr_assert_str_eq(pl_shape_format(out, 1, 1, SHAPE(1)), "");
}
