/* client/batch.c - the views of one batch, checked, and giving it back. */
#include "client/room.h"

#include <errno.h>

/* The offsets of a ragged field: inside the arena, never falling, never beyond the values. */
static bool are_offsets(const int64_t *offsets, uint64_t size, int64_t n_values)
{
	int64_t last = 0;

	for (uint64_t i = 0; i <= size; i++) {
		if (offsets[i] < last)
			return false;
		last = offsets[i];
	}
	return last <= n_values;
}

/* 0, or -EPROTO: the view does not lie in the arena, or isn't what the schema says. */
static int fill_view(struct pl_batch *batch, size_t i, const struct pl_wire_view *from)
{
	const struct pl_field *field = &batch->link->schema.field[i];
	struct pl_tensor *t = &batch->view[i].tensor;
	size_t size = pl_dtype_size((enum pl_dtype)from->dtype);
	uint64_t n_offsets;
	const int64_t *offsets;

	if ((enum pl_dtype)from->dtype != field->dtype ||
		!pl_arena_at(batch->arena, from->offset, 0, size))
		return -EPROTO;
	t->data = (void *)(uintptr_t)(batch->arena->base + from->offset);
	t->dtype = field->dtype;
	t->rank = from->rank;
	for (int d = 0; d < from->rank; d++) {
		t->shape[d] = from->shape[d];
		t->stride[d] = from->stride[d];
		if (t->stride[d] % (int64_t)size)
			return -EPROTO;
	}
	batch->view[i].offsets = NULL;
	if (pl_tensor_check(t, batch->arena->base, batch->arena->bytes))
		return -EPROTO;
	if (!field->is_ragged)
		return 0;
	if (t->rank == 0 || batch->size >= SIZE_MAX / sizeof(int64_t) - 1)
		return -EPROTO;
	n_offsets = batch->size + 1;
	offsets = pl_arena_at(
		batch->arena, from->offsets_offset, n_offsets * sizeof(int64_t), _Alignof(int64_t));
	if (!offsets || !are_offsets(offsets, batch->size, t->shape[0]))
		return -EPROTO;
	batch->view[i].offsets = offsets;
	return 0;
}

static int fill_views(
	struct pl_batch *batch, const struct pl_wire_batch *from, struct pl_error *error)
{
	const struct pl_schema *schema = &batch->link->schema;

	if ((size_t)from->n_views != schema->n)
		return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"batch %llu of epoch %llu has %d fields, the schema %zu",
			(unsigned long long)from->number, (unsigned long long)from->epoch,
			from->n_views, schema->n);
	for (size_t i = 0; i < schema->n; i++)
		if (fill_view(batch, i, &from->view[i]))
			return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
				"field '%s' of batch %llu of epoch %llu does not lie in the "
				"daemon's arena",
				schema->field[i].name, (unsigned long long)from->number,
				(unsigned long long)from->epoch);
	return 0;
}

int pl_batch_fill(struct pl_batch *batch, const struct pl_wire_batch *from, struct pl_error *error)
{
	batch->release =
		(struct pl_wire_release){from->slot, from->generation, from->number, from->epoch};
	batch->size = from->size;
	batch->bad = from->bad;
	batch->is_last = from->is_last;
	batch->after = from->after;
	batch->indices = NULL;
	if (from->index_offset) {
		if (batch->size > SIZE_MAX / sizeof(uint64_t))
			return pl_error_set(
				error, -EPROTO, PL_EXIT_FAILED, "a batch of absurd size");
		batch->indices = pl_arena_at(batch->arena, from->index_offset,
			batch->size * sizeof(uint64_t), _Alignof(uint64_t));
		if (!batch->indices)
			return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
				"the record numbers of batch %llu do not lie in the daemon's arena",
				(unsigned long long)from->number);
	}
	return fill_views(batch, from, error);
}

/* True when the daemon gave the slot to somebody else while it was lent. */
static bool is_stale(const struct pl_batch *batch)
{
	return batch->generation &&
	       __atomic_load_n(batch->generation, __ATOMIC_ACQUIRE) != batch->release.generation;
}

PL_EXPORT int pl_batch_release(const struct pl_batch *given)
{
	struct pl_batch *batch = (struct pl_batch *)(uintptr_t)given;
	struct pl_arena *arena;
	bool is_lost;

	if (!batch || !pl_link_is_ours(batch->link))
		return 0; /* a forked child's finalizer must not give back what its parent still
			     reads */
	arena = batch->arena;
	is_lost = is_stale(batch);
	batch->arena = NULL;
	batch->generation = NULL;
	pl_link_return(batch->link, batch, is_lost);
	pl_arena_release(arena);
	return is_lost ? -ESTALE : 0;
}

PL_EXPORT uint64_t pl_batch_epoch(const struct pl_batch *batch)
{
	return batch->release.epoch;
}

PL_EXPORT uint64_t pl_batch_number(const struct pl_batch *batch)
{
	return batch->release.number;
}

PL_EXPORT uint64_t pl_batch_size(const struct pl_batch *batch)
{
	return batch->size;
}

PL_EXPORT bool pl_batch_is_last(const struct pl_batch *batch)
{
	return batch->is_last;
}

PL_EXPORT uint64_t pl_batch_bad(const struct pl_batch *batch)
{
	return batch->bad;
}

PL_EXPORT const struct pl_tensor *pl_batch_tensor_at(const struct pl_batch *batch, size_t i)
{
	return i < batch->link->schema.n ? &batch->view[i].tensor : NULL;
}

PL_EXPORT const struct pl_tensor *pl_batch_tensor(const struct pl_batch *batch, const char *field)
{
	const struct pl_schema *schema = &batch->link->schema;

	for (size_t i = 0; i < schema->n; i++)
		if (strcmp(schema->field[i].name, field) == 0)
			return &batch->view[i].tensor;
	return NULL;
}

PL_EXPORT const int64_t *pl_batch_offsets(const struct pl_batch *batch, size_t i)
{
	return i < batch->link->schema.n ? batch->view[i].offsets : NULL;
}

PL_EXPORT const uint64_t *pl_batch_indices(const struct pl_batch *batch)
{
	return batch->indices;
}
