/* daemon/plan/schema.c - a JSON Schema of pipeline files, from the declarations. */
#include <jansson.h>

#include "daemon/kit/registry.h"
#include "daemon/plan/dump.h"
#include "daemon/plan/params.h"
#include "daemon/plan/settings.h"

/*
 * For editors: completion, help and the plain mistakes. $(name) may stand for any single value, so
 * every one of them also accepts such a text.
 */
#define SUBST_PATTERN "\\$\\("

static json_t *typed(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

static json_t *substituted(void)
{
	return json_pack("{s:s,s:s}", "type", "string", "pattern", SUBST_PATTERN);
}

static json_t *reference(const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/$defs/%s", name));
}

static json_t *any_of(json_t *first, json_t *second)
{
	return json_pack("{s:[o,o]}", "anyOf", first, second);
}

static json_t *list_of(json_t *item)
{
	return json_pack("{s:s,s:o}", "type", "array", "items", item);
}

static json_t *words(const char *const *word)
{
	json_t *array = json_array();

	for (; word && *word; word++)
		json_array_append_new(array, json_string(*word));
	return json_pack("{s:o}", "enum", array);
}

static json_t *number(const struct pl_param *p, const char *type)
{
	json_t *schema = typed(type);

	if ((p->min != 0 || p->max != 0) && p->kind != PL_PARAM_DURATION &&
		p->kind != PL_PARAM_BYTES) {
		json_object_set_new(schema, "minimum", json_real(p->min));
		if (p->max >= p->min && p->max < 9e15)
			json_object_set_new(schema, "maximum", json_real(p->max));
	}
	return any_of(schema, substituted());
}

static json_t *with_unit(const struct pl_param *p, const char *pattern)
{
	json_t *text = json_pack("{s:s,s:s}", "type", "string", "pattern", pattern);

	return any_of(number(p, "number"), text);
}

static json_t *pair_of(json_t *item)
{
	return json_pack(
		"{s:s,s:o,s:i,s:i}", "type", "array", "items", item, "minItems", 2, "maxItems", 2);
}

static json_t *scalar_schema(const struct pl_param *p)
{
	switch (p->kind) {
	case PL_PARAM_INT:
		return number(p, "integer");
	case PL_PARAM_FLOAT:
		return any_of(number(p, "number"),
			json_pack("{s:s,s:s}", "type", "string", "pattern", "/"));
	case PL_PARAM_BOOL:
		return any_of(typed("boolean"), substituted());
	case PL_PARAM_CHOICE:
		return any_of(words(p->choices), substituted());
	case PL_PARAM_BYTES:
		return with_unit(p, "^[0-9.]+ ?([KMGT]i)?B?$|" SUBST_PATTERN);
	case PL_PARAM_DURATION:
		return with_unit(p, "^[0-9.]+ ?(ms|s|min|h)$|" SUBST_PATTERN);
	default:
		return json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");
	}
}

static json_t *list_schema(const struct pl_param *p)
{
	switch (p->kind) {
	case PL_PARAM_SIZE:
		return any_of(number(p, "integer"), pair_of(number(p, "integer")));
	case PL_PARAM_RANGE:
	case PL_PARAM_FLOATS: {
		json_t *one = json_pack("{s:[s,s]}", "type", "number", "string");

		return any_of(one, list_of(json_pack("{s:[s,s]}", "type", "number", "string")));
	}
	case PL_PARAM_INTS:
		return any_of(number(p, "integer"), list_of(number(p, "integer")));
	case PL_PARAM_TEXTS:
		return any_of(typed("string"), list_of(typed("string")));
	case PL_PARAM_MAP:
		return json_pack("{s:s,s:{s:[s,s]}}", "type", "object", "additionalProperties",
			"type", "number", "string");
	case PL_PARAM_TEXT_MAP:
		return json_pack("{s:s,s:{s:[s,s,s]}}", "type", "object", "additionalProperties",
			"type", "string", "number", "boolean");
	case PL_PARAM_TABLE:
		return any_of(typed("string"),
			json_pack("{s:s,s:{s:[s,s]}}", "type", "object", "additionalProperties",
				"type", "integer", "string"));
	case PL_PARAM_VALUES:
		return typed("array");
	case PL_PARAM_STEPS:
		return reference("steps");
	case PL_PARAM_SOURCES:
		return list_of(reference("source"));
	default:
		return json_object();
	}
}

/* one_of's branches are a list, those of views a map: both are free inside but for the steps. */
static json_t *param_schema(const struct pl_param *p)
{
	json_t *schema = p->kind == PL_PARAM_SIZE || p->kind >= PL_PARAM_RANGE ? list_schema(p)
									       : scalar_schema(p);

	if (p->kind == PL_PARAM_EXPR) {
		json_decref(schema);
		schema = typed("string");
	}
	if (p->choices && p->kind != PL_PARAM_CHOICE)
		schema = any_of(words(p->choices), schema);
	json_object_set_new(schema, "description", json_string(p->help ? p->help : ""));
	if (p->def && p->def[0])
		json_object_set_new(schema, "default", json_string(p->def));
	return schema;
}

static json_t *params_schema(const struct pl_param *table)
{
	json_t *properties = json_object();
	json_t *required = json_array();

	for (; table && table->key; table++) {
		json_object_set_new(properties, table->key, param_schema(table));
		if (!table->def)
			json_array_append_new(required, json_string(table->key));
	}
	return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties,
		"required", required, "additionalProperties", 0);
}

