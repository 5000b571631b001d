/* daemon/plan/expand.c - params, include, define and use written out. */
#include "daemon/plan/expand.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "daemon/plan/suggest.h"

static const char *reason_of(int number)
{
	if (number == EISDIR)
		return "not a file";
	return number == EFBIG ? "larger than 4 MiB" : strerror(number);
}

/* The path that `name`, written in the file `includer`, means. */
static const char *path_beside(struct pl_expand *x, const char *includer, const char *name)
{
	const char *slash = strrchr(includer, '/');

	if (name[0] == '/' || !slash)
		return name;
	return pl_pool_format(x->pool, "%.*s/%s", (int)(slash - includer), includer, name);
}

/* True when the file is being read already: told with the chain. */
static bool is_recursive(struct pl_expand *x, const struct pl_node *path, const char *real)
{
	char chain[600];
	size_t n = 0;
	int i = 0;

	while (i < x->n_open_files && strcmp(x->open_file[i], real) != 0)
		i++;
	if (i == x->n_open_files && i < PL_NODE_DEPTH_MAX)
		return false;
	for (; i < x->n_open_files && n < sizeof(chain); i++) {
		const char *slash = strrchr(x->open_file[i], '/');

		n += (size_t)snprintf(chain + n, sizeof(chain) - n, "%s -> ",
			slash ? slash + 1 : x->open_file[i]);
	}
	pl_diag_error(x->diag, path->at, "include: '%s' includes itself: %s%s", path->text, chain,
		strrchr(real, '/') ? strrchr(real, '/') + 1 : real);
	return true;
}

/* The root of a file that was read before, or is read now. NULL: told. */
static struct pl_node *read_once(
	struct pl_expand *x, const struct pl_node *path, const char *name, const char *real)
{
	struct pl_node *root;
	int open_errno = 0;

	for (int i = 0; i < x->n_read; i++)
		if (strcmp(x->read_file[i], real) == 0)
			return x->read_root[i];
	root = pl_yaml_read(x->pool, x->diag, name, name, &open_errno);
	if (open_errno)
		pl_diag_error(x->diag, path->at, "include: can't read '%s': %s", path->text,
			reason_of(open_errno));
	root = root ? pl_subst(x, root) : NULL;
	if (root && x->n_read < PL_TEXTS_MAX) {
		x->read_file[x->n_read] = real;
		x->read_root[x->n_read++] = root;
	}
	return root;
}

struct pl_node *pl_include_read(struct pl_expand *x, const struct pl_node *path)
{
	const char *name = path_beside(x, pl_diag_text_name(x->diag, path->at.file), path->text);
	char buffer[PATH_MAX];
	const char *real;
	struct pl_node *root;

	if (!name || !realpath(name, buffer)) {
		pl_diag_error(x->diag, path->at, "include: can't read '%s': %s", path->text,
			strerror(errno));
		return NULL;
	}
	real = pl_pool_text(x->pool, buffer, strlen(buffer));
	if (!real || is_recursive(x, path, real))
		return NULL;
	root = read_once(x, path, name, real);
	if (root)
		x->open_file[x->n_open_files++] = real;
	return root;
}

void pl_include_done(struct pl_expand *x)
{
	x->n_open_files--;
}

static void add_define(struct pl_expand *x, const struct pl_node *name, const struct pl_node *list)
{
	if (list->kind == PL_NODE_BAD)
		return;
	if (list->kind != PL_NODE_LIST) {
		pl_diag_error(x->diag, list->at, "define: '%s' must be a list of steps, not %s",
			name->text, pl_node_kind_name(list));
		return;
	}
	for (int i = 0; i < x->n_defines; i++) {
		if (strcmp(x->define[i].name->text, name->text) != 0)
			continue;
		pl_diag_error(x->diag, name->at, "define: '%s' is defined twice", name->text);
		pl_diag_note(x->diag, x->define[i].name->at, "it was defined here first");
		return;
	}
	if (x->n_defines == PL_DEFINES_MAX) {
		pl_diag_error(
			x->diag, name->at, "define: more than %d definitions", PL_DEFINES_MAX);
		return;
	}
	x->define[x->n_defines++] = (struct pl_define){.name = name, .list = list};
}

static void check_included_keys(struct pl_expand *x, const struct pl_node *root)
{
	for (int i = 0; i < root->n; i++) {
		const char *key = root->key[i]->text;

		if (strcmp(key, "define") != 0 && strcmp(key, "include") != 0 &&
			strcmp(key, "version") != 0)
			pl_diag_error(x->diag, root->key[i]->at,
				"'%s' has no place in an included file: only define, include and "
				"version",
				key);
	}
}

