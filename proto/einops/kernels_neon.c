/* proto/einops/kernels_neon.c - the variant for 64-bit ARM. */
#include "proto/einops/kernels.h"
#include "proto/tensor/tensor.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#if !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O3")
#endif

#include "proto/einops/kernels_move.h"
#include "proto/einops/kernels_reduce.h"

DEFINE_BLOCKS(1, 16, transpose_plain_1)
DEFINE_BLOCKS(2, 16, transpose_plain_2)
DEFINE_BLOCKS(4, 16, transpose_plain_4)
DEFINE_BLOCKS(8, 8, transpose_plain_8)

/* ld2, ld3, ld4 and st2, st3, st4 of 16 bytes of each plane. */
#define DEFINE_ALTERNATE(count, size, suffix, type)                                                \
	static inline int64_t split_##count##_fast_##size(                                         \
		char *out, int64_t row, const char *in, int64_t n)                                 \
	{                                                                                          \
		const int64_t lanes = 16 / size;                                                   \
		int64_t j = 0;                                                                     \
                                                                                                   \
		for (; j + lanes <= n; j += lanes) {                                               \
			type v = vld##count##q_##suffix((const void *)(in + j * count * size));    \
                                                                                                   \
			for (int k = 0; k < count; k++)                                            \
				vst1q_##suffix((void *)(out + k * row + j * size), v.val[k]);      \
		}                                                                                  \
		return j;                                                                          \
	}                                                                                          \
	static inline int64_t join_##count##_fast_##size(                                          \
		char *out, const char *in, int64_t row, int64_t n)                                 \
	{                                                                                          \
		const int64_t lanes = 16 / size;                                                   \
		int64_t j = 0;                                                                     \
                                                                                                   \
		for (; j + lanes <= n; j += lanes) {                                               \
			type v;                                                                    \
                                                                                                   \
			for (int k = 0; k < count; k++)                                            \
				v.val[k] =                                                         \
					vld1q_##suffix((const void *)(in + k * row + j * size));   \
			vst##count##q_##suffix((void *)(out + j * count * size), v);               \
		}                                                                                  \
		return j;                                                                          \
	}                                                                                          \
	DEFINE_SPLIT(count, size, split_##count##_fast_##size)                                     \
	DEFINE_JOIN(count, size, join_##count##_fast_##size)

DEFINE_ALTERNATE(2, 1, u8, uint8x16x2_t)
DEFINE_ALTERNATE(3, 1, u8, uint8x16x3_t)
DEFINE_ALTERNATE(4, 1, u8, uint8x16x4_t)
DEFINE_ALTERNATE(2, 2, u16, uint16x8x2_t)
DEFINE_ALTERNATE(3, 2, u16, uint16x8x3_t)
DEFINE_ALTERNATE(4, 2, u16, uint16x8x4_t)
DEFINE_ALTERNATE(2, 4, u32, uint32x4x2_t)
DEFINE_ALTERNATE(3, 4, u32, uint32x4x3_t)
DEFINE_ALTERNATE(4, 4, u32, uint32x4x4_t)
DEFINE_SPLIT(2, 8, SPLIT_NONE)
DEFINE_SPLIT(3, 8, SPLIT_NONE)
DEFINE_SPLIT(4, 8, SPLIT_NONE)
DEFINE_JOIN(2, 8, JOIN_NONE)
DEFINE_JOIN(3, 8, JOIN_NONE)
DEFINE_JOIN(4, 8, JOIN_NONE)

static inline void convert_f16(void *out, const void *in, int64_t n)
{
	float *o = out;
	int64_t i = 0;

	for (; i + 4 <= n; i += 4)
		vst1q_f32(o + i, vcvt_f32_f16(vreinterpret_f16_u16(
					 vld1_u16((const void *)((const char *)in + i * 2)))));
	for (; i < n; i++)
		o[i] = pl_f16_to_f32(FROM(unit_2, in, i * 2));
}

static bool is_usable(void)
{
	return true;
}

const struct pl_kernels pl_kernels_neon =
	KERNELS_TABLE("neon", is_usable, convert_f16, .pool = {NULL});
#endif
