/* proto/tensor/half.c - conversions of the two 16-bit floats from and to binary32. */
#include "proto/base.h"
#include "proto/tensor/tensor.h"

#include <string.h>

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

PL_EXPORT float pl_f16_to_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
	uint32_t exponent = (h >> 10) & 0x1fu;
	uint32_t fraction = h & 0x3ffu;

	if (exponent == 0x1f)
		return float_of(sign | 0x7f800000u | fraction << 13);
	if (exponent)
		return float_of(sign | (exponent + 112) << 23 | fraction << 13);
	/* Zero or subnormal: fraction * 2^-24 is exact in binary32. */
	return float_of(sign | bits_of((float)fraction * 0x1p-24f));
}

/* value >> shift, rounded to nearest, ties to even; 1 <= shift <= 31. */
static uint32_t shift_to_even(uint32_t value, unsigned int shift)
{
	uint32_t half = 1u << (shift - 1);
	uint32_t rest = value & (2 * half - 1);
	uint32_t kept = value >> shift;

	return kept + (rest > half || (rest == half && (kept & 1)));
}

PL_EXPORT uint16_t pl_f32_to_f16(float f)
{
	uint32_t bits = bits_of(f);
	uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
	uint32_t exponent = bits >> 23 & 0xffu;
	uint32_t fraction = bits & 0x7fffffu;

	if (exponent == 0xff)
		return (uint16_t)(sign | 0x7c00u | (fraction ? 0x200u | fraction >> 13 : 0));
	if (exponent >= 143)
		return (uint16_t)(sign | 0x7c00u);
	/* A carry out of the fraction moves into the exponent, up to infinity: that is what IEEE
	 * wants. */
	if (exponent >= 113)
		return (uint16_t)(sign | shift_to_even((exponent - 112) << 23 | fraction, 13));
	if (exponent < 102)
		return sign;
	return (uint16_t)(sign | shift_to_even(fraction | 0x800000u, 126 - exponent));
}

PL_EXPORT float pl_bf16_to_f32(uint16_t h)
{
	return float_of((uint32_t)h << 16);
}

PL_EXPORT uint16_t pl_f32_to_bf16(float f)
{
	uint32_t bits = bits_of(f);

	if ((bits & 0x7fffffffu) > 0x7f800000u)
		return (uint16_t)(bits >> 16 | 0x40u);
	return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
