/* client/schema.c - the fields of a stream's batches, as Welcome told them. */
#include "client/room.h"

#include <errno.h>

/* The numbers are those of enum pl_kind, which are part of the protocol. */
static const char *const kind_names[] = {"?", "tensor", "image", "mask", "boxes", "points", "video",
	"audio", "tokens", "text", "list", "json", "scalar", "bytes"};

enum { FORM_FIXED, FORM_RAGGED, FORM_SINGLE };

int pl_schema_init(struct pl_schema *schema, const struct pl_wire_welcome *welcome)
{
	size_t n = (size_t)welcome->n_fields;

	schema->n = n;
	schema->field = calloc(n ? n : 1, sizeof(*schema->field));
	schema->wire = calloc(n ? n : 1, sizeof(*schema->wire));
	if (!schema->field || !schema->wire) {
		pl_schema_finish(schema);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		struct pl_wire_field *from = &schema->wire[i];
		struct pl_field *to = &schema->field[i];

		*from = welcome->field[i];
		to->name = from->name;
		to->kind = kind_names[from->kind < PL_ARRAY_LEN(kind_names) ? from->kind : 0];
		to->dtype = (enum pl_dtype)from->dtype;
		to->rank = from->rank;
		memcpy(to->shape, from->shape, sizeof(to->shape[0]) * (size_t)from->rank);
		to->is_batched = from->form == FORM_FIXED;
		to->is_ragged = from->form == FORM_RAGGED;
	}
	return 0;
}

void pl_schema_finish(struct pl_schema *schema)
{
	free(schema->field);
	free(schema->wire);
	memset(schema, 0, sizeof(*schema));
}

static bool is_same(const struct pl_wire_field *a, const struct pl_wire_field *b)
{
	return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->dtype == b->dtype &&
	       a->form == b->form && a->rank == b->rank &&
	       memcmp(a->shape, b->shape, sizeof(a->shape[0]) * (size_t)a->rank) == 0;
}

const char *pl_schema_difference(
	const struct pl_schema *schema, const struct pl_wire_welcome *welcome)
{
	size_t n = (size_t)welcome->n_fields;

	for (size_t i = 0; i < schema->n && i < n; i++)
		if (!is_same(&schema->wire[i], &welcome->field[i]))
			return schema->wire[i].name;
	if (n == schema->n)
		return NULL;
	return n > schema->n ? welcome->field[schema->n].name : schema->wire[n].name;
}
