/* proto/einops/kernels.h - the inner loops, one table of them per kind of CPU. */
#pragma once

#include "proto/base.h"

/*
 * Three nested loops over units of `unit` bytes, [2] innermost; strides in bytes of either sign.
 * Input and output do not overlap.
 */
struct pl_tile {
	int64_t n[3];
	int64_t out[3];
	int64_t in[3];
	int64_t unit;
};

typedef void (*pl_tile_fn)(char *out, const char *in, const struct pl_tile *t);

/* acc[i] = acc[i] op in[i], for `rows` rows of n elements each, `stride` bytes apart. */
struct pl_rows {
	int64_t n;
	int64_t rows;
	int64_t stride;
};

typedef void (*pl_rows_fn)(void *acc, const void *in, const struct pl_rows *r);

/* out[a][c] = in[a][0][c] op in[a][1][c] op ..., for [groups][n][wide]; no overlap. */
struct pl_fold {
	int64_t groups;
	int64_t n;
	int64_t wide;
};

typedef void (*pl_fold_fn)(void *out, const void *in, const struct pl_fold *f);

/*
 * Two folds of two at once: [groups][2][pairs][2][wide] to [groups][pairs][wide]. Not every variant
 * has it, and it may say that it can't (false), having written nothing.
 */
struct pl_pool {
	int64_t groups;
	int64_t pairs;
	int64_t wide;
};

typedef bool (*pl_pool_fn)(void *out, const void *in, const struct pl_pool *p);

/* out[i] = in[i] as another type. */
typedef void (*pl_convert_fn)(void *out, const void *in, int64_t n);

enum pl_acc_op {
	ACC_MIN,
	ACC_MAX,
	ACC_SUM,
	ACC_PROD,
	ACC_OPS,
};

/* Types in which is accumulated. Sums and products know the last three only. */
enum pl_acc_type {
	ACC_U8,
	ACC_I8,
	ACC_U16,
	ACC_I16,
	ACC_U32,
	ACC_I32,
	ACC_I64,
	ACC_U64,
	ACC_F32,
	ACC_F64,
	ACC_TYPES,
};

enum pl_convert {
	CONVERT_NONE,
	CONVERT_U8_U64,
	CONVERT_U16_U64,
	CONVERT_U32_U64,
	CONVERT_I8_U64,
	CONVERT_I16_U64,
	CONVERT_I32_U64,
	CONVERT_F16_F32,
	CONVERT_BF16_F32,
	CONVERT_BOOL_U64, /* nonzero is 1 */
	CONVERT_TRUE_8,   /* to a byte: 1 unless zero */
	CONVERT_TRUE_16,
	CONVERT_TRUE_32,
	CONVERT_TRUE_64,
	CONVERT_TRUE_F16, /* both zeros are zero */
	CONVERT_TRUE_F32,
	CONVERT_TRUE_F64,
	CONVERTS,
};

/*
 * One variant. Arrays over units are indexed by log2 of 1, 2, 4, 8 bytes; `split` and `join` also
 * by their count less 2, for 2, 3 and 4.
 */
struct pl_kernels {
	const char *name;
	bool (*is_usable)(void);
	pl_tile_fn runs;         /* any unit, any strides */
	pl_tile_fn strided[4];   /* any strides */
	pl_tile_fn transpose[4]; /* out[2] == in[1] == unit */
	pl_tile_fn split[3]
			[4]; /* n[1] is the count; out[2] == in[1] == unit, in[2] == count * unit */
	pl_tile_fn join[3]
		       [4]; /* n[2] is the count; out[2] == in[1] == unit, out[1] == count * unit */
	pl_rows_fn rows[ACC_OPS][ACC_TYPES];
	pl_fold_fn fold[ACC_OPS][ACC_TYPES];
	pl_pool_fn pool[ACC_OPS]; /* of u8, or NULL */
	pl_convert_fn convert[CONVERTS];
};

extern const struct pl_kernels pl_kernels_portable;
extern const struct pl_kernels pl_kernels_avx2;
extern const struct pl_kernels pl_kernels_avx512;
extern const struct pl_kernels pl_kernels_neon;

/* The variant for this process, the same for every caller. */
const struct pl_kernels *pl_kernels_get(void);
