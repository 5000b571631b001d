/* daemon/sources/utf8.c - is it UTF-8, and if not, what stands in its place. */
#include "daemon/sources/utf8.h"

#define ASCII_MASK UINT64_C(0x8080808080808080)

/* Bytes of a character that begins so, and the range of its second byte; length 0: none begins so.
 */
static size_t shape(uint8_t first, uint8_t *low, uint8_t *high)
{
	*low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	*high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* How many of the n > 0 bytes begin a character rightly; *length is that of the character. */
static size_t good_bytes(const uint8_t *at, size_t n, size_t *length)
{
	uint8_t low, high;
	size_t i = 1;

	*length = shape(at[0], &low, &high);
	if (*length == 0)
		return 0;
	for (; i < *length && i < n; i++) {
		if (at[i] < low || at[i] > high)
			break;
		low = 0x80;
		high = 0xbf;
	}
	return i;
}

static size_t skip_ascii(const uint8_t *at, size_t from, size_t n)
{
	uint64_t word;

	for (; n - from >= sizeof(word); from += sizeof(word)) {
		memcpy(&word, at + from, sizeof(word));
		if (word & ASCII_MASK)
			break;
	}
	while (from < n && at[from] < 0x80)
		from++;
	return from;
}

size_t pl_utf8_check(const void *text, size_t n)
{
	const uint8_t *at = text;
	size_t i = skip_ascii(at, 0, n);

	while (i < n) {
		size_t length;

		if (good_bytes(at + i, n - i, &length) < length || length == 0)
			return i;
		i += length;
		if (i < n && at[i] < 0x80)
			i = skip_ascii(at, i, n);
	}
	return n;
}

const char *pl_utf8_fault(const void *text, size_t n)
{
	const uint8_t *at = text;
	size_t length;

	if (n == 0)
		return "nothing";
	if ((at[0] & 0xc0) == 0x80)
		return "a byte that continues no character";
	if (at[0] == 0xc0 || at[0] == 0xc1)
		return "an overlong form";
	if (at[0] > 0xf4)
		return "a byte that UTF-8 never has";
	good_bytes(at, n, &length);
	if (n > 1 && length > 1 && (at[1] & 0xc0) == 0x80) {
		if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90))
			return "an overlong form";
		if (at[0] == 0xed && at[1] > 0x9f)
			return "a surrogate";
		if (at[0] == 0xf4 && at[1] > 0x8f)
			return "a code point above U+10FFFF";
	}
	return "a character that is cut";
}

size_t pl_utf8_replace(const void *text, size_t n, char *out)
{
	const uint8_t *at = text;
	size_t used = 0;

	for (size_t i = 0; i < n;) {
		size_t length;
		size_t good = good_bytes(at + i, n - i, &length);

		if (length && good == length) {
			memcpy(out + used, at + i, length);
			used += length;
		} else {
			used += pl_utf8_put(out + used, 0xfffd);
		}
		i += good ? good : 1;
	}
	return used;
}

size_t pl_utf8_put(char *out, uint32_t point)
{
	if (point < 0x80) {
		out[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		out[0] = (char)(0xc0 | point >> 6);
		out[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		out[0] = (char)(0xe0 | point >> 12);
		out[1] = (char)(0x80 | (point >> 6 & 0x3f));
		out[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | point >> 18);
	out[1] = (char)(0x80 | (point >> 12 & 0x3f));
	out[2] = (char)(0x80 | (point >> 6 & 0x3f));
	out[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}
