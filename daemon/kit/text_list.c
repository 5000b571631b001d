/* daemon/kit/text_list.c - a list of texts as one value: u8 [n], kind list. */
#include "daemon/kit/text_list.h"

#include <errno.h>

#define WORD sizeof(uint32_t)

static uint32_t word_at(const void *list, size_t i)
{
	uint32_t word;

	memcpy(&word, (const char *)list + i * WORD, sizeof(word));
	return word;
}

/* Where text i ends, counted from the first text's first byte; text -1 ends at 0. */
static uint32_t end_of(const void *list, int64_t i)
{
	return i < 0 ? 0 : word_at(list, (size_t)i + 1);
}

/* Bytes before the first text. */
static size_t head_bytes(size_t n)
{
	return (n + 1) * WORD;
}

size_t pl_text_list_bytes(size_t n, size_t bytes)
{
	if (n >= UINT32_MAX / WORD || bytes > UINT32_MAX - head_bytes(n))
		return 0;
	return head_bytes(n) + bytes;
}

void pl_text_list_begin(void *list, uint32_t n)
{
	memcpy(list, &n, sizeof(n));
}

void pl_text_list_put(void *list, uint32_t i, const void *text, size_t bytes)
{
	uint32_t from = end_of(list, (int64_t)i - 1);
	uint32_t end = from + (uint32_t)bytes;

	memcpy((char *)list + ((size_t)i + 1) * WORD, &end, sizeof(end));
	if (bytes)
		memcpy((char *)list + head_bytes(word_at(list, 0)) + from, text, bytes);
}

int64_t pl_text_list_count(const void *list, size_t bytes)
{
	uint32_t end = 0;
	uint32_t n;

	if (bytes < WORD)
		return -EINVAL;
	n = word_at(list, 0);
	if (n > (bytes - WORD) / WORD)
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		if (end_of(list, i) < end)
			return -EINVAL;
		end = end_of(list, i);
	}
	return end == bytes - head_bytes(n) ? (int64_t)n : -EINVAL;
}

const char *pl_text_list_at(const void *list, uint32_t i, size_t *bytes)
{
	uint32_t from = end_of(list, (int64_t)i - 1);

	*bytes = end_of(list, i) - from;
	return (const char *)list + head_bytes(word_at(list, 0)) + from;
}
