/* client/client.c - a handle's life: open, next, close. */
#include "client/room.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#define WHY_MS   200
#define CLOSE_MS 1000

PL_EXPORT void pl_client_options_init(struct pl_client_options *options)
{
	*options = (struct pl_client_options){
		.size = sizeof(*options),
		.open_timeout_ms = 60000,
		.reconnect_ms = 30000,
		.credits = UINT32_MAX,
	};
}

int pl_options_take(struct pl_client_options *out, const struct pl_client_options *given,
	struct pl_error *error)
{
	if (error) {
		error->code = error->exit_status = 0;
		error->text[0] = '\0';
	}
	pl_client_options_init(out);
	if (!given)
		return 0;
	if (given->size < offsetof(struct pl_client_options, more) || given->size > sizeof(*out))
		return pl_error_set(error, -EINVAL, PL_EXIT_USAGE,
			"the options were not made by pl_client_options_init of this library");
	memcpy(out, given, given->size);
	return 0;
}

static int check_options(const struct pl_client_options *o, struct pl_error *error)
{
	if (o->mode > PL_MODE_BROADCAST)
		return pl_error_set(error, -EINVAL, PL_EXIT_USAGE, "mode %d is none", (int)o->mode);
	if (o->mode == PL_MODE_SPLIT && o->rank >= o->world_size)
		return pl_error_set(error, -EINVAL, PL_EXIT_USAGE,
			"rank %u does not exist in a world of %u", o->rank, o->world_size);
	if (o->group && strlen(o->group) >= sizeof(((struct pl_wire_open *)0)->group))
		return pl_error_set(
			error, -EINVAL, PL_EXIT_USAGE, "a group's name has at most 255 bytes");
	if (o->token_bytes > PL_WIRE_TOKEN_MAX || (o->token_bytes && !o->token))
		return pl_error_set(error, -EINVAL, PL_EXIT_USAGE,
			"the resume token is no token (%zu bytes)", o->token_bytes);
	return 0;
}

static void take_options(struct pl_client *client, const struct pl_client_options *o)
{
	struct pl_wire_open *open = &client->open;
	const char *name = o->name ? o->name : program_invocation_short_name;

	client->credits_wanted = o->credits;
	client->reconnect_ms = o->reconnect_ms > 0 ? o->reconnect_ms : 0;
	client->cursor.rank = o->rank;
	client->cursor.token.mode = (enum pl_mode)o->mode;
	client->cursor.token.world_size = o->world_size;
	client->cursor.opened_bytes = o->token_bytes;
	if (o->token_bytes)
		memcpy(client->cursor.opened, o->token, o->token_bytes);
	open->version = PL_PROTOCOL_VERSION;
	open->mode = (enum pl_mode)o->mode;
	open->rank = o->rank;
	open->world_size = o->world_size;
	open->members = o->members;
	open->wants_trace = o->wants_trace;
	open->epoch = o->epoch;
	snprintf(open->group, sizeof(open->group), "%s", o->group ? o->group : "");
	snprintf(open->client_name, sizeof(open->client_name), "%s", name);
	memcpy(open->pipeline, client->place.pipeline, sizeof(open->pipeline));
}

/* Frees the handle; batches that are out keep the link and the mapping. */
static void destroy(struct pl_client *client)
{
	pl_closep(&client->fd);
	pl_arena_release(client->arena);
	pl_trace_finish(&client->trace);
	pl_place_finish(&client->place);
	free(client->class_text);
	free(client->class_name);
	free(client);
}

static struct pl_client *create(
	const char *what, const struct pl_client_options *options, struct pl_error *error)
{
	PL_AUTO_FREE struct pl_client *client = calloc(1, sizeof(*client));

	if (!client) {
		pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory");
		return NULL;
	}
	client->fd = -1;
	client->ready_end = &client->ready;
	if (check_options(options, error) || pl_place_init(&client->place, what, options, error))
		return NULL;
	client->link = pl_link_create();
	if (!client->link) {
		pl_place_finish(&client->place);
		pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory");
		return NULL;
	}
	take_options(client, options);
	pl_client_lose(client);
	client->give_up_at = -1;
	return PL_STEAL(client);
}

PL_EXPORT struct pl_client *pl_client_open(
	const char *what, const struct pl_client_options *options, struct pl_error *error)
{
	PL_AUTO_FREE struct pl_error *own = error ? NULL : malloc(sizeof(*own));
	struct pl_error *to = error ? error : own;
	struct pl_client_options o;
	struct pl_client *client;
	int r;

	if (!to || pl_options_take(&o, options, to))
		return NULL;
	client = create(what, &o, to);
	if (!client)
		return NULL;
	r = pl_client_connect(client, pl_deadline_after(o.open_timeout_ms), to);
	if (r == 0)
		return client;
	if (r == -ETIMEDOUT)
		pl_error_set(to, r, PL_EXIT_NO_DAEMON,
			"%s: the pipeline was not ready within %d ms (%s)", what, o.open_timeout_ms,
			client->state == PL_STATE_OPENING ? "its daemon has not answered yet"
							  : "no daemon could be reached");
	pl_link_release(client->link);
	destroy(client);
	return NULL;
}

/* Waits for Closed, and takes what is queued off the socket: closing with unread datagrams would be
 * a reset at the daemon. */
