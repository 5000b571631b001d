/* daemon/plan/source_use.c - `source:` and the fields it brings. */
#include "daemon/kit/registry.h"
#include "daemon/plan/build.h"
#include "daemon/plan/names.h"
#include "daemon/plan/params.h"
#include "daemon/plan/settings.h"

/* Sources inside of sources inside of ... */
#define DEPTH_MAX 4

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

static bool read_part(struct pl_build *b, const struct pl_node *source, int depth,
	struct pl_source_part *part, struct pl_place *at);

/* The sources inside a source, into its member of that kind. */
static bool read_parts(struct pl_build *b, const struct pl_source_op *op, const struct pl_node *map,
	int depth, void *params)
{
	const struct pl_param *param = op->params;
	const struct pl_node *list;
	struct pl_param_sources *sources;
	bool is_ok = true;

	while (param->key && param->kind != PL_PARAM_SOURCES)
		param++;
	if (!param->key)
		return true;
	list = pl_node_find(map, param->key);
	if (list->kind != PL_NODE_LIST || list->n == 0 || list->n > PL_PARAM_SOURCES_MAX ||
		depth == DEPTH_MAX) {
		pl_diag_error(b->diag, list->at,
			"source '%s': %s must be a list of 1 to %d sources%s", op->name, param->key,
			PL_PARAM_SOURCES_MAX,
			depth == DEPTH_MAX ? ", not deeper in one another" : "");
		return false;
	}
	sources = (void *)((char *)params + param->offset);
	sources->v = pl_pool_array(b->pool, (size_t)list->n, sizeof(*sources->v));
	sources->n = list->n;
	for (int i = 0; i < list->n && sources->v; i++) {
		struct pl_place at;

		is_ok &= read_part(b, list->item[i], depth + 1, &sources->v[i], &at);
	}
	return is_ok && sources->v;
}

static bool read_params(struct pl_build *b, struct pl_source_part *part, const struct pl_node *kind,
	const struct pl_node *value, int depth)
{
	const struct pl_source_op *op = part->op;
	struct pl_convert c = {b->pool, b->diag, pl_pool_format(b->pool, "source '%s': ", op->name),
		op->name, kind->at};
	const struct pl_node *map = value ? params_map(b, op, value) : NULL;
	struct pl_err err = {0};

	part->params = pl_pool_alloc(b->pool, op->params_size);
	if (!part->params || !c.what || (value && !map))
		return false;
	if (!pl_params_fill(&c, op->params, map, NULL, part->params) ||
		!read_parts(b, op, map, depth, part->params))
		return false;
	if (op->check && op->check(part->params, &err) < 0) {
		pl_diag_error(b->diag, value ? value->at : kind->at, "%s%s", c.what, err.text);
		return false;
	}
	return true;
}

static bool read_common(
	struct pl_build *b, struct pl_source_part *part, const struct pl_node *source, int kind)
{
	struct pl_convert c = {b->pool, b->diag, "source: ", NULL, source->at};
	struct pl_source_values v = {0};
	struct pl_names others = {0};
	bool is_ok;

	if (source->kind == PL_NODE_MAP)
		pl_names_add(&others, source->key[kind]->text);
	is_ok = pl_params_fill(
		&c, pl_settings_source, source->kind == PL_NODE_MAP ? source : NULL, &others, &v);
	part->name = v.name ? v.name : part->op->name;
	part->weight = v.weight;
	return is_ok;
}

/* One source, whose kind stands at *at. */
static bool read_part(struct pl_build *b, const struct pl_node *source, int depth,
	struct pl_source_part *part, struct pl_place *at)
{
	const struct pl_node *kind = source;
	int position = 0;
	bool is_ok;

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
	*at = kind->at;
	part->op = pl_source_find(kind->text);
	if (!part->op) {
		unknown_source(b, kind);
		return false;
	}
	is_ok = read_common(b, part, source, position);
	is_ok &= read_params(
		b, part, kind, source->kind == PL_NODE_MAP ? source->item[position] : NULL, depth);
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
	struct pl_source_part part = {0};

	if (!source) {
		pl_diag_error(b->diag, b->root->at, "'source' is missing: what shall be read?");
		return false;
	}
	if (!read_part(b, source, 0, &part, &use->at))
		return false;
	use->op = part.op;
	use->params = part.params;
	use->name = part.name;
	return add_fields(b, resolved);
}
