/* proto/bump.h - a small heap for one message, on the stack, that forgets everything at once. */
#pragma once

#include "proto/base.h"

#define PL_BUMP_FIRST_BYTES 16384
#define PL_BUMP_MAX_BYTES   (1u << 20)

struct pl_bump {
	size_t used;
	size_t total;
	struct pl_bump_block *more; /* what did not fit into `first`, from malloc */
	_Alignas(16) uint8_t first[PL_BUMP_FIRST_BYTES];
};

void pl_bump_init(struct pl_bump *bump);

/* Memory for n bytes until pl_bump_finish; NULL when PL_BUMP_MAX_BYTES are used up. `data` is the
 * pl_bump. */
void *pl_bump_alloc(void *data, size_t n);

/* The n that was asked for when pl_bump_alloc returned this. */
size_t pl_bump_size(const void *memory);

void pl_bump_finish(struct pl_bump *bump);
