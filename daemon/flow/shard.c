/* daemon/flow/shard.c - the shard table: what is in flight, in which order, and where its records
 * go. */
#include "daemon/flow/flow.h"

#include <errno.h>

static int grow(struct pl_shard *s, uint32_t room)
{
	uint64_t *index = realloc(s->index, room * sizeof(*index));
	uint32_t *cell;
	uint8_t *outcome;

	if (index)
		s->index = index;
	cell = realloc(s->cell, room * sizeof(*cell));
	if (cell)
		s->cell = cell;
	outcome = realloc(s->outcome, room);
	if (outcome)
		s->outcome = outcome;
	if (!index || !cell || !outcome)
		return -ENOMEM;
	s->room = room;
	return 0;
}

static void destroy(struct pl_shard *s)
{
	free(s->index);
	free(s->cell);
	free(s->outcome);
	free(s->skip);
	free(s->blame);
	free(s->result);
	free(s->fatal);
	free(s->blame_text);
	free(s);
}

struct pl_shard *pl_shard_acquire(struct pl_flow *f, uint32_t room)
{
	struct pl_shard *s = f->free_shards;

	if (s)
		f->free_shards = s->next;
	else
		s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	if (s->room < room && grow(s, room) < 0) {
		destroy(s);
		return NULL;
	}
	*s = (struct pl_shard){
		.id = f->next_shard_id++,
		.is_range = true,
		.room = s->room,
		.index = s->index,
		.cell = s->cell,
		.outcome = s->outcome,
		.result = s->result,
		.result_room = s->result_room,
	};
	return s;
}

void pl_shard_release(struct pl_flow *f, struct pl_shard *s)
{
	free(s->skip);
	free(s->blame);
	free(s->fatal);
	free(s->blame_text);
	s->blame_text = NULL;
	s->skip = NULL;
	s->blame = NULL;
	s->fatal = NULL;
	s->next = f->free_shards;
	f->free_shards = s;
}

uint64_t pl_shard_index(const struct pl_shard *s, uint32_t i)
{
	return s->is_range ? s->first + i : s->index[i];
}

void pl_shard_link(struct pl_stream *stream, struct pl_shard *s)
{
	s->next = NULL;
	if (stream->last_shard)
		stream->last_shard->next = s;
	else
		stream->first_shard = s;
	stream->last_shard = s;
}

void pl_shard_discard(struct pl_flow *f, struct pl_shard *s)
{
	for (uint32_t i = 0; i < s->n_extents; i++)
		pl_slot_unref(&f->slots, s->extent[i].slot);
	if (s->has_cells)
		for (uint32_t i = s->gathered; i < s->n; i++)
			if (s->cell[i] != PL_NO_CELL)
				pl_cell_release(&f->slots, s->cell[i]);
	pl_shard_release(f, s);
}

int pl_shard_flags(const struct pl_shard *s, uint8_t **flags)
{
	if (!*flags)
		*flags = calloc(s->n, 1);
	return *flags ? 0 : -ENOMEM;
}

int pl_shard_send(struct pl_flow *f, struct pl_shard *s, uint32_t worker)
{
	struct pl_shard_message head = {
		.kind = PL_MESSAGE_SHARD,
		.n = s->n,
		.shard = s->id,
		.seed = f->plan->seed,
		.epoch = s->lap->epoch,
		.index_form = s->is_range ? PL_INDEX_RANGE : PL_INDEX_LIST,
		.first = s->first,
		.n_extents = s->n_extents,
		.has_cells = s->has_cells,
		.has_skips = s->skip != NULL,
		.wants_trace = s->wants_trace,
	};
	struct pl_hand *hand = &f->hand[worker];
	int r;

	memcpy(head.extent, s->extent, sizeof(head.extent));
	f->message.used = 0;
	if (pl_message_append(&f->message, &head, sizeof(head)) ||
		(!s->is_range &&
			pl_message_append(&f->message, s->index, s->n * sizeof(*s->index))) ||
		(s->has_cells &&
			pl_message_append(&f->message, s->cell, s->n * sizeof(*s->cell))) ||
		(s->skip && pl_message_append(&f->message, s->skip, s->n)))
		return -ENOMEM;
	r = f->send(f, worker, hand->generation, f->message.data, f->message.used);
	/* A worker that can't be reached is dead or dying: the shard stays its own until the
	 * supervisor says "reaped". */
	if (r < 0 && r != -EHOSTUNREACH)
		return r;
	s->state = PL_SHARD_DEALT;
	s->sibling = hand->out;
	hand->out = s;
	if (hand->n_out++ == 0)
		hand->heard_ns = pl_now_coarse_ns();
	f->progress->shards_dealt++;
	return 0;
}
