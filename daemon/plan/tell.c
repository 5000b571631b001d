/* daemon/plan/tell.c - what a step's own functions found wrong, at its place in the file. */
#include <stdio.h>

#include "daemon/plan/build.h"
#include "daemon/plan/bytes.h"

/* The parameter that a text is about: it begins with its name. */
static const struct pl_node *named_first(const struct pl_node *args, const char *text)
{
	for (int i = 0; args && args->kind == PL_NODE_MAP && i < args->n; i++) {
		size_t n = strlen(args->key[i]->text);

		if (strncmp(text, args->key[i]->text, n) == 0 && text[n] && strchr(" [:", text[n]))
			return args->item[i];
	}
	return NULL;
}

/* The item of `fields` that doesn't exist, or the list. */
static const struct pl_node *missing_field(const struct pl_node *args, const char *text)
{
	const struct pl_node *fields = pl_node_find(args, "fields");

	if (!fields || strncmp(text, "no field", 8) != 0)
		return NULL;
	for (int i = 0; fields->kind == PL_NODE_LIST && i < fields->n; i++) {
		char quoted[80];

		snprintf(quoted, sizeof(quoted), "no field '%.60s' here", fields->item[i]->text);
		if (strncmp(text, quoted, strlen(quoted)) == 0)
			return fields->item[i];
	}
	return fields;
}

/* Under the very character of a pattern or an expression; where that can't be known, at the value's
 * start, and the text says which character it is. */
static void tell_within(struct pl_build *b, const struct pl_step *step, const struct pl_err *err,
	const struct pl_node *value)
{
	struct pl_place at;
	char quoted[200];

	if (pl_node_place(b->diag, value, err->offset, &at) || value->kind != PL_NODE_TEXT ||
		err->offset > strlen(value->text))
		pl_diag_error(b->diag, at, "step '%s': %s", step->op->name, err->text);
	else
		pl_diag_error(b->diag, at, "step '%s': %s (character %zu of %s '%s')",
			step->op->name, err->text,
			pl_bytes_characters(value->text, err->offset) + 1, err->param,
			pl_err_quote(quoted, sizeof(quoted), value->text));
}

void pl_step_tell(struct pl_build *b, const struct pl_step *step, const struct pl_err *err)
{
	const struct pl_node *args = b->note[step->id].args;
	const struct pl_node *value = err->param ? pl_node_find(args, err->param) : NULL;

	if (value) {
		tell_within(b, step, err, value);
		return;
	}
	value = named_first(args, err->text);
	if (!value)
		value = missing_field(args, err->text);
	pl_diag_error(b->diag, value ? value->at : b->note[step->id].name->at, "step '%s': %s",
		step->op->name, err->text);
}
