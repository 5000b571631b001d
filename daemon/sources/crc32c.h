/* daemon/sources/crc32c.h - CRC-32C (Castagnoli), as TFRecord files check their bytes with. */
#pragma once

#include "proto/base.h"

/* Of n bytes. Any thread; the processor's own instruction where it has one. */
uint32_t pl_crc32c(const void *bytes, size_t n);

/* The same without it: eight tables, eight bytes a step. */
uint32_t pl_crc32c_portable(const void *bytes, size_t n);

/* What a TFRecord stores of a CRC: rotated, plus a constant, so that a CRC of bytes with CRCs in
 * them is none. */
static inline uint32_t pl_crc32c_mask(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
