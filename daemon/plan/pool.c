/* daemon/plan/pool.c - memory that lives as long as one plan: nothing in it is freed alone. */
#include "daemon/plan/pool.h"

#include <stdarg.h>
#include <stdio.h>

#define POOL_CHUNK ((size_t)32 << 10)

struct pl_pool_chunk {
	struct pl_pool_chunk *next;
	size_t size;
	size_t used;
	_Alignas(16) unsigned char data[];
};

void pl_pool_finish(struct pl_pool *pool)
{
	while (pool && pool->chunks) {
		struct pl_pool_chunk *next = pool->chunks->next;

		free(pool->chunks);
		pool->chunks = next;
	}
}

static struct pl_pool_chunk *chunk_create(struct pl_pool *pool, size_t n)
{
	size_t size = n > POOL_CHUNK ? n : POOL_CHUNK;
	struct pl_pool_chunk *chunk;

	if (size > SIZE_MAX - sizeof(*chunk))
		return NULL;
	chunk = calloc(1, sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->next = pool->chunks;
	pool->chunks = chunk;
	return chunk;
}

void *pl_pool_alloc(struct pl_pool *pool, size_t n)
{
	struct pl_pool_chunk *chunk = pool->chunks;
	void *data;

	if (n > SIZE_MAX / 2)
		return NULL;
	n = pl_align_up(pl_max_u64(n, 1), 16);
	if (!chunk || n > chunk->size - chunk->used)
		chunk = chunk_create(pool, n);
	if (!chunk)
		return NULL;
	data = chunk->data + chunk->used;
	chunk->used += n;
	return data;
}

void *pl_pool_array(struct pl_pool *pool, size_t n, size_t size)
{
	size_t bytes;

	return pl_size_mul(n, size, &bytes) ? pl_pool_alloc(pool, bytes) : NULL;
}

char *pl_pool_text(struct pl_pool *pool, const char *text, size_t n)
{
	char *copy = n < SIZE_MAX ? pl_pool_alloc(pool, n + 1) : NULL;

	if (copy)
		memcpy(copy, text, n);
	return copy;
}

char *pl_pool_format(struct pl_pool *pool, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	text = pl_pool_alloc(pool, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)n + 1, format, args);
	va_end(args);
	return text;
}
