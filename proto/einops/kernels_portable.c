/* proto/einops/kernels_portable.c - the variant that every CPU runs. */
#include "proto/einops/kernels.h"
#include "proto/tensor/tensor.h"

#if !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O3")
#endif

#include "proto/einops/kernels_move.h"
#include "proto/einops/kernels_reduce.h"

DEFINE_BLOCKS(1, 16, transpose_plain_1)
DEFINE_BLOCKS(2, 16, transpose_plain_2)
DEFINE_BLOCKS(4, 16, transpose_plain_4)
DEFINE_BLOCKS(8, 8, transpose_plain_8)
DEFINE_SPLIT(2, 1, SPLIT_NONE)
DEFINE_SPLIT(2, 2, SPLIT_NONE)
DEFINE_SPLIT(2, 4, SPLIT_NONE)
DEFINE_SPLIT(2, 8, SPLIT_NONE)
DEFINE_SPLIT(3, 1, SPLIT_NONE)
DEFINE_SPLIT(3, 2, SPLIT_NONE)
DEFINE_SPLIT(3, 4, SPLIT_NONE)
DEFINE_SPLIT(3, 8, SPLIT_NONE)
DEFINE_SPLIT(4, 1, SPLIT_NONE)
DEFINE_SPLIT(4, 2, SPLIT_NONE)
DEFINE_SPLIT(4, 4, SPLIT_NONE)
DEFINE_SPLIT(4, 8, SPLIT_NONE)
DEFINE_JOIN(2, 1, JOIN_NONE)
DEFINE_JOIN(2, 2, JOIN_NONE)
DEFINE_JOIN(2, 4, JOIN_NONE)
DEFINE_JOIN(2, 8, JOIN_NONE)
DEFINE_JOIN(3, 1, JOIN_NONE)
DEFINE_JOIN(3, 2, JOIN_NONE)
DEFINE_JOIN(3, 4, JOIN_NONE)
DEFINE_JOIN(3, 8, JOIN_NONE)
DEFINE_JOIN(4, 1, JOIN_NONE)
DEFINE_JOIN(4, 2, JOIN_NONE)
DEFINE_JOIN(4, 4, JOIN_NONE)
DEFINE_JOIN(4, 8, JOIN_NONE)

static void convert_f16(void *out, const void *in, int64_t n)
{
	float *o = out;

	for (int64_t i = 0; i < n; i++)
		o[i] = pl_f16_to_f32(FROM(unit_2, in, i * 2));
}

static bool is_usable(void)
{
	return true;
}

const struct pl_kernels pl_kernels_portable =
	KERNELS_TABLE("portable", is_usable, convert_f16, .pool = {NULL});
