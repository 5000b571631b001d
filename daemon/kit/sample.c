/* daemon/kit/sample.c - memory that lives until the next sample. */
#include "daemon/kit/sample.h"

/*
 * Chunks grow: a new one is at least twice the largest before it, so that after a few samples one
 * chunk holds a whole sample and nothing is allocated any more. Under AddressSanitizer everything
 * not handed out is poisoned, with a gap of one alignment unit between neighbours.
 */
#define SCRATCH_ALIGN 64
#define SCRATCH_FIRST ((size_t)64 << 10)

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define SCRATCH_GAP SCRATCH_ALIGN
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define SCRATCH_GAP                       0
#endif

struct pl_scratch_chunk {
	struct pl_scratch_chunk *next;
	size_t size; /* of data */
	size_t used; /* a multiple of SCRATCH_ALIGN */
	_Alignas(SCRATCH_ALIGN) unsigned char data[];
};

void pl_scratch_init(struct pl_scratch *s, size_t limit)
{
	*s = (struct pl_scratch){.limit = limit};
}

static void chunk_free(struct pl_scratch_chunk *chunk)
{
	ASAN_UNPOISON_MEMORY_REGION(chunk->data, chunk->size);
	free(chunk);
}

static void chunks_free(struct pl_scratch_chunk *chunk)
{
	while (chunk) {
		struct pl_scratch_chunk *next = chunk->next;

		chunk_free(chunk);
		chunk = next;
	}
}

void pl_scratch_finish(struct pl_scratch *s)
{
	if (!s)
		return;
	chunks_free(s->chunks);
	chunks_free(s->spare);
	s->chunks = NULL;
	s->spare = NULL;
	s->taken = 0;
}

static struct pl_scratch_chunk *chunk_create(const struct pl_scratch *s, size_t n)
{
	size_t size = s->chunks ? s->chunks->size : SCRATCH_FIRST / 2;
	struct pl_scratch_chunk *chunk;

	if (__builtin_mul_overflow(size, 2, &size) || size > s->limit)
		size = s->limit;
	size = pl_align_up(pl_max_u64(size, n), SCRATCH_ALIGN);
	chunk = aligned_alloc(SCRATCH_ALIGN, sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->used = 0;
	ASAN_POISON_MEMORY_REGION(chunk->data, size);
	return chunk;
}

/* A chunk with room for n, put first: the spare one when it is large enough, else a new one. */
static struct pl_scratch_chunk *chunk_begin(struct pl_scratch *s, size_t n)
{
	struct pl_scratch_chunk *chunk = s->spare;

	if (chunk && chunk->size >= n)
		s->spare = chunk->next;
	else
		chunk = chunk_create(s, n);
	if (!chunk)
		return NULL;
	chunk->next = s->chunks;
	s->chunks = chunk;
	return chunk;
}

void *pl_scratch_alloc(struct pl_scratch *s, size_t n)
{
	struct pl_scratch_chunk *chunk = s->chunks;
	size_t room;
	void *data;

	if (n > s->limit - s->taken || n > SIZE_MAX / 2)
		return NULL;
	room = pl_align_up(pl_max_u64(n, 1) + SCRATCH_GAP, SCRATCH_ALIGN);
	if (!chunk || room > chunk->size - chunk->used)
		chunk = chunk_begin(s, room);
	if (!chunk)
		return NULL;
	data = chunk->data + chunk->used;
	chunk->used += room;
	s->taken += n;
	ASAN_UNPOISON_MEMORY_REGION(data, n);
	return data;
}

void pl_scratch_reset(struct pl_scratch *s)
{
	struct pl_scratch_chunk *largest = s->spare;
	struct pl_scratch_chunk *chunk;

	while ((chunk = s->chunks)) {
		s->chunks = chunk->next;
		if (largest && largest->size >= chunk->size) {
			chunk_free(chunk);
			continue;
		}
		if (largest)
			chunk_free(largest);
		largest = chunk;
	}
	if (largest) {
		largest->next = NULL;
		largest->used = 0;
		ASAN_POISON_MEMORY_REGION(largest->data, largest->size);
	}
	s->spare = largest;
	s->notes = NULL;
	s->taken = 0;
}

void *pl_sample_alloc(struct pl_sample *s, int field, size_t n)
{
	return n > 0 && n <= s->room[field].bytes ? s->room[field].data
						  : pl_scratch_alloc(s->scratch, n);
}

static bool is_alike(const struct pl_tensor *a, const struct pl_tensor *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
	       memcmp(a->shape, b->shape, (size_t)a->rank * sizeof(a->shape[0])) == 0;
}

void *pl_sample_place(struct pl_sample *s, int field, const struct pl_tensor *value)
{
	const struct pl_tensor *row = &s->row[field];

	if (row->data && s->source_rows >> field & 1 && is_alike(row, value) &&
		pl_tensor_is_contiguous(row))
		return row->data;
	return pl_sample_alloc(s, field, (size_t)pl_tensor_bytes(value));
}
