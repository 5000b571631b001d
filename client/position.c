/* client/position.c - which batch is due, and the token behind the last one handed out. */
#include "client/room.h"

#include <errno.h>

/*
 * `after` of a Batch is what a client that has this batch resumes with: behind it in private and
 * broadcast, the start of the next round in split, the lowest batch that is not done in share.
 * Share adds a bitmap of what this client was handed at and behind that batch.
 */
#define DONE_BITS (8 * sizeof(((struct pl_token *)0)->done))

int pl_cursor_start(
	struct pl_cursor *cursor, const struct pl_wire_welcome *welcome, struct pl_error *error)
{
	struct pl_err err = {0};
	struct pl_token token;

	if (cursor->has_moved) { /* a reconnect: the position is ours, and the daemon must go on
				    there */
		cursor->due = cursor->token.at;
		return 0;
	}
	if (cursor->opened_bytes == 0) {
		memcpy(cursor->opened, welcome->token, welcome->token_bytes);
		cursor->opened_bytes = welcome->token_bytes;
	}
	if (pl_token_unpack(&token, cursor->opened, cursor->opened_bytes, &err))
		return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"this stream has no position to start at: %s", err.text);
	cursor->due = token.at;
	cursor->token.at = token.at;
	memcpy(cursor->token.fingerprint, welcome->fingerprint, PL_FINGERPRINT_BYTES);
	cursor->token.n_done = token.n_done;
	memcpy(cursor->token.done, token.done, sizeof(token.done));
	return 0;
}

/* Epochs whose length isn't known in advance end when a batch 0 of a later one comes. */
static bool is_due(const struct pl_wire_position *due, uint64_t epoch, uint64_t number)
{
	if (epoch == due->epoch)
		return number == due->number;
	return epoch > due->epoch && number == 0;
}

static bool is_expected(const struct pl_cursor *cursor, const struct pl_wire_batch *batch)
{
	const struct pl_wire_position *due = &cursor->due;

	switch (cursor->token.mode) {
	case PL_PRIVATE:
		return is_due(due, batch->epoch, batch->number);
	case PL_BROADCAST:
		return batch->skipped <= batch->number &&
		       is_due(due, batch->epoch, batch->number - batch->skipped);
	case PL_SPLIT:
		return batch->is_repeated ||
		       (batch->number >= cursor->rank &&
			       is_due(due, batch->epoch, batch->number - cursor->rank));
	case PL_SHARE:
		return batch->epoch > due->epoch ||
		       (batch->epoch == due->epoch && batch->number >= due->number);
	}
	return false;
}

int pl_cursor_expect(
	struct pl_cursor *cursor, const struct pl_wire_batch *batch, struct pl_error *error)
{
	if (!is_expected(cursor, batch))
		return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"the daemon sent batch %llu of epoch %llu where %llu of epoch %llu was due",
			(unsigned long long)batch->number, (unsigned long long)batch->epoch,
			(unsigned long long)cursor->due.number,
			(unsigned long long)cursor->due.epoch);
	cursor->due = batch->after;
	return 0;
}

/* Moves the bitmap so that its bit 0 is batch `to`. */
static void shift_done(struct pl_token *token, const struct pl_wire_position *to)
{
	uint8_t old[sizeof(token->done)];
	uint64_t by = to->number - token->at.number;

	memcpy(old, token->done, sizeof(old));
	memset(token->done, 0, sizeof(token->done));
	if (to->epoch != token->at.epoch || to->number < token->at.number || by >= DONE_BITS) {
		token->n_done = 0;
		return;
	}
	for (size_t i = 0; i + by < DONE_BITS; i++)
		if (old[(i + by) / 8] & (1u << ((i + by) % 8)))
			token->done[i / 8] |= (uint8_t)(1u << (i % 8));
	token->n_done = token->n_done > by ? token->n_done - (uint32_t)by : 0;
}

static void mark_done(struct pl_token *token, uint64_t epoch, uint64_t number)
{
	uint64_t bit = number - token->at.number;

	if (epoch != token->at.epoch || number < token->at.number || bit >= DONE_BITS)
		return;
	token->done[bit / 8] |= (uint8_t)(1u << (bit % 8));
	if (token->n_done <= bit)
		token->n_done = (uint32_t)bit + 1;
}

void pl_cursor_hand(struct pl_cursor *cursor, const struct pl_batch *batch)
{
	if (cursor->token.mode == PL_SHARE) {
		shift_done(&cursor->token, &batch->after);
		cursor->token.at = batch->after;
		mark_done(&cursor->token, batch->release.epoch, batch->release.number);
	} else {
		cursor->token.at = batch->after;
	}
	cursor->has_moved = true;
}

size_t pl_cursor_token(const struct pl_cursor *cursor, uint8_t out[PL_WIRE_TOKEN_MAX])
{
	if (cursor->has_moved)
		return pl_token_pack(&cursor->token, out);
	memcpy(out, cursor->opened, cursor->opened_bytes);
	return cursor->opened_bytes;
}
