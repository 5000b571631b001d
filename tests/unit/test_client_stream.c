/* tests/unit/test_client_stream.c - a stream from open to end against a scripted daemon. */
#include "fake_daemon.h"

#include <criterion/criterion.h>

static struct pl_error error;
static const struct pl_batch *batch;

static struct pl_client *open_fake(struct fake *fake)
{
	struct pl_client_options o = fake_options(fake);
	struct pl_client *client;

	o.wants_trace = true;
	client = pl_client_open("fake", &o, &error);
	cr_assert_not_null(client, "%s", error.text);
	return client;
}

static void finish(struct fake *fake, struct pl_client *client)
{
	const char *complaint;

	pl_client_close(client);
	complaint = fake_finish(fake);
	cr_assert_null(complaint, "%s", complaint);
}

static void serve_two(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	FAKE_CHECK(fake, strcmp(fake->in.open.pipeline, "fake") == 0);
	FAKE_CHECK(fake, fake->in.open.wants_trace && fake->in.open.token_bytes == 0);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	for (uint64_t i = 0; i < 2; i++) {
		fake_expect(fake, PL_WIRE_NEXT);
		FAKE_CHECK(fake, fake->in.next.credits == 1);
		fake_say(fake, PL_WIRE_TRACE, i ? "Worker 1 20" : "Worker 0 10");
		fake_batch(fake, 0, i);
		fake_expect(fake, PL_WIRE_RELEASE);
		FAKE_CHECK(fake, fake->in.release.number == i && fake->in.release.generation == 1);
	}
	fake_expect(fake, PL_WIRE_NEXT);
	fake_say(fake, PL_WIRE_END, "all epochs");
	fake_goodbye(fake);
}

static void check_batch(uint64_t number)
{
	const struct pl_tensor *x = pl_batch_tensor(batch, "x");
	const struct pl_tensor *text = pl_batch_tensor_at(batch, 1);
	const int64_t *offsets = pl_batch_offsets(batch, 1);

	cr_assert_eq(pl_batch_number(batch), number);
	cr_assert_eq(pl_batch_epoch(batch), 0);
	cr_assert_eq(pl_batch_size(batch), 2);
	cr_assert_eq(pl_batch_indices(batch)[1], number * 2 + 1);
	cr_assert(x->rank == 2 && x->shape[0] == 2 && x->shape[1] == 3 && x->stride[0] == 12);
	cr_assert_float_eq(((const float *)x->data)[5], (float)number * 6 + 5, 0);
	cr_assert_eq(memcmp(text->data, "hithe", 5), 0);
	cr_assert(offsets[0] == 0 && offsets[1] == 2 && offsets[2] == 5);
	cr_assert_null(pl_batch_offsets(batch, 0));
	cr_assert_null(pl_batch_tensor(batch, "y"));
	cr_assert_null(pl_batch_tensor_at(batch, 3));
	cr_assert_eq(*(const uint64_t *)pl_batch_tensor_at(batch, 2)->data, number);
}

Test(stream, from_open_to_end)
{
	struct fake *fake = fake_start(serve_two, 0);
	struct pl_client *client = open_fake(fake);
	uint8_t token[256];
	size_t n = pl_client_state(client, token, sizeof(token));
	struct pl_token at;

	cr_assert_eq(pl_token_unpack(&at, token, n, NULL), 0);
	cr_assert_eq(at.at.number, 0);
	cr_assert_eq(pl_client_n_fields(client), 3);
	cr_assert_str_eq(pl_client_field(client, 1)->name, "text");
	cr_assert_str_eq(pl_client_field(client, 1)->kind, "text");
	cr_assert(pl_client_field(client, 1)->is_ragged && !pl_client_field(client, 1)->is_batched);
	cr_assert(
		pl_client_field(client, 0)->is_batched && !pl_client_field(client, 2)->is_batched);
	cr_assert_null(pl_client_field(client, 3));
	cr_assert_str_eq(pl_client_class(client, 1), "dog");
	cr_assert_null(pl_client_class(client, 2));
	cr_assert_eq(pl_client_records(client), 100);
	cr_assert_str_eq(pl_client_pipeline(client), "fake");
	for (uint64_t i = 0; i < 2; i++) {
		cr_assert_eq(pl_client_next(client, 5000, &batch, &error), 0, "%s", error.text);
		check_batch(i);
		cr_assert_str_eq(pl_client_trace(client), i ? "Worker 1 20" : "Worker 0 10");
		cr_assert_null(pl_client_trace(client));
		cr_assert_eq(pl_batch_release(batch), 0);
	}
	n = pl_client_state(client, token, sizeof(token));
	cr_assert_eq(pl_token_unpack(&at, token, n, NULL), 0);
	cr_assert(at.at.number == 2 && at.mode == PL_PRIVATE && at.fingerprint[0] == 7);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(pl_client_next(client, 5000, &batch, &error), PL_END);
		cr_assert_null(batch);
	}
	finish(fake, client);
}

static void serve_credits(struct fake *fake)
{
	uint32_t asked = 0;

	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	for (uint64_t i = 0; i < 7; i++) {
		while (asked == 0 && fake_receive(fake))
			if (fake->in.kind == PL_WIRE_NEXT) {
				asked += fake->in.next.credits;
				FAKE_CHECK(fake, asked <= 4);
			}
		asked--;
		fake_batch(fake, 0, i);
	}
	fake_goodbye(fake);
}

Test(stream, credits_are_posted_in_advance_and_bounded)
{
	struct fake *fake = fake_start(serve_credits, 4);
	struct pl_client *client = open_fake(fake);

	for (int i = 0; i < 7; i++) {
		cr_assert_eq(pl_client_next(client, 5000, &batch, &error), 0, "%s", error.text);
		check_batch((uint64_t)i);
		pl_batch_release(batch);
	}
	finish(fake, client);
}

