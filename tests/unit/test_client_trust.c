/* tests/unit/test_client_trust.c - what a wrong or hostile daemon can't do to a client. */
#include "fake_daemon.h"

#include <criterion/criterion.h>

static struct pl_error error;
static const struct pl_batch *batch;

static void serve_arena(struct fake *fake)
{
	fake_new_arena(fake, 0);
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
}

Test(trust, an_arena_that_can_shrink_is_refused)
{
	struct fake *fake = fake_start(serve_arena, 0);
	struct pl_client_options o = fake_options(fake);

	cr_assert_null(pl_client_open("fake", &o, &error));
	cr_assert_eq(error.code, -EPROTO);
	cr_assert(strstr(error.text, "not sealed against shrinking"), "%s", error.text);
	fake_finish(fake);
}

static void serve_small_arena(struct fake *fake)
{
	int small = memfd_create("small", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	FAKE_CHECK(fake, ftruncate(small, FAKE_ARENA_BYTES - 1) == 0);
	FAKE_CHECK(fake, fcntl(small, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	close(fake->memfd);
	fake->memfd = small;
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
}

Test(trust, an_arena_smaller_than_announced_is_refused)
{
	struct fake *fake = fake_start(serve_small_arena, 0);
	struct pl_client_options o = fake_options(fake);

	cr_assert_null(pl_client_open("fake", &o, &error));
	cr_assert(strstr(error.text, "smaller than announced"), "%s", error.text);
	fake_finish(fake);
}

static void serve_no_arena(struct fake *fake)
{
	int memfd = fake->memfd;

	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake->memfd = -1;
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake->memfd = memfd;
}

Test(trust, a_welcome_without_arena_is_refused)
{
	struct fake *fake = fake_start(serve_no_arena, 0);
	struct pl_client_options o = fake_options(fake);

	cr_assert_null(pl_client_open("fake", &o, &error));
	cr_assert_eq(error.code, -EPROTO);
	fake_finish(fake);
}

static void serve_garbage(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	FAKE_CHECK(fake, send(fake->fd, "\xff\xff\xff", 3, 0) == 3);
}

Test(trust, garbage_instead_of_welcome_is_an_error)
{
	struct fake *fake = fake_start(serve_garbage, 0);
	struct pl_client_options o = fake_options(fake);

	cr_assert_null(pl_client_open("fake", &o, &error));
	cr_assert_eq(error.code, -EPROTO);
	fake_finish(fake);
}

static int which;

/* Each way to spoil a batch. */
static void spoil(struct fake *fake)
{
	struct pl_wire_batch *b = &fake->out.batch;
	int64_t *offsets = (int64_t *)(void *)(fake->arena + FAKE_SLOT_BYTES + 1032);

	switch (which) {
	case 0:
		b->view[0].offset = FAKE_ARENA_BYTES - 4;
		break;
	case 1:
		b->view[0].offset = UINT64_MAX - 3;
		break;
	case 2:
		b->view[0].stride[0] = INT64_MAX - 3;
		break;
	case 3:
		b->view[0].stride[0] = -FAKE_SLOT_BYTES * 2;
		break;
	case 4:
		b->view[0].stride[1] = 3;
		break;
	case 5:
		b->view[0].dtype = PL_I32;
		break;
	case 6:
		b->view[0].offset += 1;
		break;
	case 7:
		b->n_views = 2;
		break;
	case 8:
		b->number = 1;
		break;
	case 9:
		b->epoch = 1;
		b->number = 1;
		break;
	case 10:
		b->view[1].offsets_offset = FAKE_ARENA_BYTES - 16;
		break;
	case 11:
		b->view[1].offsets_offset += 4;
		break;
	case 12:
		offsets[1] = 6;
		break;
	case 13:
		offsets[0] = -1;
		break;
	case 14:
		offsets[2] = 6;
		break;
	case 15:
		b->size = UINT64_MAX;
		break;
	case 16:
		b->size = UINT64_MAX / 8;
		break;
	case 17:
		b->index_offset = FAKE_ARENA_BYTES - 8;
		break;
	case 18:
		b->view[0].shape[0] = INT64_MAX / 16;
		break;
	default:
		break;
	}
}

static void serve_spoiled(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_expect(fake, PL_WIRE_NEXT);
	fake_make_batch(fake, 0, 0);
	spoil(fake);
	fake_send(fake);
	fake_expect(fake, PL_WIRE_CLOSE);
}

Test(trust, every_number_of_a_batch_is_checked)
{
	for (which = 0; which <= 18; which++) {
		struct fake *fake = fake_start(serve_spoiled, 0);
		struct pl_client_options o = fake_options(fake);
		struct pl_client *client = pl_client_open("fake", &o, &error);

		cr_assert_not_null(client);
		cr_assert_eq(
			pl_client_next(client, 5000, &batch, &error), -EPROTO, "case %d", which);
		cr_assert_null(batch);
		cr_assert_neq(error.text[0], '\0');
		cr_assert_eq(pl_client_next(client, 5000, &batch, &error), -EPROTO);
		pl_client_close(client);
		cr_assert_null(fake_finish(fake), "case %d", which);
	}
}
