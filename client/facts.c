/* client/facts.c - what is known of an open stream: position, fields, classes, numbers. */
#include "client/room.h"

PL_EXPORT int pl_client_fd(const struct pl_client *client)
{
	return client->fd;
}

PL_EXPORT size_t pl_client_state(const struct pl_client *client, void *out, size_t n)
{
	uint8_t token[PL_WIRE_TOKEN_MAX];
	size_t length = pl_cursor_token(&client->cursor, token);

	if (n && length)
		memcpy(out, token, n < length ? n : length);
	return length;
}

PL_EXPORT const char *pl_client_trace(struct pl_client *client)
{
	return pl_trace_pop(&client->trace);
}

PL_EXPORT size_t pl_client_n_fields(const struct pl_client *client)
{
	return client->link->schema.n;
}

PL_EXPORT const struct pl_field *pl_client_field(const struct pl_client *client, size_t i)
{
	return i < client->link->schema.n ? &client->link->schema.field[i] : NULL;
}

PL_EXPORT const char *pl_client_pipeline(const struct pl_client *client)
{
	return client->facts.pipeline;
}

PL_EXPORT const char *pl_client_class(const struct pl_client *client, uint32_t label)
{
	return label < client->n_classes ? client->class_name[label] : NULL;
}

PL_EXPORT uint32_t pl_client_n_classes(const struct pl_client *client)
{
	return client->n_classes;
}

PL_EXPORT uint64_t pl_client_batch_size(const struct pl_client *client)
{
	return client->facts.batch_size;
}

PL_EXPORT int64_t pl_client_epochs(const struct pl_client *client)
{
	return client->facts.epochs;
}

PL_EXPORT int64_t pl_client_records(const struct pl_client *client)
{
	return client->facts.records;
}

PL_EXPORT int64_t pl_client_batches_per_epoch(const struct pl_client *client)
{
	return client->facts.batches_per_epoch;
}

PL_EXPORT int pl_client_daemon_pid(const struct pl_client *client)
{
	return (int)client->facts.daemon_pid;
}

PL_EXPORT int pl_client_dispatcher_pid(const struct pl_client *client)
{
	return (int)client->facts.dispatcher_pid;
}

PL_EXPORT uint64_t pl_client_birth(const struct pl_client *client)
{
	return client->facts.birth;
}

PL_EXPORT const char *pl_version(void)
{
	return PL_VERSION;
}
