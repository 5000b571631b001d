/* daemon/plan/params.c - maps to the struct that a parameter table describes. */
#include "daemon/plan/params.h"

#include "daemon/plan/names.h"

static bool is_for_planner(const struct pl_param *param)
{
	return param->kind == PL_PARAM_STEPS || param->kind == PL_PARAM_BRANCHES ||
	       param->kind == PL_PARAM_SOURCES;
}

/* The node that a default's text stands for. */
static struct pl_node *default_node(const struct pl_convert *c, const struct pl_param *param)
{
	struct pl_place nowhere = {.file = -1};
	struct pl_diag *quiet;
	struct pl_node *node;

	if (param->def[0] != '[' && param->def[0] != '{')
		return pl_node_text(c->pool, nowhere, param->def, strlen(param->def));
	quiet = pl_diag_create();
	if (!quiet)
		return NULL;
	node = pl_yaml_parse(c->pool, quiet, -1, param->def, strlen(param->def));
	pl_diag_destroy(quiet);
	return node;
}

static bool set_default(const struct pl_convert *c, const struct pl_param *param, void *params)
{
	struct pl_diag *quiet = pl_diag_create();
	struct pl_convert silent = {.pool = c->pool, .diag = quiet, .what = ""};
	struct pl_node *node = quiet ? default_node(c, param) : NULL;
	bool is_ok = node && pl_params_set(&silent, param, node, params);

	pl_diag_destroy(quiet);
	if (!is_ok)
		pl_diag_error(c->diag, (struct pl_place){0},
			"%sthe declared default of '%s' is broken: '%s'", c->what, param->key,
			param->def);
	return is_ok;
}

bool pl_params_defaults(const struct pl_convert *c, const struct pl_param *table, void *params)
{
	bool is_ok = true;

	for (; table && table->key; table++)
		if (table->def && table->def[0] && !is_for_planner(table))
			is_ok &= set_default(c, table, params);
	return is_ok;
}

const struct pl_param *pl_params_find(const struct pl_param *table, const char *key)
{
	for (; table && table->key; table++)
		if (strcmp(table->key, key) == 0)
			return table;
	return NULL;
}

const struct pl_param *pl_params_obvious(const struct pl_param *table)
{
	for (; table && table->key; table++)
		if (table->is_obvious)
			return table;
	return NULL;
}

void pl_params_names(const struct pl_param *table, struct pl_names *names)
{
	for (; table && table->key; table++)
		pl_names_add(names, table->key);
}

static void unknown_key(const struct pl_convert *c, const struct pl_param *table,
	const struct pl_names *others, const struct pl_node *key)
{
	const char *later = c->owner ? pl_names_later_param(c->owner, key->text) : NULL;
	struct pl_names names = {0};
	char quoted[64];
	char hint[800];

	if (later) {
		pl_diag_error(c->diag, key->at, "%s'%s' is %s", c->what, key->text, later);
		return;
	}
	pl_params_names(table, &names);
	for (int i = 0; others && i < others->n; i++)
		pl_names_add(&names, others->name[i]);
	pl_diag_error(c->diag, key->at, "%sunknown key '%s'%s", c->what,
		pl_err_quote(quoted, sizeof(quoted), key->text),
		pl_names_hint(&names, key->text, hint, sizeof(hint)));
}

static bool set_given(const struct pl_convert *c, const struct pl_param *table,
	const struct pl_node *map, const struct pl_names *others, void *params)
{
	bool is_ok = true;

	for (int i = 0; i < map->n; i++) {
		const struct pl_param *param = pl_params_find(table, map->key[i]->text);

		if (param) {
			is_ok &= pl_params_set(c, param, map->item[i], params);
		} else if (!others || !pl_names_has(others, map->key[i]->text)) {
			unknown_key(c, table, others, map->key[i]);
			is_ok = false;
		}
	}
	return is_ok;
}

/* A key that was told as a misspelling of `key`, or as one that may be given in its place some day.
 */
static bool is_told(const struct pl_convert *c, const struct pl_param *table,
	const struct pl_names *others, const struct pl_node *map, const char *key)
{
	struct pl_names names = {0};

	pl_params_names(table, &names);
	for (int i = 0; map && i < map->n; i++) {
		const char *given = map->key[i]->text;
		const char *near;

		if (pl_names_has(&names, given) || (others && pl_names_has(others, given)))
			continue;
		if (c->owner && pl_names_later_param(c->owner, given))
			return true;
		near = pl_names_nearest(&names, given);
		if (near && strcmp(near, key) == 0)
			return true;
	}
	return false;
}

bool pl_params_fill(const struct pl_convert *c, const struct pl_param *table,
	const struct pl_node *map, const struct pl_names *others, void *params)
{
	bool is_ok = pl_params_defaults(c, table, params);

	if (map)
		is_ok &= set_given(c, table, map, others, params);
	for (const struct pl_param *p = table; p && p->key; p++) {
		if (p->def || pl_node_find(map, p->key))
			continue;
		is_ok = false;
		if (!is_told(c, table, others, map, p->key))
			pl_diag_error(
				c->diag, c->at, "%s'%s' is missing: %s", c->what, p->key, p->help);
	}
	return is_ok;
}
