/* daemon/plan/subst.c - $(name) and $(NAME:-default) in values, replaced after parsing. */
#include <stdio.h>

#include "daemon/plan/bytes.h"
#include "daemon/plan/expand.h"
#include "daemon/plan/suggest.h"

/*
 * A value stays one value, whatever is put into it: replacing happens on the text of a node, so it
 * can never make a list, a map or a key. $$( stands for a plain $(. What was put in isn't looked at
 * again.
 */

static size_t name_length(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

static const char *param_value(const struct pl_expand *x, const char *name, size_t n)
{
	for (int i = 0; i < x->n_params; i++)
		if (strlen(x->param_name[i]) == n && memcmp(x->param_name[i], name, n) == 0)
			return x->param_value[i];
	return NULL;
}

static struct pl_names param_names(const struct pl_expand *x)
{
	struct pl_names names = {0};

	for (int i = 0; i < x->n_params; i++)
		pl_names_add(&names, x->param_name[i]);
	return names;
}

static const char *unknown_param(
	struct pl_expand *x, const struct pl_node *node, const char *name, size_t n)
{
	struct pl_names names = param_names(x);
	char wrong[80];
	char hint[800];

	snprintf(wrong, sizeof(wrong), "%.*s", (int)(n < 64 ? n : 64), name);
	pl_diag_error(x->diag, node->at, "$(%s): no parameter of that name under 'params:'%s",
		wrong,
		names.n ? pl_names_hint(&names, wrong, hint, sizeof(hint))
			: " ($(NAME:-default) takes one from the environment)");
	return NULL;
}

/* A variable of the environment, or NULL when it is unset, empty or no text. */
static const char *environment(
	struct pl_expand *x, const struct pl_node *node, const char *name, size_t n)
{
	char *copy = pl_pool_text(x->pool, name, n);
	const char *value = copy ? getenv(copy) : NULL;

	for (const char *s = value; s && *s;) {
		size_t length = pl_bytes_utf8(s, strlen(s));

		if (length == 0) {
			pl_diag_error(x->diag, node->at,
				"$(%s:-...): the variable is not valid UTF-8", copy);
			return NULL;
		}
		s += length;
	}
	return value && value[0] ? value : NULL;
}

/* The text for the reference that stands behind "$(": *end is set behind its ')'. NULL: told. */
static const char *reference(struct pl_expand *x, const struct pl_node *node, const char *text,
	const char **end, size_t *n)
{
	size_t n_name = name_length(text);
	const char *close = strchr(text, ')');
	const char *value;

	if (n_name > 0 && text[n_name] == ')') {
		*end = text + n_name + 1;
		value = param_value(x, text, n_name);
		*n = value ? strlen(value) : 0;
		return value ? value : unknown_param(x, node, text, n_name);
	}
	if (n_name == 0 || strncmp(text + n_name, ":-", 2) != 0 || !close) {
		pl_diag_error(x->diag, node->at,
			"'$(' begins $(name) or $(NAME:-default), but this is neither; write $$( "
			"for a "
			"plain $(");
		return NULL;
	}
	*end = close + 1;
	value = environment(x, node, text, n_name);
	*n = value ? strlen(value) : (size_t)(close - text) - n_name - 2;
	return value ? value : text + n_name + 2;
}

/* The text with all references replaced; NULL: told. */
static char *subst_text(struct pl_expand *x, const struct pl_node *node)
{
	PL_AUTO_FREE char *built = NULL;
	size_t n_built = 0;
	FILE *out = open_memstream(&built, &n_built);
	const char *at = node->text;
	bool is_ok = out != NULL;

	while (is_ok && *at) {
		const char *value = at;
		size_t n = 1;

		if (strncmp(at, "$$(", 3) == 0) {
			value = "$(";
			n = 2;
			at += 3;
		} else if (strncmp(at, "$(", 2) == 0) {
			value = reference(x, node, at + 2, &at, &n);
		} else {
			at++;
		}
		is_ok = value != NULL;
		if (is_ok)
			fwrite(value, 1, n, out);
	}
	if (!out || fclose(out) != 0 || !is_ok)
		return NULL;
	return pl_pool_text(x->pool, built, n_built);
}

static struct pl_node *subst_leaf(struct pl_expand *x, const struct pl_node *node)
{
	struct pl_node *copy = pl_node_text(x->pool, node->at, "", 0);

	if (!copy)
		return NULL;
	*copy = *node;
	if (node->kind != PL_NODE_TEXT || !strstr(node->text, "$("))
		return copy;
	copy->text = subst_text(x, node);
	if (!copy->text) {
		copy->kind = PL_NODE_BAD;
		copy->text = "";
	}
	return copy;
}

struct pl_node *pl_subst(struct pl_expand *x, const struct pl_node *node)
{
	struct pl_node *copy;

	if (node->kind != PL_NODE_LIST && node->kind != PL_NODE_MAP)
		return subst_leaf(x, node);
	copy = pl_node_branch(x->pool, node->kind, node->at, node->n);
	for (int i = 0; copy && i < node->n; i++) {
		if (node->kind == PL_NODE_MAP)
			copy->key[i] = node->key[i];
		copy->item[i] = pl_subst(x, node->item[i]);
		if (!copy->item[i])
			return NULL;
	}
	return copy;
}

static bool is_param_name(const char *name)
{
	size_t n = name_length(name);

	return n > 0 && n <= 64 && !name[n] && (name[0] < '0' || name[0] > '9');
}

static const struct pl_setting *find_setting(const struct pl_expand *x, const char *name)
{
	const struct pl_setting *found = NULL;

	for (int i = 0; i < x->n_settings; i++)
		if (strcmp(x->setting[i].name, name) == 0)
			found = &x->setting[i];
	return found;
}

/* A default may use the environment and the parameters above it. */
static void add_param(struct pl_expand *x, const struct pl_node *key, const struct pl_node *value)
{
	const struct pl_setting *setting = find_setting(x, key->text);
	struct pl_node *node;

	if (value->kind == PL_NODE_BAD)
		return;
	if (!is_param_name(key->text)) {
		pl_diag_error(x->diag, key->at,
			"params: '%s' is no name for a parameter: letters, digits and '_'",
			key->text);
		return;
	}
	if (value->kind != PL_NODE_TEXT) {
		pl_diag_error(x->diag, value->at,
			"params: the default of '%s' must be a single value, not %s: a parameter "
			"fills "
			"in values, never lists or maps",
			key->text, pl_node_kind_name(value));
		return;
	}
	if (x->n_params == PL_PARAM_LIST_MAX) {
		pl_diag_error(
			x->diag, key->at, "params: more than %d parameters", PL_PARAM_LIST_MAX);
		return;
	}
	node = pl_subst(x, value);
	if (!node || node->kind != PL_NODE_TEXT)
		return;
	x->param_name[x->n_params] = key->text;
	x->param_value[x->n_params++] = setting ? setting->value : node->text;
}

static bool is_declared(const struct pl_node *params, const char *name)
{
	return params && pl_node_position(params, name) >= 0;
}

static void check_settings(struct pl_expand *x, const struct pl_node *params, struct pl_place at)
{
	struct pl_names names = {0};
	char list[800];

	for (int i = 0; params && i < params->n; i++)
		if (params->kind == PL_NODE_MAP)
			pl_names_add(&names, params->key[i]->text);
	pl_names_join(&names, list, sizeof(list));
	for (int i = 0; i < x->n_settings; i++)
		if (!is_declared(params, x->setting[i].name))
			pl_diag_error(x->diag, at,
				"%s=%s: the pipeline declares no parameter '%s' (declared: %s)",
				x->setting[i].name, x->setting[i].value, x->setting[i].name, list);
}

void pl_subst_params(struct pl_expand *x, const struct pl_node *root)
{
	const struct pl_node *params = pl_node_find(root, "params");
	int i = pl_node_position(root, "params");

	check_settings(x, params, i < 0 ? root->at : root->key[i]->at);
	if (!params || params->kind == PL_NODE_BAD)
		return;
	if (params->kind != PL_NODE_MAP) {
		pl_diag_error(x->diag, params->at, "params must be a map of name: default, not %s",
			pl_node_kind_name(params));
		return;
	}
	for (i = 0; i < params->n; i++)
		add_param(x, params->key[i], params->item[i]);
}
