/* proto/einops/kernels_reduce.h - the reducing kernels in plain C, for every variant. */

#include "proto/einops/kernels_move.h"

/*
 * Every variant compiles these same loops, in which no order of additions is left to the compiler:
 * all variants give the same bits. Four rows at a time, so that the accumulators are loaded and
 * stored once for the four.
 */
#define OP_MIN(a, b)       ((a) < (b) ? (a) : (b))
#define OP_MAX(a, b)       ((a) > (b) ? (a) : (b))
#define OP_MIN_FLOAT(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define OP_MAX_FLOAT(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define OP_SUM(a, b)       ((a) + (b))
#define OP_PROD(a, b)      ((a) * (b))

#define DEFINE_ROWS(name, type, op)                                                                \
	typedef type name##_t __attribute__((may_alias, aligned(1)));                              \
	static inline void rows_##name(void *acc, const void *in, const struct pl_rows *r)         \
	{                                                                                          \
		type *restrict a = acc;                                                            \
		const char *from = in;                                                             \
		int64_t n = r->n;                                                                  \
		int64_t n_rows = r->rows;                                                          \
		int64_t stride = r->stride;                                                        \
		int64_t row = 0;                                                                   \
                                                                                                   \
		for (; row + 4 <= n_rows; row += 4) {                                              \
			const name##_t *restrict x = (const void *)from;                           \
			const name##_t *restrict y = (const void *)(from + stride);                \
			const name##_t *restrict z = (const void *)(from + 2 * stride);            \
			const name##_t *restrict w = (const void *)(from + 3 * stride);            \
                                                                                                   \
			INDEPENDENT                                                                \
			for (int64_t i = 0; i < n; i++) {                                          \
				type v = a[i];                                                     \
                                                                                                   \
				v = op(v, x[i]);                                                   \
				v = op(v, y[i]);                                                   \
				v = op(v, z[i]);                                                   \
				a[i] = op(v, w[i]);                                                \
			}                                                                          \
			from += 4 * stride;                                                        \
		}                                                                                  \
		for (; row < n_rows; row++) {                                                      \
			const name##_t *restrict x = (const void *)from;                           \
                                                                                                   \
			INDEPENDENT                                                                \
			for (int64_t i = 0; i < n; i++)                                            \
				a[i] = op(a[i], x[i]);                                             \
			from += stride;                                                            \
		}                                                                                  \
	}

#define LINE_HALVE(op, half)                                                                       \
	for (int i = 0; i < half; i++)                                                             \
		v[i] = op(v[i], v[i + half]);

/* Lines of one element each: 16 running results, so that no chain of operations is long. */
#define DEFINE_LINE(name, type, op)                                                                \
	static inline type line_##name(const name##_t *restrict x, int64_t n)                      \
	{                                                                                          \
		type v[16];                                                                        \
		int64_t k = 16;                                                                    \
                                                                                                   \
		if (n < 32) {                                                                      \
			v[0] = x[0];                                                               \
			for (k = 1; k < n; k++)                                                    \
				v[0] = op(v[0], x[k]);                                             \
			return v[0];                                                               \
		}                                                                                  \
		for (int i = 0; i < 16; i++)                                                       \
			v[i] = x[i];                                                               \
		for (; k + 16 <= n; k += 16)                                                       \
			for (int i = 0; i < 16; i++)                                               \
				v[i] = op(v[i], x[k + i]);                                         \
		for (int i = 0; k + i < n; i++)                                                    \
			v[i] = op(v[i], x[k + i]);                                                 \
		LINE_HALVE(op, 8)                                                                  \
		LINE_HALVE(op, 4)                                                                  \
		LINE_HALVE(op, 2)                                                                  \
		LINE_HALVE(op, 1)                                                                  \
		return v[0];                                                                       \
	}

/* A group of n rows of `wide` elements; always_inline with a constant `wide` makes the loops for
 * pixels. */
#define DEFINE_GROUP(name, type, op)                                                               \
	static inline __attribute__((always_inline)) void group_##name(                            \
		name##_t *restrict o, const name##_t *restrict x, int64_t n, int64_t wide)         \
	{                                                                                          \
		if (n == 2) {                                                                      \
			INDEPENDENT                                                                \
			for (int64_t c = 0; c < wide; c++)                                         \
				o[c] = op(x[c], x[wide + c]);                                      \
			return;                                                                    \
		}                                                                                  \
		INDEPENDENT                                                                        \
		for (int64_t c = 0; c < wide; c++)                                                 \
			o[c] = x[c];                                                               \
		for (int64_t k = 1; k < n; k++) {                                                  \
			INDEPENDENT                                                                \
			for (int64_t c = 0; c < wide; c++)                                         \
				o[c] = op(o[c], x[k * wide + c]);                                  \
		}                                                                                  \
	}

