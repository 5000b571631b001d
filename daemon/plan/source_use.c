/* daemon/plan/source_use.c - `source:` and the fields it brings. */
#include "daemon/kit/registry.h"
#include "daemon/plan/build.h"
#include "daemon/plan/names.h"
#include "daemon/plan/params.h"
#include "daemon/plan/settings.h"

static void unknown_source(struct pl_build *b, const struct pl_node *name)
{
	const char *later = pl_names_later_source(name->text);
	struct pl_registry registry = pl_registry();
	struct pl_names names = {0};
	char hint[800];

	if (later) {
		pl_diag_error(b->diag, name->at, "source '%s' is %s", name->text, later);
		return;
	}
	for (size_t i = 0; i < registry.n_sources; i++)
		pl_names_add(&names, registry.source[i]->name);
	pl_diag_error(b->diag, name->at, "unknown source '%s'%s", name->text,
		pl_names_hint(&names, name->text, hint, sizeof(hint)));
}

/* Position of the key that is the source's kind; -1: told. Every other key is one that all sources
 * take. */
static int kind_position(struct pl_build *b, const struct pl_node *source)
{
	int found = -1;

	for (int i = 0; i < source->n; i++) {
		if (pl_params_find(pl_settings_source, source->key[i]->text))
			continue;
		if (found >= 0) {
			pl_diag_error(b->diag, source->key[i]->at,
				"'%s' beside '%s': a source is one kind, and beside it only name, "
				"missing and "
				"weight; parameters stand inside, as '%s: {%s: ...}'",
				source->key[i]->text, source->key[found]->text,
				source->key[found]->text, source->key[i]->text);
			return -1;
		}
		found = i;
	}
	if (found < 0)
		pl_diag_error(
			b->diag, source->at, "source: no kind is given, such as 'files: ...'");
	return found;
}

/* The parameters as a map: as given, or the obvious one's value. NULL: told. */
static const struct pl_node *params_map(
	struct pl_build *b, const struct pl_source_op *op, const struct pl_node *value)
{
	const struct pl_param *obvious = pl_params_obvious(op->params);
	struct pl_node *map;

	if (value->kind == PL_NODE_MAP)
		return value;
	if (value->kind == PL_NODE_BAD)
		return NULL;
	if (!obvious) {
		pl_diag_error(b->diag, value->at,
			"source '%s' takes no single value: write its parameters as {key: value}",
			op->name);
		return NULL;
	}
	map = pl_node_branch(b->pool, PL_NODE_MAP, value->at, 1);
	if (!map)
		return NULL;
	map->key[0] = pl_node_text(b->pool, value->at, obvious->key, strlen(obvious->key));
	map->item[0] = (struct pl_node *)value;
	return map->key[0] ? map : NULL;
}

static bool read_params(struct pl_build *b, const struct pl_node *kind, const struct pl_node *value)
{
	struct pl_source_use *use = &b->plan->source;
	const struct pl_source_op *op = use->op;
	struct pl_convert c = {b->pool, b->diag, pl_pool_format(b->pool, "source '%s': ", op->name),
		op->name, kind->at, NULL};
	const struct pl_node *map = value ? params_map(b, op, value) : NULL;
	struct pl_err err = {0};

	use->params = pl_pool_alloc(b->pool, op->params_size);
	if (!use->params || !c.what || (value && !map))
		return false;
	if (!pl_params_fill(&c, op->params, map, NULL, use->params))
		return false;
	if (op->check && op->check(use->params, &err) < 0) {
		pl_diag_error(b->diag, value ? value->at : kind->at, "%s%s", c.what, err.text);
		return false;
	}
	return true;
}

static bool read_common(struct pl_build *b, const struct pl_node *source, int kind)
{
	struct pl_convert c = {b->pool, b->diag, "source: ", NULL, source->at, NULL};
	struct pl_source_values v = {0};
	struct pl_names others = {0};
	bool is_ok;

	if (source->kind == PL_NODE_MAP)
		pl_names_add(&others, source->key[kind]->text);
	is_ok = pl_params_fill(
		&c, pl_settings_source, source->kind == PL_NODE_MAP ? source : NULL, &others, &v);
	b->plan->source.name = v.name ? v.name : b->plan->source.op->name;
	return is_ok;
}

static bool add_field(struct pl_build *b, const struct pl_source_field *field, int i)
{
	struct pl_source_use *use = &b->plan->source;
	const char *own = field->name ? field->name : field->own_name;
	const char *name = pl_pool_text(b->pool, own, strlen(own));
	int number = name ? pl_field_number(b, name) : -1;

	if (number < 0) {
		pl_diag_error(b->diag, use->at, "source '%s': more than %d fields", use->op->name,
			PL_FIELDS_MAX - 3);
		return false;
	}
	use->declared[i] = *field;
	use->declared[i].name = name;
	use->field[i] = number;
	b->plan->source_type[number] = field->type;
	return true;
}

/* As they were sealed, or as the source says now. */
static bool add_source_fields(struct pl_build *b, const struct pl_resolved *resolved)
{
	struct pl_source_use *use = &b->plan->source;
	struct pl_source_field fields[PL_FIELDS_MAX] = {0};
	const struct pl_source_field *found = resolved->fields ? resolved->fields : fields;
	int n = resolved->n_fields;
	struct pl_err err = {0};

	if (!resolved->fields && use->op->fields(use->params, b->plan->dir, fields, &n, &err) < 0) {
		pl_diag_error(b->diag, use->at, "source '%s': %s", use->op->name, err.text);
		return false;
	}
	for (int i = 0; i < n; i++)
		if (!add_field(b, &found[i], i))
			return false;
	use->n_fields = n;
	return true;
}

/* The fields of the source first, then _index, _key and _source. */
static bool add_fields(struct pl_build *b, const struct pl_resolved *resolved)
{
	static const char *const standing[] = {"_index", "_key", "_source"};

	if (!add_source_fields(b, resolved))
		return false;
	b->standing = b->plan->n_fields;
	for (int i = 0; i < 3; i++) {
		int number = pl_field_number(b, standing[i]);

		if (number < 0)
			return false;
		b->plan->source_type[number] =
			i == 0 ? pl_type_scalar(PL_I64) : pl_type_bytes(PL_KIND_TEXT);
	}
	return true;
}

bool pl_source_read(struct pl_build *b, const struct pl_resolved *resolved)
{
	const struct pl_node *source = pl_node_find(b->root, "source");
	struct pl_source_use *use = &b->plan->source;
	const struct pl_node *kind = source;
	int position = 0;
	bool is_ok;

	if (!source) {
		pl_diag_error(b->diag, b->root->at, "'source' is missing: what shall be read?");
		return false;
	}
	if (source->kind == PL_NODE_MAP) {
		position = kind_position(b, source);
		if (position < 0)
			return false;
		kind = source->key[position];
	} else if (source->kind != PL_NODE_TEXT) {
		if (source->kind != PL_NODE_BAD)
			pl_diag_error(b->diag, source->at,
				"source must be 'kind: {parameters}', not %s",
				pl_node_kind_name(source));
		return false;
	}
	use->at = kind->at;
	use->op = pl_source_find(kind->text);
	if (!use->op) {
		unknown_source(b, kind);
		return false;
	}
	is_ok = read_common(b, source, position);
	is_ok &= read_params(b, kind, source->kind == PL_NODE_MAP ? source->item[position] : NULL);
	return is_ok && add_fields(b, resolved);
}
