/* tests/unit/test_client_reconnect.c - a daemon that goes and comes back. */
#include "fake_daemon.h"

#include <criterion/criterion.h>

static struct pl_error error;
static const struct pl_batch *batch;

static const char *complaint;

static const char *complaint_of(struct fake *fake)
{
	complaint = fake_finish(fake);
	return complaint;
}

static struct pl_client *open_fake(struct fake *fake, int reconnect_ms)
{
	struct pl_client_options o = fake_options(fake);
	struct pl_client *client;

	o.reconnect_ms = reconnect_ms;
	client = pl_client_open("fake", &o, &error);
	cr_assert_not_null(client, "%s", error.text);
	return client;
}

static uint64_t token_number(const struct fake *fake)
{
	struct pl_token token;

	if (pl_token_unpack(&token, fake->in.open.token, fake->in.open.token_bytes, NULL))
		return UINT64_MAX;
	return token.at.number;
}

/* Batches 0, 1 and 2 are sent, 0 and 1 are handed out, then everything is gone. */
static void serve_two_births(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_expect(fake, PL_WIRE_NEXT);
	for (uint64_t i = 0; i < 3; i++)
		fake_batch(fake, 0, i);
	fake_wait_step(fake, 1);
	fake_hang_up(fake);
	fake_new_arena(fake, F_SEAL_SHRINK);
	memset(fake->arena + FAKE_SLOT_BYTES, 0xee, FAKE_SLOT_BYTES * FAKE_SLOTS);
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	FAKE_CHECK(fake, token_number(fake) == 2 || token_number(fake) == 3);
	FAKE_CHECK(fake, fake->in.open.epoch == -1);
	fake_welcome(fake, PL_PRIVATE, 0, token_number(fake));
	for (uint64_t i = token_number(fake); i < 5; i++)
		fake_batch(fake, 0, i);
	while (fake_receive(fake) && fake->in.kind != PL_WIRE_CLOSE) {
		FAKE_CHECK(fake, fake->in.kind != PL_WIRE_RELEASE || fake->in.release.number >= 2);
		for (int i = 0; fake->in.kind == PL_WIRE_NEXT && i < fake->in.next.n_releases; i++)
			FAKE_CHECK(fake, fake->in.next.release[i].number >= 2);
	}
	fake_start_message(fake, PL_WIRE_CLOSED);
	fake_send(fake);
	fake_hang_up(fake);
}

Test(reconnect, the_stream_goes_on_and_held_batches_stay)
{
	struct fake *fake = fake_start(serve_two_births, 4);
	struct pl_client *client = open_fake(fake, 5000);
	const struct pl_batch *held[2];

	for (int i = 0; i < 2; i++)
		cr_assert_eq(pl_client_next(client, 5000, &held[i], &error), 0);
	atomic_store(&fake->step, 1);
	for (uint64_t i = 2; i < 5; i++) {
		cr_assert_eq(pl_client_next(client, 5000, &batch, &error), 0, "%s", error.text);
		cr_assert_eq(pl_batch_number(batch), i);
		cr_assert_float_eq(
			*(const float *)pl_batch_tensor(batch, "x")->data, (float)i * 6, 0);
		pl_batch_release(batch);
	}
	cr_assert_eq(pl_client_birth(client), 2);
	for (int i = 0; i < 2; i++) {
		const float *x = pl_batch_tensor(held[i], "x")->data;

		cr_assert_float_eq(x[5], (float)i * 6 + 5, 0);
		cr_assert_eq(pl_batch_release(held[i]), 0);
	}
	pl_client_close(client);
	cr_assert_null(complaint_of(fake), "%s", complaint);
}

static void serve_other_schema(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_hang_up(fake);
	fake->has_other_schema = true;
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
}

Test(reconnect, another_schema_is_an_error)
{
	struct fake *fake = fake_start(serve_other_schema, 0);
	struct pl_client *client = open_fake(fake, 5000);

	cr_assert_eq(pl_client_next(client, 5000, &batch, &error), -EPROTO);
	cr_assert(strstr(error.text, "field 'x'"), "%s", error.text);
	cr_assert_eq(pl_client_next(client, 5000, &batch, &error), -EPROTO);
	pl_client_close(client);
	cr_assert_null(complaint_of(fake), "%s", complaint);
}

static void serve_once(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	close(fake->listener);
	fake->listener = -1;
	fake_hang_up(fake);
}

Test(reconnect, without_reconnect_ms_the_loss_is_reported)
{
	struct fake *fake = fake_start(serve_once, 0);
	struct pl_client *client = open_fake(fake, 0);
	uint8_t token[256];

	for (int i = 0; i < 2; i++)
		cr_assert_eq(pl_client_next(client, -1, &batch, &error), -ECONNRESET);
	cr_assert_geq(pl_client_state(client, token, sizeof(token)), 72);
	pl_client_close(client);
	cr_assert_null(complaint_of(fake), "%s", complaint);
}

Test(reconnect, it_is_given_up_after_reconnect_ms)
{
	struct fake *fake = fake_start(serve_once, 0);
	struct pl_client *client = open_fake(fake, 60);

	cr_assert_eq(pl_client_next(client, 1, &batch, &error), -ETIMEDOUT);
	cr_assert_eq(pl_client_next(client, -1, &batch, &error), -ECONNRESET);
	cr_assert_eq(error.exit_status, 69);
	pl_client_close(client);
	cr_assert_null(complaint_of(fake), "%s", complaint);
}

static void serve_after_ending(struct fake *fake)
{
	for (int i = 0; i < 3;
		i++) { /* hangs up before Welcome, as a daemon does that is just ending */
		fake_accept(fake);
		if (i == 1) {
			fake_expect(fake, PL_WIRE_OPEN);
			fake_fail(fake, -EAGAIN, 69, "ending");
		}
		fake_hang_up(fake);
	}
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_goodbye(fake);
}

Test(reconnect, a_daemon_that_is_just_ending_is_tried_again)
{
	struct fake *fake = fake_start(serve_after_ending, 0);
	struct pl_client *client = open_fake(fake, 0);

	pl_client_close(client);
	cr_assert_null(complaint_of(fake), "%s", complaint);
}

static void refuse(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_fail(fake, EINVAL, 78, "x.yaml:1:1: no such step\nx.yaml:2:1: nor this");
}

Test(reconnect, a_refusal_at_open_comes_whole)
{
	struct fake *fake = fake_start(refuse, 0);
	struct pl_client_options o = fake_options(fake);

	cr_assert_null(pl_client_open("fake", &o, &error));
	cr_assert_eq(error.code, -EINVAL);
	cr_assert_eq(error.exit_status, 78);
	cr_assert_str_eq(error.text, "x.yaml:1:1: no such step\nx.yaml:2:1: nor this");
	cr_assert_null(complaint_of(fake), "%s", complaint);
}

static void say_nothing(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_wait_step(fake, 1);
}

Test(reconnect, open_times_out)
{
	struct fake *fake = fake_start(say_nothing, 0);
	struct pl_client_options o = fake_options(fake);

	o.open_timeout_ms = 50;
	cr_assert_null(pl_client_open("fake", &o, &error));
	cr_assert_eq(error.code, -ETIMEDOUT);
	atomic_store(&fake->step, 1);
	cr_assert_null(complaint_of(fake), "%s", complaint);
}