#define DEFINE_FOLD(name, type, op, fast)                                                          \
	static inline void fold_##name(void *out, const void *in, const struct pl_fold *f)         \
	{                                                                                          \
		name##_t *restrict o = out;                                                        \
		const name##_t *restrict x = in;                                                   \
		int64_t groups = f->groups;                                                        \
		int64_t n = f->n;                                                                  \
		int64_t wide = f->wide;                                                            \
		int64_t first = fast(out, in, f);                                                  \
                                                                                                   \
		if (wide == 1 && n == 2) {                                                         \
			INDEPENDENT                                                                \
			for (int64_t i = first; i < groups; i++)                                   \
				o[i] = op(x[2 * i], x[2 * i + 1]);                                 \
		} else if (wide == 1) {                                                            \
			for (int64_t i = first; i < groups; i++)                                   \
				o[i] = line_##name(x + i * n, n);                                  \
		} else if (wide == 3) {                                                            \
			for (int64_t i = first; i < groups; i++)                                   \
				group_##name(o + i * 3, x + i * n * 3, n, 3);                      \
		} else {                                                                           \
			for (int64_t i = first; i < groups; i++)                                   \
				group_##name(o + i * wide, x + i * n * wide, n, wide);             \
		}                                                                                  \
	}

/* `fast` does some of the groups, and says how many. */
#define DEFINE_REDUCE_WITH(name, type, op, fast)                                                   \
	DEFINE_ROWS(name, type, op)                                                                \
	DEFINE_LINE(name, type, op)                                                                \
	DEFINE_GROUP(name, type, op)                                                               \
	DEFINE_FOLD(name, type, op, fast)

#define FOLD_NONE(out, in, f)         ((int64_t)0)
#define DEFINE_REDUCE(name, type, op) DEFINE_REDUCE_WITH(name, type, op, FOLD_NONE)

#ifndef FOLD_MIN_U8
#define FOLD_MIN_U8 FOLD_NONE
#define FOLD_MAX_U8 FOLD_NONE
#endif

DEFINE_REDUCE_WITH(min_u8, uint8_t, OP_MIN, FOLD_MIN_U8)
DEFINE_REDUCE(min_i8, int8_t, OP_MIN)
DEFINE_REDUCE(min_u16, uint16_t, OP_MIN)
DEFINE_REDUCE(min_i16, int16_t, OP_MIN)
DEFINE_REDUCE(min_u32, uint32_t, OP_MIN)
DEFINE_REDUCE(min_i32, int32_t, OP_MIN)
DEFINE_REDUCE(min_i64, int64_t, OP_MIN)
DEFINE_REDUCE(min_u64, uint64_t, OP_MIN)
DEFINE_REDUCE(min_f32, float, OP_MIN_FLOAT)
DEFINE_REDUCE(min_f64, double, OP_MIN_FLOAT)
DEFINE_REDUCE_WITH(max_u8, uint8_t, OP_MAX, FOLD_MAX_U8)
DEFINE_REDUCE(max_i8, int8_t, OP_MAX)
DEFINE_REDUCE(max_u16, uint16_t, OP_MAX)
DEFINE_REDUCE(max_i16, int16_t, OP_MAX)
DEFINE_REDUCE(max_u32, uint32_t, OP_MAX)
DEFINE_REDUCE(max_i32, int32_t, OP_MAX)
DEFINE_REDUCE(max_i64, int64_t, OP_MAX)
DEFINE_REDUCE(max_u64, uint64_t, OP_MAX)
DEFINE_REDUCE(max_f32, float, OP_MAX_FLOAT)
DEFINE_REDUCE(max_f64, double, OP_MAX_FLOAT)
DEFINE_REDUCE(sum_u64, uint64_t, OP_SUM)
DEFINE_REDUCE(sum_f32, float, OP_SUM)
DEFINE_REDUCE(sum_f64, double, OP_SUM)
DEFINE_REDUCE(prod_u64, uint64_t, OP_PROD)
DEFINE_REDUCE(prod_f32, float, OP_PROD)
DEFINE_REDUCE(prod_f64, double, OP_PROD)

#define DEFINE_CONVERT(name, from_type, to_type, expression)                                       \
	typedef from_type name##_from __attribute__((may_alias, aligned(1)));                      \
	static inline void convert_##name(void *out, const void *in, int64_t n)                    \
	{                                                                                          \
		to_type *restrict o = out;                                                         \
		const name##_from *restrict from = in;                                             \
                                                                                                   \
		INDEPENDENT                                                                        \
		for (int64_t i = 0; i < n; i++) {                                                  \
			from_type x = from[i];                                                     \
                                                                                                   \
			o[i] = (to_type)(expression);                                              \
		}                                                                                  \
	}

