/* proto/bump.c - a small heap for one message, on the stack, that forgets everything at once. */
#include "proto/bump.h"

struct pl_bump_block {
	struct pl_bump_block *next;
	size_t n;
};

void pl_bump_init(struct pl_bump *bump)
{
	bump->used = 0;
	bump->total = 0;
	bump->more = NULL;
}

void *pl_bump_alloc(void *data, size_t n)
{
	struct pl_bump *bump = data;
	size_t need = (sizeof(struct pl_bump_block) + n + 15) & ~(size_t)15;
	struct pl_bump_block *block;

	if (n > PL_BUMP_MAX_BYTES || bump->total + need > PL_BUMP_MAX_BYTES)
		return NULL;
	if (need <= sizeof(bump->first) - bump->used) {
		block = (struct pl_bump_block *)(void *)(bump->first + bump->used);
		bump->used += need;
	} else {
		block = malloc(need);
		if (!block)
			return NULL;
		block->next = bump->more;
		bump->more = block;
	}
	bump->total += need;
	block->n = n;
	return block + 1;
}

size_t pl_bump_size(const void *memory)
{
	return ((const struct pl_bump_block *)memory)[-1].n;
}

void pl_bump_finish(struct pl_bump *bump)
{
	while (bump->more) {
		struct pl_bump_block *next = bump->more->next;

		free(bump->more);
		bump->more = next;
	}
}
