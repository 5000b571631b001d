/* tests/unit/test_tensor_half.c - the half-width floats: all bit patterns, rounding, NaN. */
#include "proto/tensor/tensor.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(tensor_half, every_f16_survives)
{
	for (uint32_t h = 0; h < 65536; h++) {
		float f = pl_f16_to_f32((uint16_t)h);

		if (isnan(f))
			cr_assert(isnan(pl_f16_to_f32(pl_f32_to_f16(f))));
		else
			cr_assert(pl_f32_to_f16(f) == h, "%04x", h);
	}
}

Test(tensor_half, every_bf16_survives)
{
	for (uint32_t h = 0; h < 65536; h++) {
		float f = pl_bf16_to_f32((uint16_t)h);

		if (isnan(f))
			cr_assert(isnan(pl_bf16_to_f32(pl_f32_to_bf16(f))));
		else
			cr_assert(pl_f32_to_bf16(f) == h, "%04x", h);
	}
}

Test(tensor_half, rounds_to_nearest_and_ties_to_even)
{
	cr_assert(pl_f32_to_f16(2049.0f) == pl_f32_to_f16(2048.0f));
	cr_assert(pl_f32_to_f16(2051.0f) == pl_f32_to_f16(2052.0f));
	cr_assert(pl_f32_to_f16(65519.0f) == 0x7bff);
	cr_assert(pl_f32_to_f16(65520.0f) == 0x7c00);
	cr_assert(pl_f32_to_f16(-INFINITY) == 0xfc00);
	cr_assert(pl_f32_to_f16(0x1p-24f) == 1);
	cr_assert(pl_f32_to_f16(0x1p-25f) == 0);
	cr_assert(pl_f32_to_f16(0x1.8p-25f) == 1);
	cr_assert(pl_f32_to_f16(0x1.ff8p-15f) == 0x03ff);
	cr_assert(pl_f32_to_f16(0x1.ffcp-15f) == 0x0400);
	cr_assert(pl_f32_to_f16(-0.0f) == 0x8000);
	cr_assert(pl_f32_to_bf16(1.00390625f) == 0x3f80);
	cr_assert(pl_f32_to_bf16(1.01171875f) == 0x3f82);
	cr_assert(pl_f32_to_bf16(3.4e38f) == 0x7f80);
}

Test(tensor_half, nan_stays_nan)
{
	uint32_t bits = 0x7f800001;
	float f;

	memcpy(&f, &bits, sizeof(f));
	cr_assert(isnan(pl_f16_to_f32(pl_f32_to_f16(f))));
	cr_assert(isnan(pl_bf16_to_f32(pl_f32_to_bf16(f))));
}