DEFINE_CONVERT(u8_u64, uint8_t, uint64_t, x)
DEFINE_CONVERT(u16_u64, uint16_t, uint64_t, x)
DEFINE_CONVERT(u32_u64, uint32_t, uint64_t, x)
DEFINE_CONVERT(i8_u64, int8_t, uint64_t, (int64_t)x)
DEFINE_CONVERT(i16_u64, int16_t, uint64_t, (int64_t)x)
DEFINE_CONVERT(i32_u64, int32_t, uint64_t, (int64_t)x)
DEFINE_CONVERT(bool_u64, uint8_t, uint64_t, x != 0)
DEFINE_CONVERT(bf16_u32, uint16_t, uint32_t, (uint32_t)x << 16)
DEFINE_CONVERT(true_8, uint8_t, uint8_t, x != 0)
DEFINE_CONVERT(true_16, uint16_t, uint8_t, x != 0)
DEFINE_CONVERT(true_32, uint32_t, uint8_t, x != 0)
DEFINE_CONVERT(true_64, uint64_t, uint8_t, x != 0)
DEFINE_CONVERT(true_f16, uint16_t, uint8_t, (x & 0x7fffu) != 0)
DEFINE_CONVERT(true_f32, uint32_t, uint8_t, (x & 0x7fffffffu) != 0)
DEFINE_CONVERT(true_f64, uint64_t, uint8_t, (x & 0x7fffffffffffffffu) != 0)

#define REDUCE_TABLE(kind)                                                                         \
	{                                                                                          \
		[ACC_MIN] = {kind##_min_u8, kind##_min_i8, kind##_min_u16, kind##_min_i16,         \
			kind##_min_u32, kind##_min_i32, kind##_min_i64, kind##_min_u64,            \
			kind##_min_f32, kind##_min_f64},                                           \
		[ACC_MAX] = {kind##_max_u8, kind##_max_i8, kind##_max_u16, kind##_max_i16,         \
			kind##_max_u32, kind##_max_i32, kind##_max_i64, kind##_max_u64,            \
			kind##_max_f32, kind##_max_f64},                                           \
		[ACC_SUM] = {[ACC_U64] = kind##_sum_u64,                                           \
			[ACC_F32] = kind##_sum_f32,                                                \
			[ACC_F64] = kind##_sum_f64},                                               \
		[ACC_PROD] = {[ACC_U64] = kind##_prod_u64,                                         \
			[ACC_F32] = kind##_prod_f32,                                               \
			[ACC_F64] = kind##_prod_f64},                                              \
	}

#define CONVERT_TABLE(f16)                                                                         \
	{                                                                                          \
		[CONVERT_U8_U64] = convert_u8_u64, [CONVERT_U16_U64] = convert_u16_u64,            \
		[CONVERT_U32_U64] = convert_u32_u64, [CONVERT_I8_U64] = convert_i8_u64,            \
		[CONVERT_I16_U64] = convert_i16_u64, [CONVERT_I32_U64] = convert_i32_u64,          \
		[CONVERT_F16_F32] = f16, [CONVERT_BF16_F32] = convert_bf16_u32,                    \
		[CONVERT_BOOL_U64] = convert_bool_u64, [CONVERT_TRUE_8] = convert_true_8,          \
		[CONVERT_TRUE_16] = convert_true_16, [CONVERT_TRUE_32] = convert_true_32,          \
		[CONVERT_TRUE_64] = convert_true_64, [CONVERT_TRUE_F16] = convert_true_f16,        \
		[CONVERT_TRUE_F32] = convert_true_f32, [CONVERT_TRUE_F64] = convert_true_f64,      \
	}

/* The table of a variant; its functions have the names above. */
#define KERNELS_TABLE(label, usable, f16, ...)                                                     \
	{                                                                                          \
		.name = label, .is_usable = usable, .runs = runs,                                  \
		.strided = {strided_1, strided_2, strided_4, strided_8},                           \
		.transpose = {transpose_1, transpose_2, transpose_4, transpose_8},                 \
		.split = {{split_2_1, split_2_2, split_2_4, split_2_8},                            \
			{split_3_1, split_3_2, split_3_4, split_3_8},                              \
			{split_4_1, split_4_2, split_4_4, split_4_8}},                             \
		.join = {{join_2_1, join_2_2, join_2_4, join_2_8},                                 \
			{join_3_1, join_3_2, join_3_4, join_3_8},                                  \
			{join_4_1, join_4_2, join_4_4, join_4_8}},                                 \
		.rows = REDUCE_TABLE(rows), .fold = REDUCE_TABLE(fold),                            \
		.convert = CONVERT_TABLE(f16), __VA_ARGS__                                         \
	}
