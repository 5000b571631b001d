/* client/describe.c - names of records, asked of the daemon in the middle of a stream. */
#include "client/room.h"

#include <errno.h>

static int send_question(
	struct pl_client *client, const uint64_t *indices, size_t n, int64_t deadline)
{
	int r;

	client->wire.kind = PL_WIRE_DESCRIBE;
	client->wire.describe.n = (int)n;
	memcpy(client->wire.describe.index, indices, n * sizeof(*indices));
	r = pl_client_send(client, deadline);
	if (r == 0)
		client->n_describes++;
	return r == -ETIMEDOUT ? r : 0; /* a connection that is gone shows in what is received */
}

/* Batches that come before the answer wait in `ready`. */
static int await_names(
	struct pl_client *client, const uint64_t *indices, size_t n, int64_t deadline)
{
	uint64_t asked_on = 0; /* which connection, and how many names were missing then */
	size_t asked_for = 0;
	int r = 0;

	while (r == 0 && client->n_names && client->final >= 0) {
		if (client->state == PL_STATE_OPEN &&
			(asked_on != client->link->connection || asked_for != client->n_names)) {
			asked_on = client->link->connection;
			asked_for = client->n_names;
			r = send_question(client, indices + (n - asked_for), asked_for, deadline);
		} else {
			r = pl_client_advance(client, false, deadline);
		}
	}
	return r;
}

PL_EXPORT int pl_client_describe(struct pl_client *client, const uint64_t *indices, size_t n,
	char **names, int timeout_ms, struct pl_error *error)
{
	bool is_told;
	int r;

	memset(names, 0, n * sizeof(*names));
	if (n > PL_ARRAY_LEN(client->wire.describe.index))
		return pl_error_set(error, -EINVAL, PL_EXIT_USAGE,
			"at most 256 records can be described at once, not %zu", n);
	if (!pl_link_is_ours(client->link))
		return pl_error_set(error, -ECHILD, PL_EXIT_FAILED,
			"this stream belongs to the process that forked this one");
	if (n == 0)
		return 0;
	client->names = names;
	client->n_names = n;
	r = await_names(client, indices, n, pl_deadline_after(timeout_ms));
	is_told = client->n_names == 0;
	client->names = NULL;
	client->n_names = 0;
	if (is_told)
		return 0;
	for (size_t i = 0; i < n; i++) {
		free(names[i]);
		names[i] = NULL;
	}
	if (client->final < 0) {
		if (error)
			*error = client->failure;
		return client->final;
	}
	return pl_error_set(error, r, PL_EXIT_FAILED,
		"the daemon did not describe %zu records within %d ms", n, timeout_ms);
}