static void add_common(json_t *schema, const struct pl_op *op)
{
	json_t *properties = json_object_get(schema, "properties");

	if (!(op->flags & PL_OP_NO_FIELD)) {
		json_object_set_new(
			properties, "field", any_of(typed("string"), list_of(typed("string"))));
		json_object_set_new(
			properties, "to", any_of(typed("string"), list_of(typed("string"))));
	}
	if (op->stages & PL_STAGE_WORKER) {
		json_object_set_new(properties, "p",
			json_pack("{s:[s,s],s:i,s:i}", "type", "number", "string", "minimum", 0,
				"maximum", 1));
		json_object_set_new(properties, "draw", typed("string"));
	}
}

static json_t *named(const char *name, json_t *value, const char *help)
{
	json_t *properties = json_object();

	json_object_set_new(value, "description", json_string(help));
	json_object_set_new(properties, name, value);
	return json_pack("{s:s,s:o,s:[s],s:b}", "type", "object", "properties", properties,
		"required", name, "additionalProperties", 0);
}

static json_t *steps_schema(void)
{
	struct pl_registry registry = pl_registry();
	json_t *forms = json_array();
	json_t *bare = json_array();

	for (size_t i = 0; i < registry.n_ops; i++) {
		const struct pl_param *obvious = pl_params_obvious(registry.op[i]->params);
		json_t *map = params_schema(registry.op[i]->params);

		add_common(map, registry.op[i]);
		json_array_append_new(bare, json_string(registry.op[i]->name));
		json_array_append_new(
			forms, named(registry.op[i]->name,
				       obvious ? any_of(param_schema(obvious), map) : map,
				       registry.op[i]->help));
	}
	json_array_append_new(forms, named("use", typed("string"), "a list under define"));
	json_array_append_new(forms, named("include", typed("string"), "a list in another file"));
	json_array_append_new(forms, json_pack("{s:o}", "enum", bare));
	return list_of(json_pack("{s:o}", "anyOf", forms));
}

static json_t *source_schema(void)
{
	struct pl_registry registry = pl_registry();
	json_t *properties = json_object();

	for (size_t i = 0; i < registry.n_sources; i++) {
		const struct pl_param *obvious = pl_params_obvious(registry.source[i]->params);
		json_t *map = params_schema(registry.source[i]->params);
		json_t *value = obvious ? any_of(param_schema(obvious), map) : map;

		json_object_set_new(value, "description", json_string(registry.source[i]->help));
		json_object_set_new(properties, registry.source[i]->name, value);
	}
	for (const struct pl_param *p = pl_settings_source; p->key; p++)
		json_object_set_new(properties, p->key, param_schema(p));
	return json_pack("{s:s,s:o,s:b}", "type", "object", "properties", properties,
		"additionalProperties", 0);
}

/* A stage: its bare list of steps, or a map with settings. */
static json_t *stage_schema(const struct pl_param *table)
{
	json_t *map = params_schema(table);

	json_object_set_new(json_object_get(map, "properties"), "steps", reference("steps"));
	return any_of(reference("steps"), map);
}

static json_t *workers_schema(void)
{
	static const char *const none[] = {"none", NULL};
	json_t *stage = stage_schema(pl_settings_workers);
	json_t *map = json_array_get(json_object_get(stage, "anyOf"), 1);

	json_object_set_new(json_object_get(map, "properties"), "env", typed("object"));
	return any_of(words(none), stage);
}

static json_t *shape_schema(const char *key)
{
	static const struct pl_param no_settings[] = {{0}};
	static const char *const on_error[] = {"fail", "substitute", NULL};

	if (strcmp(key, "source") == 0)
		return reference("source");
	if (strcmp(key, "pre_main") == 0)
		return stage_schema(no_settings);
	if (strcmp(key, "workers") == 0)
		return workers_schema();
	if (strcmp(key, "post_main") == 0)
		return stage_schema(pl_settings_post);
	if (strcmp(key, "serve") == 0)
		return params_schema(pl_settings_serve);
	if (strcmp(key, "define") == 0)
		return json_pack(
			"{s:s,s:o}", "type", "object", "additionalProperties", reference("steps"));
	if (strcmp(key, "include") == 0)
		return any_of(typed("string"), list_of(typed("string")));
	if (strcmp(key, "on_error") == 0)
		return any_of(words(on_error),
			named("skip", json_pack("{s:[s,s]}", "type", "integer", "string"),
				"a count, or a share such as 1%"));
	return typed("object");
}

void pl_dump_schema(FILE *out)
{
	json_t *root = params_schema(pl_settings_top);
	json_t *properties = json_object_get(root, "properties");

	for (const struct pl_settings_shape *s = pl_settings_shapes; s->key; s++) {
		json_t *schema = shape_schema(s->key);

		json_object_set_new(schema, "description", json_string(s->help));
		json_object_set_new(properties, s->key, schema);
	}
	json_object_set_new(root, "required", json_pack("[s,s]", "source", "workers"));
	json_object_set_new(
		root, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(root, "title", json_string("pipeline file of pipeloaderd"));
	json_object_set_new(root, "$defs",
		json_pack("{s:o,s:o}", "steps", steps_schema(), "source", source_schema()));
	json_dumpf(root, out, JSON_INDENT(2) | JSON_SORT_KEYS);
	fputc('\n', out);
	json_decref(root);
}
