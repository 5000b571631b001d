/* client/welcome.c - a stream is open: its arena, its schema, its facts. */
#include "client/room.h"

#include <errno.h>

/* The class names are copied: the arena of a later birth is another one. */
static int take_classes(struct pl_client *client, const struct pl_arena *arena,
	const struct pl_wire_welcome *welcome)
{
	size_t n = (size_t)welcome->classes_bytes;
	const char *text = pl_arena_at(arena, welcome->classes_offset, welcome->classes_bytes, 1);
	char *at;

	if (client->class_name || welcome->n_classes == 0)
		return 0;
	if (!text || welcome->n_classes > n || n > INT_MAX)
		return -EPROTO;
	client->class_text = malloc(n + 1);
	client->class_name = calloc(welcome->n_classes, sizeof(*client->class_name));
	if (!client->class_text || !client->class_name)
		return -ENOMEM;
	memcpy(client->class_text, text, n);
	client->class_text[n] = '\0';
	at = client->class_text;
	for (uint32_t i = 0; i < welcome->n_classes; i++) {
		if (at >= client->class_text + n)
			return -EPROTO;
		client->class_name[i] = at;
		at += strlen(at) + 1;
	}
	client->n_classes = welcome->n_classes;
	return 0;
}

static int take_schema(
	struct pl_client *client, const struct pl_wire_welcome *welcome, struct pl_error *error)
{
	struct pl_schema *schema = &client->link->schema;
	const char *other;

	if (!schema->field) {
		if (pl_schema_init(schema, welcome))
			return pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory");
		return 0;
	}
	other = pl_schema_difference(schema, welcome);
	if (!other)
		return 0;
	return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
		"the daemon came back with another pipeline: field '%s' is not what it was", other);
}

static uint32_t choose_credits(const struct pl_client *client)
{
	uint32_t n = client->credits_wanted;

	if (client->open.mode == PL_SHARE)
		return 0; /* a batch asked for in advance is one that no other member can take */
	if (n == UINT32_MAX)
		n = client->facts.prefetch;
	return n < 16 ? n : 16;
}

int pl_client_welcome(struct pl_client *client, const struct pl_wire_welcome *welcome, int fd,
	struct pl_error *error)
{
	struct pl_arena *arena;
	int r;

	if (welcome->version != PL_PROTOCOL_VERSION || fd < 0) {
		pl_closep(&fd);
		return pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"the daemon speaks protocol %u and this library %d", welcome->version,
			PL_PROTOCOL_VERSION);
	}
	arena = pl_arena_open(fd, welcome->arena_bytes, error);
	if (!arena)
		return error ? error->code : -EPROTO;
	r = take_schema(client, welcome, error);
	if (r == 0)
		r = pl_cursor_start(&client->cursor, welcome, error);
	if (r == 0 && take_classes(client, arena, welcome))
		r = pl_error_set(error, -EPROTO, PL_EXIT_FAILED,
			"the class names do not lie in the daemon's arena");
	if (r) {
		pl_arena_release(arena);
		return r;
	}
	pl_arena_release(client->arena);
	client->arena = arena;
	client->facts = *welcome;
	client->credits_max = choose_credits(client);
	client->is_welcomed = true;
	client->n_starts = 0;
	client->n_hangups = 0;
	client->state = PL_STATE_OPEN;
	pl_link_attach(client->link, client->fd);
	return 0;
}
