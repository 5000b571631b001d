/* daemon/plan/pool.h - memory that lives as long as one plan: nothing in it is freed alone. */
#pragma once

#include "proto/base.h"

struct pl_pool_chunk;

struct pl_pool {
	struct pl_pool_chunk *chunks;
};

void pl_pool_finish(struct pl_pool *pool);

/* Cleared, 16-byte aligned; NULL when memory is out. n = 0 gives a valid pointer. */
void *pl_pool_alloc(struct pl_pool *pool, size_t n);

/* An array of n elements, cleared; NULL on overflow too. */
void *pl_pool_array(struct pl_pool *pool, size_t n, size_t size);

/* A copy of n bytes of text, terminated; NULL when memory is out. */
char *pl_pool_text(struct pl_pool *pool, const char *text, size_t n);

/* A formatted text; NULL when memory is out. */
char *pl_pool_format(struct pl_pool *pool, const char *format, ...) PL_PRINTF(2, 3);
