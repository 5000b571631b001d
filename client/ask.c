/* client/ask.c - one question to a daemon that is there already: status, graph, reload, errors. */
#include "client/room.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

/* What the daemon answers comes in pieces. */
struct answer {
	char *text;
	size_t n;
};

/* A daemon's answer longer than this is no answer. */
#define ANSWER_MAX ((size_t)64 << 20)

static int append(struct answer *answer, const char *text, size_t n)
{
	char *grown;

	if (answer->n + n > ANSWER_MAX)
		return -EMSGSIZE;
	grown = realloc(answer->text, answer->n + n + 1);
	if (!grown)
		return -ENOMEM;
	memcpy(grown + answer->n, text, n);
	answer->text = grown;
	answer->n += n;
	grown[answer->n] = '\0';
	return 0;
}

struct talk {
	int fd;
	int64_t deadline;
	struct pl_wire wire;
	uint8_t bytes[PL_FRAME_MAX];
};

static int receive(struct talk *talk)
{
	size_t n;
	int r;

	do {
		r = pl_wait(talk->fd, POLLIN, talk->deadline);
		if (r == 0)
			r = pl_frame_receive(talk->fd, talk->bytes, &n, NULL);
	} while (r == -EAGAIN);
	if (r == PL_FRAME_END)
		return -ECONNRESET;
	if (r)
		return r < 0 ? r : -EPROTO;
	return pl_wire_unpack(&talk->wire, talk->bytes, n) ? -EPROTO : 0;
}

/* Adds pieces until the last. 0, or the daemon's code with *error, or another -errno without it. */
static int collect(struct talk *talk, struct answer *answer, struct pl_error *error)
{
	for (;;) {
		const struct pl_wire_answer *piece = &talk->wire.answer;
		int r = receive(talk);

		if (r)
			return r;
		if (talk->wire.kind == PL_WIRE_ERROR)
			return pl_error_take(error, talk->wire.error.code,
				(int)talk->wire.error.exit_status, talk->wire.error.text,
				strlen(talk->wire.error.text));
		if (talk->wire.kind != PL_WIRE_ANSWER)
			return -EPROTO;
		r = append(answer, piece->text, piece->n);
		if (r)
			return r;
		if (piece->is_more)
			continue;
		return piece->code ? pl_error_take(error, piece->code, (int)piece->exit_status,
					     answer->text, answer->n)
				   : 0;
	}
}

/* A job's daemon has one pipeline, so it is not named. */
static int put(
	struct talk *talk, const struct pl_place *place, const char *question, const char *format)
{
	struct pl_wire_ask *ask = &talk->wire.ask;

	talk->wire.kind = PL_WIRE_ASK;
	memset(ask, 0, sizeof(*ask));
	ask->version = PL_PROTOCOL_VERSION;
	snprintf(ask->what, sizeof(ask->what), "%s", question);
	snprintf(ask->format, sizeof(ask->format), "%s", format ? format : "");
	if (!place->is_job)
		memcpy(ask->pipeline, place->pipeline, sizeof(ask->pipeline));
	return pl_wire_send(talk->fd, &talk->wire, talk->bytes, talk->deadline);
}

/* A backlog that is full now is not full for long. */
static int reach(struct talk *talk, const struct pl_place *place, struct pl_error *error)
{
	const char *where = place->is_job ? place->pipeline : place->socket;
	int fd = pl_place_connect(place);

	while (fd == -EAGAIN && !pl_deadline_is_over(talk->deadline)) {
		(void)!pl_wait(-1, 0, pl_deadline_min(pl_deadline_after(10), talk->deadline));
		fd = pl_place_connect(place);
	}
	talk->fd = fd;
	if (fd >= 0)
		return 0;
	return pl_error_set(error, fd == -ENOENT ? -ECONNREFUSED : fd, PL_EXIT_NO_DAEMON,
		"%s: no pipeloaderd there: %s", where, strerror(-fd));
}

static int talk_about(struct talk *talk, const struct pl_place *place,
	const char *const question[2], char **text, struct pl_error *error)
{
	struct answer answer = {0};
	int r = put(talk, place, question[0], question[1]);

	if (error)
		error->code = 0;
	if (r == 0)
		r = collect(talk, &answer, error);
	if (r == 0)
		*text = PL_STEAL(answer.text);
	else if (error && error->code == 0)
		pl_error_set(error, r, PL_EXIT_NO_DAEMON, "the daemon did not answer '%s': %s",
			question[0], strerror(-r));
	free(answer.text);
	return r;
}

/* What both need: the place, and a connection to it. */
static int begin(struct talk *talk, struct pl_place *place, const char *what,
	const struct pl_client_options *options, struct pl_error *error)
{
	struct pl_client_options o;
	int r = pl_options_take(&o, options, error);

	talk->fd = -1;
	if (r == 0)
		r = pl_place_init(place, what, &o, error);
	if (r)
		return r;
	talk->deadline = pl_deadline_after(o.open_timeout_ms);
	return reach(talk, place, error);
}

PL_EXPORT int pl_ask(const char *what, const struct pl_client_options *options,
	const char *question, const char *format, char **answer, struct pl_error *error)
{
	const char *const both[2] = {question, format};
	PL_AUTO_FREE struct pl_place *place = calloc(1, sizeof(*place));
	PL_AUTO_FREE struct talk *talk = malloc(sizeof(*talk));
	int r;

	*answer = NULL;
	if (!place || !talk)
		return pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory");
	r = begin(talk, place, what, options, error);
	if (r == 0)
		r = talk_about(talk, place, both, answer, error);
	pl_closep(&talk->fd);
	pl_place_finish(place);
	return r;
}

int pl_hold(const char *what, const struct pl_client_options *options, struct pl_error *error)
{
	PL_AUTO_FREE struct pl_place *place = calloc(1, sizeof(*place));
	PL_AUTO_FREE struct talk *talk = malloc(sizeof(*talk));
	int r;

	if (!place || !talk)
		return pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory");
	r = begin(talk, place, what, options, error);
	if (r == 0) {
		r = put(talk, place, "hold", NULL);
		if (r)
			pl_error_set(error, r, PL_EXIT_NO_DAEMON,
				"%s: the daemon can't be held: %s", what, strerror(-r));
	}
	pl_place_finish(place);
	if (r == 0)
		return talk->fd;
	pl_closep(&talk->fd);
	return r;
}
