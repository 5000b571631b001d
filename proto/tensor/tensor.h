/* proto/tensor/tensor.h - dtypes, shapes and strides of memory that somebody else owns. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default) /* plugins of the daemon call these */

/* Ranks up to 16 everywhere; a longer shape is refused with -EINVAL, never cut. */
#define PL_RANK_MAX 16

/* Element types. The numbers are part of the wire protocol: append only. */
enum pl_dtype {
	PL_BOOL = 1, /* one byte, 0 or 1 */
	PL_U8,
	PL_U16,
	PL_U32,
	PL_U64,
	PL_I8,
	PL_I16,
	PL_I32,
	PL_I64,
	PL_F16,  /* IEEE 754 binary16 */
	PL_BF16, /* the upper half of a binary32 */
	PL_F32,
	PL_F64,
	PL_DTYPE_END,
};

/*
 * A view of memory: never owns it. Element (i0, i1, ...) lies at (char *)data + i0*stride[0] +
 * i1*stride[1] + ... Strides are in BYTES and may be zero (broadcast) or negative. shape[d] >= 0; a
 * zero makes the tensor empty, and then data may be NULL. rank 0 is a scalar: one element at data.
 */
struct pl_tensor {
	void *data;
	enum pl_dtype dtype;
	int rank;
	int64_t shape[PL_RANK_MAX];
	int64_t stride[PL_RANK_MAX];
};

/* Bytes of one element: 1, 2, 4 or 8; 0 for a number that is no dtype. */
size_t pl_dtype_size(enum pl_dtype dtype);

/* "bool", "u8" ... "f64"; "?" for a number that is no dtype. Static storage. */
const char *pl_dtype_name(enum pl_dtype dtype);

/* The dtype of that name, or 0. `name` need not be terminated: n bytes. */
enum pl_dtype pl_dtype_parse(const char *name, size_t n);

/* True for f16, bf16, f32, f64. */
bool pl_dtype_is_float(enum pl_dtype dtype);

/*
 * Fills *t as a C-contiguous tensor over data (borrowed). -EINVAL: no dtype, rank outside 0..16 or
 * a negative length; -EOVERFLOW: the product of the non-zero lengths times the element size exceeds
 * INT64_MAX (also when another length is 0). On error *t is untouched.
 */
int pl_tensor_init(struct pl_tensor *t, void *data, enum pl_dtype dtype, int rank,
	const int64_t *shape) __attribute__((warn_unused_result));

/* Number of elements; 1 for a scalar. Trusts *t as pl_tensor_init or pl_tensor_check left it. */
int64_t pl_tensor_count(const struct pl_tensor *t);

/* Bytes of the elements, as if contiguous. */
int64_t pl_tensor_bytes(const struct pl_tensor *t);

/* True when the elements lie in C order without gaps (lengths of 1 have any stride; empty tensors
 * are contiguous). */
bool pl_tensor_is_contiguous(const struct pl_tensor *t);

/*
 * Checks a tensor that came from outside: dtype, rank, lengths as pl_tensor_init, and that every
 * element lies inside [base, base + size). 0, -EINVAL, -EOVERFLOW, or -ERANGE when an element lies
 * outside.
 */
int pl_tensor_check(const struct pl_tensor *t, const void *base, size_t size)
	__attribute__((warn_unused_result));

/*
 * Copies all elements of src to dst: equal dtype and shape, any strides, no overlap. -EINVAL when
 * they differ. One pass; contiguous runs go by memcpy.
 */
int pl_tensor_copy(const struct pl_tensor *dst, const struct pl_tensor *src)
	__attribute__((warn_unused_result));

/* Exact conversions of the two half-width floats; to f16/bf16 rounds to nearest, ties to even; NaN
 * stays NaN. */
float pl_f16_to_f32(uint16_t h);
uint16_t pl_f32_to_f16(float f);
float pl_bf16_to_f32(uint16_t h);
uint16_t pl_f32_to_bf16(float f);

/*
 * Writes "[3, 224, 224]" (unknown lengths, -1, as "?") into out, at most n bytes with the NUL;
 * returns out.
 */
char *pl_shape_format(char *out, size_t n, int rank, const int64_t *shape);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
