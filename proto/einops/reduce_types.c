/* proto/einops/reduce_types.c - in what a reduction accumulates, and by which kernels. */
#include "proto/einops/reduce.h"

/* What to accumulate in, per dtype. */
struct acc_row {
	enum pl_acc_type same; /* min, max; f16 and bf16 by way of f32 */
	enum pl_acc_type sum;
	enum pl_convert to_same;
	enum pl_convert to_sum;
	enum pl_convert to_true;
};

static const struct acc_row acc_rows[PL_DTYPE_END] = {
	[PL_BOOL] = {ACC_U8, ACC_U64, CONVERT_TRUE_8, CONVERT_BOOL_U64, CONVERT_TRUE_8},
	[PL_U8] = {ACC_U8, ACC_U64, CONVERT_NONE, CONVERT_U8_U64, CONVERT_TRUE_8},
	[PL_U16] = {ACC_U16, ACC_U64, CONVERT_NONE, CONVERT_U16_U64, CONVERT_TRUE_16},
	[PL_U32] = {ACC_U32, ACC_U64, CONVERT_NONE, CONVERT_U32_U64, CONVERT_TRUE_32},
	[PL_U64] = {ACC_U64, ACC_U64, CONVERT_NONE, CONVERT_NONE, CONVERT_TRUE_64},
	[PL_I8] = {ACC_I8, ACC_U64, CONVERT_NONE, CONVERT_I8_U64, CONVERT_TRUE_8},
	[PL_I16] = {ACC_I16, ACC_U64, CONVERT_NONE, CONVERT_I16_U64, CONVERT_TRUE_16},
	[PL_I32] = {ACC_I32, ACC_U64, CONVERT_NONE, CONVERT_I32_U64, CONVERT_TRUE_32},
	[PL_I64] = {ACC_I64, ACC_U64, CONVERT_NONE, CONVERT_NONE, CONVERT_TRUE_64},
	[PL_F16] = {ACC_F32, ACC_F32, CONVERT_F16_F32, CONVERT_F16_F32, CONVERT_TRUE_F16},
	[PL_BF16] = {ACC_F32, ACC_F32, CONVERT_BF16_F32, CONVERT_BF16_F32, CONVERT_TRUE_F16},
	[PL_F32] = {ACC_F32, ACC_F32, CONVERT_NONE, CONVERT_NONE, CONVERT_TRUE_F32},
	[PL_F64] = {ACC_F64, ACC_F64, CONVERT_NONE, CONVERT_NONE, CONVERT_TRUE_F64},
};

static const int64_t acc_sizes[ACC_TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

static enum pl_acc_op op_of(enum reduction reduction)
{
	static const enum pl_acc_op ops[] = {
		[REDUCE_MIN] = ACC_MIN,
		[REDUCE_MAX] = ACC_MAX,
		[REDUCE_SUM] = ACC_SUM,
		[REDUCE_MEAN] = ACC_SUM,
		[REDUCE_PROD] = ACC_PROD,
		[REDUCE_ANY] = ACC_MAX,
		[REDUCE_ALL] = ACC_MIN,
	};

	return ops[reduction];
}

static bool is_truth(enum reduction reduction)
{
	return reduction == REDUCE_ANY || reduction == REDUCE_ALL;
}

static bool is_arithmetic(enum reduction reduction)
{
	return reduction == REDUCE_SUM || reduction == REDUCE_MEAN || reduction == REDUCE_PROD;
}

void pl_reduce_choose_types(struct reduce *r)
{
	const struct pl_kernels *k = pl_kernels_get();
	const struct acc_row *row = &acc_rows[r->dtype];
	enum pl_acc_type acc = row->same;
	enum pl_convert convert = row->to_same;

	if (is_truth(r->reduction)) {
		acc = ACC_U8;
		convert = row->to_true;
	} else if (is_arithmetic(r->reduction)) {
		acc = row->sum;
		convert = row->to_sum;
	}
	r->rows = k->rows[op_of(r->reduction)][acc];
	r->fold = k->fold[op_of(r->reduction)][acc];
	r->convert = k->convert[convert];
	r->in_size = (int64_t)pl_dtype_size(r->dtype);
	r->acc_size = acc_sizes[acc];
	r->finish = FINISH_NONE;
	if (acc == ACC_F32)
		r->finish = r->reduction == REDUCE_MEAN ? FINISH_MEAN_F32 : FINISH_SUM_F32;
	if (acc == ACC_F64)
		r->finish = r->reduction == REDUCE_MEAN ? FINISH_MEAN_F64 : FINISH_SUM_F64;
	/* Only a sum of floats has a zero to make positive, and only f16 and bf16 are narrowed. */
	if (r->reduction != REDUCE_SUM && r->reduction != REDUCE_MEAN && r->dtype != PL_F16 &&
		r->dtype != PL_BF16)
		r->finish = FINISH_NONE;
}