static void include_defines(struct pl_expand *x, const struct pl_node *path)
{
	struct pl_node *root;

	if (path->kind != PL_NODE_TEXT) {
		if (path->kind != PL_NODE_BAD)
			pl_diag_error(x->diag, path->at,
				"include must be a path or a list of paths, not %s",
				pl_node_kind_name(path));
		return;
	}
	root = pl_include_read(x, path);
	if (!root)
		return;
	if (root->kind == PL_NODE_MAP) {
		check_included_keys(x, root);
		pl_define_add(x, root);
	} else if (root->kind != PL_NODE_BAD) {
		pl_diag_error(x->diag, root->at,
			"a file included at the top level must be a map with 'define:', not %s",
			pl_node_kind_name(root));
	}
	pl_include_done(x);
}

void pl_define_add(struct pl_expand *x, const struct pl_node *root)
{
	const struct pl_node *define = pl_node_find(root, "define");
	const struct pl_node *include = pl_node_find(root, "include");

	if (define && define->kind == PL_NODE_MAP)
		for (int i = 0; i < define->n; i++)
			add_define(x, define->key[i], define->item[i]);
	else if (define && define->kind != PL_NODE_BAD)
		pl_diag_error(x->diag, define->at, "define must be a map of name: [steps], not %s",
			pl_node_kind_name(define));
	if (include && include->kind == PL_NODE_LIST)
		for (int i = 0; i < include->n; i++)
			include_defines(x, include->item[i]);
	else if (include)
		include_defines(x, include);
}

/* The value of a stage with its list of steps written out. */
static struct pl_node *expand_stage(struct pl_expand *x, const struct pl_node *stage)
{
	struct pl_node *copy;

	if (stage->kind == PL_NODE_LIST)
		return pl_splice(x, stage, 0);
	if (stage->kind != PL_NODE_MAP)
		return (struct pl_node *)stage;
	copy = pl_node_branch(x->pool, PL_NODE_MAP, stage->at, stage->n);
	for (int i = 0; copy && i < stage->n; i++) {
		copy->key[i] = stage->key[i];
		copy->item[i] = strcmp(stage->key[i]->text, "steps") == 0
					? pl_splice(x, stage->item[i], 0)
					: stage->item[i];
		if (!copy->item[i])
			return NULL;
	}
	return copy;
}

static bool is_expanded_away(const char *key)
{
	return strcmp(key, "params") == 0 || strcmp(key, "define") == 0 ||
	       strcmp(key, "include") == 0;
}

static bool is_stage(const char *key)
{
	return strcmp(key, "pre_main") == 0 || strcmp(key, "workers") == 0 ||
	       strcmp(key, "post_main") == 0;
}

static struct pl_node *expand_root(struct pl_expand *x, const struct pl_node *root)
{
	struct pl_node *copy = pl_node_branch(x->pool, PL_NODE_MAP, root->at, root->n);

	if (!copy)
		return NULL;
	copy->n = 0;
	for (int i = 0; i < root->n; i++) {
		const char *key = root->key[i]->text;
		struct pl_node *value;

		if (is_expanded_away(key))
			continue;
		value = is_stage(key) ? expand_stage(x, root->item[i]) : root->item[i];
		if (!value)
			return NULL;
		copy->key[copy->n] = root->key[i];
		copy->item[copy->n++] = value;
	}
	return copy;
}

/* The root with $(name)s replaced everywhere but in `params`, which made them. */
static struct pl_node *subst_root(struct pl_expand *x, const struct pl_node *root)
{
	struct pl_node *copy = pl_node_branch(x->pool, PL_NODE_MAP, root->at, root->n);

	for (int i = 0; copy && i < root->n; i++) {
		copy->key[i] = root->key[i];
		copy->item[i] = strcmp(root->key[i]->text, "params") == 0
					? root->item[i]
					: pl_subst(x, root->item[i]);
		if (!copy->item[i])
			return NULL;
	}
	return copy;
}

struct pl_node *pl_expand_file(struct pl_expand *x)
{
	struct pl_node *root;
	char real[PATH_MAX];
	int open_errno = 0;

	root = pl_yaml_read(x->pool, x->diag, x->path, x->path, &open_errno);
	if (!root) {
		if (open_errno)
			pl_diag_error(x->diag, (struct pl_place){.file = -1}, "can't read '%s': %s",
				x->path, reason_of(open_errno));
		return NULL;
	}
	if (root->kind != PL_NODE_MAP) {
		if (root->kind != PL_NODE_BAD)
			pl_diag_error(x->diag, root->at,
				"a pipeline file is a map ('source: ...', 'workers: ...'), not %s",
				pl_node_kind_name(root));
		return NULL;
	}
	if (realpath(x->path, real))
		x->open_file[x->n_open_files++] = pl_pool_text(x->pool, real, strlen(real));
	if (x->n_open_files == 0 || !x->open_file[0])
		return NULL;
	pl_subst_params(x, root);
	root = subst_root(x, root);
	if (!root)
		return NULL;
	pl_define_add(x, root);
	return expand_root(x, root);
}
