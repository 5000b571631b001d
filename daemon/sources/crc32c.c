/* daemon/sources/crc32c.c - CRC-32C (Castagnoli), as TFRecord files check their bytes with. */
/* The portable one is slicing-by-8: M. Kounavis and F. Berry, "A Systematic Approach to Building
 * High Performance Software-based CRC Generators", 2005. */
#include "daemon/sources/crc32c.h"

#include <pthread.h>

#if defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t table[8][256];

static void fill_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][i] = crc;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int k = 1; k < 8; k++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

uint32_t pl_crc32c_portable(const void *bytes, size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const uint8_t *p = bytes;
	uint32_t crc = UINT32_MAX;

	pthread_once(&once, fill_tables);
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t v = load64(p) ^ crc;

		crc = 0;
		for (int k = 0; k < 8; k++)
			crc ^= table[7 - k][v >> (8 * k) & 0xff];
	}
	for (; n; n--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return ~crc;
}

#if defined(__x86_64__)

static bool has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t crc_hardware(const uint8_t *p, size_t n)
{
	uint64_t crc = UINT32_MAX;

	for (; n >= 8; n -= 8, p += 8)
		crc = __builtin_ia32_crc32di(crc, load64(p));
	for (; n; n--)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *p++);
	return ~(uint32_t)crc;
}

#elif defined(__aarch64__)

static bool has_instruction(void)
{
	return getauxval(AT_HWCAP) & 1 << 7; /* HWCAP_CRC32 */
}

__attribute__((target("+crc"))) static uint32_t crc_hardware(const uint8_t *p, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (; n >= 8; n -= 8, p += 8)
		crc = __crc32cd(crc, load64(p));
	for (; n; n--)
		crc = __crc32cb(crc, *p++);
	return ~crc;
}

#else

static bool has_instruction(void)
{
	return false;
}

static uint32_t crc_hardware(const uint8_t *p, size_t n)
{
	return pl_crc32c_portable(p, n);
}

#endif

uint32_t pl_crc32c(const void *bytes, size_t n)
{
	return has_instruction() ? crc_hardware(bytes, n) : pl_crc32c_portable(bytes, n);
}