static void serve_slowly(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_expect(fake, PL_WIRE_NEXT);
	fake_expect(fake, PL_WIRE_WHY);
	fake_say(fake, PL_WIRE_BECAUSE, "worker 1 in decode of X for 9 s");
	fake_wait_step(fake, 1);
	fake_batch(fake, 0, 0);
	fake_goodbye(fake);
}

Test(stream, a_timeout_says_what_it_waits_for)
{
	struct fake *fake = fake_start(serve_slowly, 0);
	struct pl_client *client = open_fake(fake);

	cr_assert_eq(pl_client_next(client, 0, &batch, &error), -ETIMEDOUT);
	cr_assert_str_eq(error.text, "no batch is here yet");
	cr_assert_eq(pl_client_next(client, 50, &batch, &error), -ETIMEDOUT);
	cr_assert_str_eq(error.text, "no batch within 50 ms: worker 1 in decode of X for 9 s");
	atomic_store(&fake->step, 1);
	cr_assert_eq(pl_client_next(client, 5000, &batch, &error), 0);
	check_batch(0);
	pl_batch_release(batch);
	finish(fake, client);
}

static void serve_failure(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_expect(fake, PL_WIRE_NEXT);
	fake_batch(fake, 0, 0);
	fake_fail(fake, -EIO, 1, "photos/x.jpg: decode_image: truncated");
	fake_expect(fake, PL_WIRE_RELEASE);
	fake_expect(fake, PL_WIRE_CLOSE);
}

Test(stream, an_error_comes_behind_the_batches_before_it_and_stays)
{
	struct fake *fake = fake_start(serve_failure, 4);
	struct pl_client *client = open_fake(fake);

	cr_assert_eq(pl_client_next(client, 5000, &batch, &error), 0);
	pl_batch_release(batch);
	for (int i = 0; i < 2; i++) {
		memset(&error, 0, sizeof(error));
		cr_assert_eq(pl_client_next(client, 5000, &batch, &error), -EIO);
		cr_assert_str_eq(error.text, "photos/x.jpg: decode_image: truncated");
		cr_assert_eq(error.exit_status, 1);
	}
	finish(fake, client);
}

static void serve_description(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_expect(fake, PL_WIRE_NEXT);
	fake_batch(fake, 0, 0);
	fake_expect(fake, PL_WIRE_DESCRIBE);
	FAKE_CHECK(fake, fake->in.describe.n == 2 && fake->in.describe.index[1] == 9);
	fake_batch(fake, 0, 1);
	fake_start_message(fake, PL_WIRE_DESCRIBED);
	fake->out.described.n = 2;
	for (int i = 0; i < 2; i++) {
		fake->out.described.name[i] = (char *)(uintptr_t)(i ? "b.jpg" : "a.jpg");
		fake->out.described.source[i] = (char *)(uintptr_t) "files";
	}
	fake_send(fake);
	fake_goodbye(fake);
}

Test(stream, describe_keeps_the_batches_that_come_before_the_answer)
{
	struct fake *fake = fake_start(serve_description, 4);
	struct pl_client *client = open_fake(fake);
	char *names[2];

	cr_assert_eq(pl_client_next(client, 5000, &batch, &error), 0);
	cr_assert_eq(pl_client_describe(client, (uint64_t[]){8, 9}, 2, names, 5000, &error), 0,
		"%s", error.text);
	cr_assert_str_eq(names[0], "a.jpg");
	cr_assert_str_eq(names[1], "b.jpg");
	free(names[0]);
	free(names[1]);
	pl_batch_release(batch);
	cr_assert_eq(pl_client_next(client, 0, &batch, &error), 0);
	check_batch(1);
	pl_batch_release(batch);
	cr_assert_eq(
		pl_client_describe(client, (uint64_t[257]){0}, 257, (char *[257]){NULL}, 0, &error),
		-EINVAL);
	finish(fake, client);
}

static void serve_and_wait(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_expect(fake, PL_WIRE_NEXT);
	fake_batch(fake, 0, 0);
	fake_batch(fake, 0, 1);
	fake_wait_step(fake, 1);
	(*fake_generation(fake, 0))++;
	atomic_store(&fake->step, 2);
	fake_expect(fake, PL_WIRE_CLOSE);
	fake_start_message(fake, PL_WIRE_CLOSED);
	fake_send(fake);
	fake_hang_up(fake);
}

Test(stream, a_slot_taken_back_says_stale_and_a_batch_outlives_its_handle)
{
	struct fake *fake = fake_start(serve_and_wait, 4);
	struct pl_client *client = open_fake(fake);
	const struct pl_batch *second;

	cr_assert_eq(pl_client_next(client, 5000, &batch, &error), 0);
	cr_assert_eq(pl_client_next(client, 5000, &second, &error), 0);
	atomic_store(&fake->step, 1);
	fake_wait_step(fake, 2);
	cr_assert_eq(pl_batch_release(batch), -ESTALE);
	finish(fake, client);
	batch = second;
	check_batch(1);
	cr_assert_eq(pl_batch_release(second), 0);
}

Test(stream, null_is_fine_everywhere_it_may_be)
{
	pl_client_close(NULL);
	cr_assert_eq(pl_batch_release(NULL), 0);
	cr_assert_null(pl_client_open("no-such-pipeline",
		&(struct pl_client_options){.size = sizeof(struct pl_client_options),
			.socket = "@pipeloader-test/nobody"},
		NULL));
}