static void say_goodbye(struct pl_client *client)
{
	int64_t deadline = pl_deadline_after(CLOSE_MS);
	size_t n;

	(void)!pl_link_ask(client->link, 0);
	client->wire.kind = PL_WIRE_CLOSE;
	if (pl_client_send(client, deadline) || client->final < 0)
		return;
	while (pl_wait(client->fd, POLLIN, deadline) == 0) {
		int r = pl_frame_receive(client->fd, client->bytes, &n, NULL);

		if (r == -EAGAIN)
			continue;
		if (r || pl_wire_unpack(&client->wire, client->bytes, n) ||
			client->wire.kind == PL_WIRE_CLOSED || client->wire.kind == PL_WIRE_ERROR)
			return;
	}
}

/* The daemon ends the leases of whoever closes its end: with batches out, the link closes it after
 * the last. */
static void keep_socket(struct pl_client *client)
{
	if (client->fd < 0)
		return;
	pl_link_keep(client->link, client->fd);
	client->fd = -1;
}

PL_EXPORT void pl_client_close(struct pl_client *client)
{
	if (!client)
		return;
	if (pl_link_is_ours(client->link)) {
		if (client->state == PL_STATE_OPEN)
			say_goodbye(client);
		pl_client_forget_ready(client);
		keep_socket(client);
		pl_link_release(client->link);
	}
	destroy(client);
}

/*
 * Asks for batches when few enough are on their way; releases that the socket had no room for ride
 * along, else both sides could wait for each other. True when the socket is full.
 */
static bool ask(struct pl_client *client)
{
	uint32_t max = client->credits_max ? client->credits_max : 1;
	uint32_t n = client->n_credits > max / 2 ? 0 : max - client->n_credits;
	int r = pl_link_ask(client->link, n);

	if (r == 0)
		client->n_credits += n;
	return r == -EAGAIN; /* another failure shows in what is received */
}

static void lose_or_fail(struct pl_client *client)
{
	pl_client_lose(client);
	if (client->reconnect_ms == 0)
		client->final = pl_error_set(&client->failure, -ECONNRESET, PL_EXIT_NO_DAEMON,
			"%s: the daemon is gone", client->place.pipeline);
}

int pl_client_advance(struct pl_client *client, bool wants_batch, int64_t deadline)
{
	bool is_full;
	int r;

	if (client->state != PL_STATE_OPEN) {
		r = pl_client_connect(client, deadline, &client->failure);
		if (r && r != -ETIMEDOUT)
			client->final = r;
		return r == -ETIMEDOUT ? r : 0;
	}
	is_full = wants_batch && ask(client);
	r = pl_client_receive(client);
	if (r == -ECONNRESET)
		lose_or_fail(client);
	if (r != -EAGAIN)
		return 0;
	r = pl_wait(client->fd, (short)(POLLIN | (is_full ? POLLOUT : 0)), deadline);
	if (r && r != -ETIMEDOUT)
		client->final = pl_error_set(&client->failure, r, PL_EXIT_FAILED,
			"waiting for the daemon: %s", strerror(-r));
	return r == -ETIMEDOUT ? r : 0;
}

static bool has_news(const struct pl_client *client)
{
	return client->ready || client->final;
}

/* What is the stream waiting for? Asks the daemon, but not for long. */
static void find_reason(struct pl_client *client)
{
	int64_t deadline = pl_deadline_after(WHY_MS);

	client->has_reason = false;
	if (client->state == PL_STATE_OPEN && client->n_whys == 0) {
		client->wire.kind = PL_WIRE_WHY;
		if (pl_client_send(client, deadline) == 0)
			client->n_whys++;
	}
	while (client->state == PL_STATE_OPEN && client->n_whys && !has_news(client) &&
		pl_client_advance(client, false, deadline) == 0)
		;
}

static int timed_out(const struct pl_client *client, int timeout_ms, struct pl_error *error)
{
	if (timeout_ms == 0)
		return pl_error_set(error, -ETIMEDOUT, PL_EXIT_FAILED, "no batch is here yet");
	if (client->state != PL_STATE_OPEN)
		return pl_error_set(error, -ETIMEDOUT, PL_EXIT_FAILED,
			"no batch within %d ms: the daemon is gone; it is being looked for",
			timeout_ms);
	return pl_error_set(error, -ETIMEDOUT, PL_EXIT_FAILED, "no batch within %d ms: %s",
		timeout_ms,
		client->has_reason ? client->reason : "the daemon does not say what it waits for");
}

static const struct pl_batch *hand_out(struct pl_client *client)
{
	struct pl_batch *batch = client->ready;

	client->ready = batch->next;
	if (!client->ready)
		client->ready_end = &client->ready;
	pl_cursor_hand(&client->cursor, batch);
	return batch;
}

PL_EXPORT int pl_client_next(struct pl_client *client, int timeout_ms,
	const struct pl_batch **batch, struct pl_error *error)
{
	int64_t deadline = pl_deadline_after(timeout_ms);
	int r = 0;

	*batch = NULL;
	if (!pl_link_is_ours(client->link))
		return pl_error_set(error, -ECHILD, PL_EXIT_FAILED,
			"this stream belongs to process %d, which forked this one",
			(int)client->link->pid);
	while (!has_news(client) && r == 0)
		r = pl_client_advance(client, true, deadline);
	if (!has_news(client) && timeout_ms)
		find_reason(client);
	if (client->ready) {
		*batch = hand_out(client);
		return 0;
	}
	if (client->final == 0)
		return timed_out(client, timeout_ms, error);
	if (client->final < 0 && error)
		*error = client->failure;
	return client->final;
}
