/* tests/unit/test_client_position.c - which batch is due and what the token says, in each mode. */
#include "client/room.h"

#include <criterion/criterion.h>
#include <errno.h>

static struct pl_cursor cursor;
static struct pl_error error;

static void start(enum pl_mode mode, uint32_t rank, uint32_t world, uint64_t number)
{
	static struct pl_wire_welcome welcome;
	struct pl_token token = {.mode = mode, .world_size = world, .at = {.number = number}};

	memset(&cursor, 0, sizeof(cursor));
	cursor.rank = rank;
	cursor.token.mode = mode;
	cursor.token.world_size = world;
	welcome.token_bytes = pl_token_pack(&token, welcome.token);
	memset(welcome.fingerprint, 3, sizeof(welcome.fingerprint));
	cr_assert_eq(pl_cursor_start(&cursor, &welcome, &error), 0);
}

/* Receives and hands out a batch. */
static int take(struct pl_wire_batch from)
{
	struct pl_batch batch = {
		.release = {.epoch = from.epoch, .number = from.number}, .after = from.after};
	int r = pl_cursor_expect(&cursor, &from, &error);

	if (r == 0)
		pl_cursor_hand(&cursor, &batch);
	return r;
}

static struct pl_token token(void)
{
	uint8_t bytes[PL_WIRE_TOKEN_MAX];
	size_t n = pl_cursor_token(&cursor, bytes);
	struct pl_token t;

	cr_assert_eq(pl_token_unpack(&t, bytes, n, NULL), 0);
	return t;
}

/* Batch n of epoch e, behind which the position is (e2, n2). */
#define BATCH(e, n, e2, n2)                                                                        \
	((struct pl_wire_batch){                                                                   \
		.epoch = (e), .number = (n), .after = {.epoch = (e2), .number = (n2)}})

Test(position, private_takes_one_after_the_other)
{
	struct pl_wire_batch b = BATCH(0, 5, 0, 6);

	start(PL_PRIVATE, 0, 0, 5);
	cr_assert_eq(token().at.number, 5);
	cr_assert_eq(take(BATCH(0, 4, 0, 5)), -EPROTO);
	b.after = (struct pl_wire_position){0, 6, 60, 1, 2};
	cr_assert_eq(take(b), 0);
	cr_assert_eq(take(BATCH(0, 5, 0, 6)), -EPROTO);
	cr_assert(token().at.record == 60 && token().at.discard == 1 && token().at.bad == 2);
	cr_assert_eq(token().fingerprint[0], 3);
	cr_assert_eq(take(BATCH(1, 0, 1, 1)), 0, "an epoch of unknown length has ended");
	cr_assert_eq(take(BATCH(1, 1, 2, 0)), 0);
	cr_assert_eq(take(BATCH(1, 2, 1, 3)), -EPROTO);
	cr_assert_eq(take(BATCH(2, 0, 2, 1)), 0);
}

Test(position, broadcast_may_skip_what_it_says)
{
	struct pl_wire_batch b = BATCH(0, 3, 0, 4);

	start(PL_BROADCAST, 0, 0, 0);
	cr_assert_eq(take(b), -EPROTO);
	b.skipped = 3;
	cr_assert_eq(take(b), 0);
	b.skipped = 5;
	cr_assert_eq(take(b), -EPROTO);
}

Test(position, split_takes_its_place_in_each_round)
{
	struct pl_wire_batch b = BATCH(0, 1, 1, 0);

	start(PL_SPLIT, 2, 4, 4);
	cr_assert_eq(take(BATCH(0, 5, 0, 8)), -EPROTO);
	cr_assert_eq(take(BATCH(0, 6, 0, 8)), 0);
	cr_assert_eq(token().at.number, 8);
	cr_assert_eq(token().world_size, 4);
	cr_assert_eq(take(BATCH(0, 10, 0, 12)), 0);
	b.is_repeated = true;
	cr_assert_eq(take(b), 0);
	cr_assert_eq(take(BATCH(1, 2, 1, 4)), 0);
}

Test(position, share_remembers_what_it_was_handed)
{
	start(PL_SHARE, 0, 0, 0);
	cr_assert_eq(take(BATCH(0, 3, 0, 0)), 0);
	cr_assert_eq(take(BATCH(0, 9, 0, 2)), 0);
	cr_assert_eq(token().at.number, 2);
	cr_assert_eq(token().n_done, 8);
	cr_assert_eq(token().done[0], 1u << 1 | 1u << 7);
	cr_assert_eq(take(BATCH(0, 1, 0, 2)), -EPROTO, "behind the base");
	cr_assert_eq(take(BATCH(0, 2000, 0, 1500)), 0);
	cr_assert_eq(token().n_done, 501);
	cr_assert_eq(token().done[0], 0);
	cr_assert_eq(take(BATCH(1, 0, 1, 0)), 0);
	cr_assert(token().at.epoch == 1 && token().n_done == 1 && token().done[0] == 1);
}

Test(position, the_opening_token_is_given_back_byte_for_byte)
{
	struct pl_token t = {.mode = PL_PRIVATE, .at = {.number = 9}, .fingerprint = {1, 2, 3}};
	static struct pl_wire_welcome welcome;
	uint8_t given[PL_WIRE_TOKEN_MAX];
	uint8_t back[PL_WIRE_TOKEN_MAX];
	size_t n = pl_token_pack(&t, given);

	memset(&cursor, 0, sizeof(cursor));
	memcpy(cursor.opened, given, n);
	cursor.opened_bytes = n;
	cr_assert_eq(pl_cursor_start(&cursor, &welcome, &error), 0);
	cr_assert_eq(pl_cursor_token(&cursor, back), n);
	cr_assert_eq(memcmp(given, back, n), 0);
	cr_assert_eq(cursor.due.number, 9);
	cursor.opened_bytes = 5;
	cr_assert_eq(pl_cursor_start(&cursor, &welcome, &error), -EPROTO);
}
