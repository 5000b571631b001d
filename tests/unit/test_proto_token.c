/* tests/unit/test_proto_token.c - resume tokens: round trip, cuts and damage. */
#include "proto/wire.h"

#include <criterion/criterion.h>
#include <errno.h>

static struct pl_token example(uint32_t n_done)
{
	struct pl_token t = {
		.mode = n_done ? PL_SHARE : PL_SPLIT, .world_size = 8, .n_done = n_done};

	for (size_t i = 0; i < sizeof(t.fingerprint); i++)
		t.fingerprint[i] = (uint8_t)(i * 11);
	t.at = (struct pl_wire_position){1, UINT64_MAX, 3, 4, 5};
	for (uint32_t i = 0; i < n_done; i += 3)
		t.done[i / 8] |= (uint8_t)(1u << (i % 8));
	return t;
}

Test(token, load_of_save_is_the_identity)
{
	static const uint32_t sizes[] = {0, 1, 8, 9, 1024};
	uint8_t bytes[PL_WIRE_TOKEN_MAX];
	uint8_t again[PL_WIRE_TOKEN_MAX];

	for (size_t i = 0; i < PL_ARRAY_LEN(sizes); i++) {
		struct pl_token t = example(sizes[i]);
		struct pl_token back;
		size_t n = pl_token_pack(&t, bytes);

		cr_assert_geq(n, 72);
		cr_assert_leq(n, PL_WIRE_TOKEN_MAX);
		cr_assert_eq(pl_token_unpack(&back, bytes, n, NULL), 0);
		cr_assert_eq(back.mode, t.mode);
		cr_assert_eq(back.world_size, t.world_size);
		cr_assert_eq(memcmp(&back.at, &t.at, sizeof(t.at)), 0);
		cr_assert_eq(memcmp(back.fingerprint, t.fingerprint, sizeof(t.fingerprint)), 0);
		cr_assert_eq(back.n_done, t.n_done);
		cr_assert_eq(memcmp(back.done, t.done, sizeof(t.done)), 0);
		cr_assert_eq(pl_token_pack(&back, again), n);
		cr_assert_eq(memcmp(bytes, again, n), 0);
	}
}

Test(token, any_cut_and_any_changed_byte_is_refused)
{
	struct pl_token t = example(20);
	uint8_t bytes[PL_WIRE_TOKEN_MAX];
	size_t n = pl_token_pack(&t, bytes);
	struct pl_err err = {0};

	for (size_t cut = 0; cut < n; cut++)
		cr_assert_eq(pl_token_unpack(&t, bytes, cut, &err), -EBADMSG);
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= 0x40;
		cr_assert_eq(pl_token_unpack(&t, bytes, n, &err), -EBADMSG);
		cr_assert_neq(err.text[0], '\0');
		bytes[i] ^= 0x40;
	}
	cr_assert_eq(pl_token_unpack(&t, bytes, n + 1, &err), -EBADMSG);
	cr_assert_eq(pl_token_unpack(&t, bytes, n, &err), 0);
}
