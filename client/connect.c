/* client/connect.c - from nothing to an open stream: reach the daemon, or start it; be welcomed. */
#include "client/room.h"

#include <errno.h>
#include <poll.h>

#define STARTS_MAX  5
#define HANGUPS_MAX 20

static int give_up(struct pl_client *client, int code, struct pl_error *error)
{
	const char *where = client->place.is_job ? client->place.pipeline : client->place.socket;

	if (client->is_welcomed)
		return pl_error_set(error, -ECONNRESET, PL_EXIT_NO_DAEMON,
			"%s: the daemon is gone and did not come back within %d ms (%s)", where,
			client->reconnect_ms, strerror(-code));
	return pl_error_set(error, code, PL_EXIT_NO_DAEMON, "%s: no pipeloaderd there: %s", where,
		strerror(-code));
}

/* Nobody listens. A job's daemon is started; for another one there is only waiting, once it was
 * there. */
static int nobody_there(struct pl_client *client, int code, struct pl_error *error)
{
	int r;

	if (!client->place.is_job) {
		if (!client->is_welcomed)
			return give_up(client, code, error);
		pl_client_back_off(client);
		return 0;
	}
	if (client->n_starts == STARTS_MAX)
		return pl_error_set(error, -ECONNREFUSED, PL_EXIT_NO_DAEMON,
			"%s: the job daemon was started %d times and ended each time before it "
			"answered; "
			"run `pipeloaderd --job %s` by hand to see why",
			client->place.pipeline, STARTS_MAX, client->place.pipeline);
	r = pl_launch(&client->place, error);
	if (r < 0)
		return r;
	client->n_starts += r == 0;
	if (r == PL_LAUNCH_LOST)
		pl_client_back_off(client);
	return 0;
}

static int send_open(struct pl_client *client)
{
	client->wire.kind = PL_WIRE_OPEN;
	client->wire.open = client->open;
	client->wire.open.token_bytes = pl_cursor_token(&client->cursor, client->wire.open.token);
	if (client->wire.open.token_bytes)
		client->wire.open.epoch = -1; /* the token tells it */
	return pl_wire_send(client->fd, &client->wire, client->bytes, pl_deadline_after(1000));
}

/* One attempt. 0: state tells how far it came. */
static int attempt(struct pl_client *client, struct pl_error *error)
{
	int fd = pl_place_connect(&client->place);

	if (fd == -ECONNREFUSED || fd == -ENOENT)
		return nobody_there(client, fd, error);
	if (fd == -EPERM)
		return pl_error_set(error, fd, PL_EXIT_NO_DAEMON,
			"%s: somebody else's process listens at the meeting point; it is not "
			"trusted",
			client->place.pipeline);
	if (fd < 0 && fd != -EAGAIN && !client->is_welcomed)
		return give_up(client, fd, error);
	if (fd < 0) {
		pl_client_back_off(client);
		return 0;
	}
	pl_closep(&client->fd);
	client->fd = fd;
	client->state = PL_STATE_OPENING;
	if (send_open(client))
		pl_client_back_off(client);
	return 0;
}

/* The daemon hung up before it answered: it is just ending, or it was killed. */
static int hung_up(struct pl_client *client, struct pl_error *error)
{
	pl_client_back_off(client);
	if (!client->is_welcomed && ++client->n_hangups == HANGUPS_MAX)
		return give_up(client, -ECONNRESET, error);
	return 0;
}

static int refused(struct pl_client *client, struct pl_error *error)
{
	const struct pl_wire_error *said = &client->wire.error;

	if (said->code == EAGAIN || said->code == -EAGAIN) {
		pl_client_back_off(client); /* it is ending: its successor will answer */
		return 0;
	}
	return pl_error_take(
		error, said->code, (int)said->exit_status, said->text, strlen(said->text));
}

/* Waits for the answer to Open. 0: state tells; -ETIMEDOUT; a final error. */
static int await_welcome(struct pl_client *client, int64_t deadline, struct pl_error *error)
{
	size_t n;
	int arena = -1;
	int r = pl_wait(client->fd, POLLIN, deadline);

	if (r)
		return r;
	r = pl_frame_receive(client->fd, client->bytes, &n, &arena);
	if (r == -EAGAIN)
		return 0;
	if (r == PL_FRAME_END || r < 0)
		return hung_up(client, error);
	r = r ? -EBADMSG : pl_wire_unpack(&client->wire, client->bytes, n);
	if (r == 0 && client->wire.kind == PL_WIRE_WELCOME)
		return pl_client_welcome(client, &client->wire.welcome, arena, error);
	pl_closep(&arena);
	if (r == 0 && client->wire.kind == PL_WIRE_ERROR)
		return refused(client, error);
	return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
		"the peer at '%s' does not speak pipeloaderd's protocol", client->place.socket);
}

int pl_client_connect(struct pl_client *client, int64_t deadline, struct pl_error *error)
{
	int r = 0;

	while (r == 0 && client->state != PL_STATE_OPEN) {
		if (client->state == PL_STATE_OPENING) {
			r = await_welcome(client, deadline, error);
			continue;
		}
		if (pl_deadline_is_over(client->give_up_at))
			return give_up(client, -ECONNREFUSED, error);
		if (!pl_deadline_is_over(client->retry_at)) {
			int64_t until = pl_deadline_min(client->retry_at, client->give_up_at);

			if (pl_wait(-1, 0, pl_deadline_min(until, deadline)) == -ETIMEDOUT &&
				pl_deadline_is_over(deadline))
				return -ETIMEDOUT;
			continue;
		}
		r = attempt(client, error);
	}
	return r;
}
