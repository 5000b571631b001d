/* client/stream.c - what the daemon says to an open stream, one datagram at a time. */
#include "client/room.h"

#include <errno.h>
#include <poll.h>

int pl_wire_send(int fd, const struct pl_wire *wire, void *bytes, int64_t deadline)
{
	int n = pl_wire_pack(wire, bytes);
	int r;

	if (n < 0)
		return n;
	for (;;) {
		r = pl_frame_send(fd, bytes, (size_t)n, -1);
		if (r != -EAGAIN)
			return r;
		r = pl_wait(fd, POLLOUT, deadline);
		if (r)
			return r;
	}
}

int pl_client_send(struct pl_client *client, int64_t deadline)
{
	return pl_wire_send(client->fd, &client->wire, client->bytes, deadline);
}

static const uint32_t *find_generation(const struct pl_client *client, uint32_t slot)
{
	const struct pl_wire_welcome *facts = &client->facts;

	if (slot >= facts->n_slots)
		return NULL;
	return pl_arena_at(client->arena, facts->generations_offset + slot * sizeof(uint32_t),
		sizeof(uint32_t), _Alignof(uint32_t));
}

static int on_batch(struct pl_client *client, struct pl_error *error)
{
	const struct pl_wire_batch *from = &client->wire.batch;
	struct pl_batch *batch;
	int r = pl_cursor_expect(&client->cursor, from, error);

	if (r)
		return r;
	batch = pl_link_batch(client->link);
	if (!batch)
		return pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory for a batch");
	batch->arena = pl_arena_acquire(client->arena);
	r = pl_batch_fill(batch, from, error);
	if (r) {
		pl_link_return(client->link, batch, true);
		pl_arena_release(client->arena);
		return r;
	}
	batch->generation = find_generation(client, from->slot);
	if (client->n_credits)
		client->n_credits--;
	*client->ready_end = batch;
	client->ready_end = &batch->next;
	return 0;
}

static int on_trace(struct pl_client *client, struct pl_error *error)
{
	return pl_trace_push(&client->trace, client->wire.text)
		       ? pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory for a trace line")
		       : 0;
}

static int on_because(struct pl_client *client, struct pl_error *error)
{
	if (client->n_whys)
		client->n_whys--;
	memcpy(client->reason, client->wire.text, sizeof(client->reason));
	client->has_reason = true;
	return 0;
}

/*
 * Answers come in the order of the questions: only the last one's is still wanted. It may hold
 * fewer names than were asked for, when they are long; the rest is asked for again.
 */
static int on_described(struct pl_client *client, struct pl_error *error)
{
	const struct pl_wire_described *said = &client->wire.described;

	if (client->n_describes == 0)
		return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"the daemon described records that nobody asked for");
	if (--client->n_describes || !client->names)
		return 0;
	if (said->n == 0 || (size_t)said->n > client->n_names)
		return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"the daemon described %d records of %zu", said->n, client->n_names);
	for (int i = 0; i < said->n; i++) {
		*client->names = strdup(said->name[i]);
		if (!*client->names)
			return pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory");
		client->names++;
		client->n_names--;
	}
	return 0;
}

static int on_error(struct pl_client *client, struct pl_error *error)
{
	const struct pl_wire_error *said = &client->wire.error;

	return pl_error_take(
		error, said->code, (int)said->exit_status, said->text, strlen(said->text));
}

static int on_end(struct pl_client *client, struct pl_error *error)
{
	client->final = PL_END;
	return 0;
}

static int on_closed(struct pl_client *client, struct pl_error *error)
{
	return pl_error_set(error, -EPROTO, PL_EXIT_FAILED, "the daemon closed a stream in use");
}

static const struct {
	enum pl_wire_kind kind;
	int (*take)(struct pl_client *client, struct pl_error *error);
} on[] = {
	{PL_WIRE_BATCH, on_batch},
	{PL_WIRE_TRACE, on_trace},
	{PL_WIRE_BECAUSE, on_because},
	{PL_WIRE_DESCRIBED, on_described},
	{PL_WIRE_ERROR, on_error},
	{PL_WIRE_END, on_end},
	{PL_WIRE_CLOSED, on_closed},
};

static int take_message(struct pl_client *client, size_t n, struct pl_error *error)
{
	if (pl_wire_unpack(&client->wire, client->bytes, n))
		return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"the daemon sent a datagram of %zu bytes that is no message", n);
	for (size_t i = 0; i < PL_ARRAY_LEN(on); i++)
		if (on[i].kind == client->wire.kind)
			return on[i].take(client, error);
	return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
		"the daemon sent a message of kind %d, which is not for clients",
		(int)client->wire.kind);
}

int pl_client_receive(struct pl_client *client)
{
	struct pl_error *error = &client->failure;
	size_t n;
	int r = pl_frame_receive(client->fd, client->bytes, &n, NULL);

	if (r == -EAGAIN)
		return r;
	if (r == PL_FRAME_END || r < 0)
		return -ECONNRESET;
	if (r == PL_FRAME_REFUSED)
		r = pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"the daemon sent a datagram that is too long");
	else
		r = take_message(client, n, error);
	if (r)
		client->final = r;
	return 0;
}
