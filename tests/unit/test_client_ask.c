/* tests/unit/test_client_ask.c - questions to a daemon. */
#include "fake_daemon.h"

#include "client/tool.h"

#include <criterion/criterion.h>

static struct pl_error error;
static char *answer;

static void say(struct fake *fake, const char *text, bool is_more, int code)
{
	fake_start_message(fake, PL_WIRE_ANSWER);
	fake->out.answer.n = strlen(text);
	memcpy(fake->out.answer.text, text, strlen(text));
	fake->out.answer.is_more = is_more;
	fake->out.answer.code = code;
	fake->out.answer.exit_status = code ? 78 : 0;
	fake_send(fake);
}

static void answer_in_pieces(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_ASK);
	FAKE_CHECK(fake, strcmp(fake->in.ask.what, "graph") == 0);
	FAKE_CHECK(fake, strcmp(fake->in.ask.pipeline, "train") == 0);
	FAKE_CHECK(fake, strcmp(fake->in.ask.format, "dot") == 0);
	say(fake, "digraph ", true, 0);
	say(fake, "{", true, 0);
	say(fake, "}\n", false, 0);
}

Test(ask, pieces_are_put_together)
{
	struct fake *fake = fake_start(answer_in_pieces, 0);
	struct pl_client_options o = fake_options(fake);

	cr_assert_eq(pl_ask("train", &o, "graph", "dot", &answer, &error), 0, "%s", error.text);
	cr_assert_str_eq(answer, "digraph {}\n");
	free(answer);
	cr_assert_null(fake_finish(fake));
}

static void answer_with_errors(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_ASK);
	say(fake, "x.yaml:1:1: wrong", false, 22);
	fake_hang_up(fake);
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_ASK);
	fake_fail(fake, -ENOENT, 64, "no such pipeline");
	fake_hang_up(fake);
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_ASK);
	fake_hang_up(fake);
}

Test(ask, each_way_to_fail)
{
	struct fake *fake = fake_start(answer_with_errors, 0);
	struct pl_client_options o = fake_options(fake);

	cr_assert_eq(pl_ask("train", &o, "reload", NULL, &answer, &error), -EINVAL);
	cr_assert_str_eq(error.text, "x.yaml:1:1: wrong");
	cr_assert_eq(error.exit_status, 78);
	cr_assert_null(answer);
	cr_assert_eq(pl_ask("train", &o, "status", NULL, &answer, &error), -ENOENT);
	cr_assert_str_eq(error.text, "no such pipeline");
	cr_assert_eq(pl_ask("train", &o, "status", NULL, &answer, &error), -ECONNRESET);
	cr_assert_eq(error.exit_status, 69);
	o.socket = "@pipeloader-test/nobody";
	cr_assert_eq(pl_ask("train", &o, "status", NULL, &answer, &error), -ECONNREFUSED);
	cr_assert_eq(error.exit_status, 69);
	cr_assert_null(fake_finish(fake));
}

static void be_held(struct fake *fake)
{
	fake_accept(fake);
	fake_expect(fake, PL_WIRE_ASK);
	FAKE_CHECK(fake, strcmp(fake->in.ask.what, "hold") == 0);
	FAKE_CHECK(fake, !fake_receive(fake)); /* the end, once it is let go */
}

Test(ask, a_hold_is_an_open_connection)
{
	struct fake *fake = fake_start(be_held, 0);
	struct pl_client_options o = fake_options(fake);
	int fd = pl_hold("train", &o, &error);

	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_null(fake_finish(fake));
}
