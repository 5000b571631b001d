/* daemon/plan/splice.c - use and include in lists of steps, replaced by their steps. */
#include <stdio.h>

#include "daemon/plan/expand.h"
#include "daemon/plan/suggest.h"

#define SPLICE_ITEMS_MAX 4096

/* Steps written out so far in one list. */
struct spliced {
	struct pl_node **item;
	int n;
	int room;
};

static void spliced_finish(struct spliced *s)
{
	free(s->item);
}

static bool spliced_add(struct pl_expand *x, struct spliced *s, struct pl_node *item)
{
	if (!item)
		return false;
	if (++x->n_items > SPLICE_ITEMS_MAX) {
		pl_diag_error(x->diag, item->at,
			"more than %d steps when all use and include are written out",
			SPLICE_ITEMS_MAX);
		return false;
	}
	if (s->n == s->room) {
		int room = s->room ? s->room * 2 : 16;
		struct pl_node **items = reallocarray(s->item, (size_t)room, sizeof(*items));

		if (!items)
			return false;
		s->item = items;
		s->room = room;
	}
	s->item[s->n++] = item;
	return true;
}

static bool splice_list(
	struct pl_expand *x, const struct pl_node *list, int depth, struct spliced *out);

/* A copy of the map with one value put in the place of another. */
static struct pl_node *with_value(
	struct pl_expand *x, const struct pl_node *map, int position, struct pl_node *value)
{
	struct pl_node *copy = pl_node_branch(x->pool, PL_NODE_MAP, map->at, map->n);

	if (!copy || !value)
		return NULL;
	for (int i = 0; i < map->n; i++) {
		copy->key[i] = map->key[i];
		copy->item[i] = i == position ? value : map->item[i];
	}
	return copy;
}

static struct pl_node *splice_key(
	struct pl_expand *x, const struct pl_node *map, const char *key, int depth)
{
	int i = pl_node_position(map, key);

	if (i < 0 || map->item[i]->kind != PL_NODE_LIST)
		return (struct pl_node *)map;
	return with_value(x, map, i, pl_splice(x, map->item[i], depth));
}

/* A branch of one_of: a list, {weight, steps}, or a single step, which becomes a list of one. */
static struct pl_node *splice_branch(struct pl_expand *x, const struct pl_node *branch, int depth)
{
	struct pl_node *list;

	if (branch->kind == PL_NODE_LIST)
		return pl_splice(x, branch, depth);
	if (branch->kind == PL_NODE_MAP &&
		(pl_node_find(branch, "steps") || pl_node_find(branch, "weight")))
		return splice_key(x, branch, "steps", depth);
	list = pl_node_branch(x->pool, PL_NODE_LIST, branch->at, 1);
	if (!list)
		return NULL;
	list->item[0] = (struct pl_node *)branch;
	return pl_splice(x, list, depth);
}

/* The branches of one_of, or of views and by_source by name. */
static struct pl_node *splice_branches(struct pl_expand *x, const struct pl_node *all, int depth)
{
	struct pl_node *copy = pl_node_branch(x->pool, all->kind, all->at, all->n);

	for (int i = 0; copy && i < all->n; i++) {
		if (all->kind == PL_NODE_MAP)
			copy->key[i] = all->key[i];
		copy->item[i] = all->kind == PL_NODE_LIST ? splice_branch(x, all->item[i], depth)
				: all->item[i]->kind == PL_NODE_LIST
					? pl_splice(x, all->item[i], depth)
					: all->item[i];
		if (!copy->item[i])
			return NULL;
	}
	return copy;
}

/* Which steps hold lists of steps, under which key, when not bare. */
static const struct {
	const char *step;
	const char *key;
	bool has_branches;
} holders[] = {
	{"group", "steps", false},
	{"one_of", "of", true},
	{"views", "into", true},
	{"by_source", "of", true},
};

static struct pl_node *splice_inner(
	struct pl_expand *x, const struct pl_node *value, size_t holder, int depth)
{
	const char *key = holders[holder].key;
	int i = pl_node_position(value, key);

	if (!holders[holder].has_branches)
		return value->kind == PL_NODE_LIST ? pl_splice(x, value, depth)
						   : splice_key(x, value, key, depth);
	if (i >= 0 && (value->item[i]->kind == PL_NODE_LIST || value->item[i]->kind == PL_NODE_MAP))
		return with_value(x, value, i, splice_branches(x, value->item[i], depth));
	if (i < 0 && (value->kind == PL_NODE_LIST || value->kind == PL_NODE_MAP))
		return splice_branches(x, value, depth);
	return (struct pl_node *)value;
}

/* A step that isn't use or include: itself, or with its inner lists written out. */
static struct pl_node *splice_step(struct pl_expand *x, const struct pl_node *item, int depth)
{
	if (item->kind != PL_NODE_MAP || item->n != 1)
		return (struct pl_node *)item;
	for (size_t i = 0; i < PL_ARRAY_LEN(holders); i++)
		if (strcmp(item->key[0]->text, holders[i].step) == 0)
			return with_value(x, item, 0, splice_inner(x, item->item[0], i, depth + 1));
	return (struct pl_node *)item;
}

/* The text of `use: name`, or of `use: {name: name}`; NULL: told. */
static const struct pl_node *word_of(
	struct pl_expand *x, const struct pl_node *item, const char *key)
{
	const struct pl_node *value = item->item[0];

	if (value->kind == PL_NODE_MAP && value->n == 1 && strcmp(value->key[0]->text, key) == 0)
		value = value->item[0];
	if (value->kind == PL_NODE_TEXT)
		return value;
	if (value->kind == PL_NODE_MAP && value->n > 1)
		pl_diag_error(x->diag, value->at,
			"'%s' takes a %s and nothing else: put it into a group for p",
			item->key[0]->text, key);
	else if (value->kind != PL_NODE_BAD)
		pl_diag_error(x->diag, value->at, "'%s' takes the %s, not %s", item->key[0]->text,
			strcmp(key, "name") == 0 ? "name of a list under define" : "path of a file",
			pl_node_kind_name(value));
	return NULL;
}

static struct pl_define *find_define(struct pl_expand *x, const struct pl_node *name)
{
	struct pl_names names = {0};
	char hint[800];

	for (int i = 0; i < x->n_defines; i++) {
		if (strcmp(x->define[i].name->text, name->text) == 0)
			return &x->define[i];
		pl_names_add(&names, x->define[i].name->text);
	}
	pl_diag_error(x->diag, name->at, "use: nothing is defined as '%s'%s", name->text,
		names.n ? pl_names_hint(&names, name->text, hint, sizeof(hint))
			: " (there is no 'define:')");
	return NULL;
}

/* "a -> b -> a" of the definitions being written out, innermost last. */
static void tell_recursion(
	struct pl_expand *x, const struct pl_node *at, const struct pl_define *again)
{
	char chain[400];
	size_t n = 0;

	for (int i = 0; i < x->n_chain && n < sizeof(chain); i++)
		n += (size_t)snprintf(
			chain + n, sizeof(chain) - n, "%s -> ", x->chain[i]->name->text);
	pl_diag_error(x->diag, at->at, "use: '%s' uses itself: %s%s", again->name->text, chain,
		again->name->text);
}

/* What can't be written out leaves a step behind that fails in silence. */
static bool add_bad(struct pl_expand *x, struct spliced *out, const struct pl_node *item)
{
	return spliced_add(x, out, pl_node_branch(x->pool, PL_NODE_BAD, item->at, 0));
}

static bool splice_use(
	struct pl_expand *x, const struct pl_node *item, int depth, struct spliced *out)
{
	const struct pl_node *name = word_of(x, item, "name");
	struct pl_define *define = name ? find_define(x, name) : NULL;
	bool is_ok;

	if (!define)
		return add_bad(x, out, item);
	define->is_used = true;
	if (define->is_open || x->n_chain == PL_NODE_DEPTH_MAX) {
		tell_recursion(x, name, define);
		return add_bad(x, out, item);
	}
	define->is_open = true;
	x->chain[x->n_chain++] = define;
	is_ok = splice_list(x, define->list, depth, out);
	x->n_chain--;
	define->is_open = false;
	return is_ok;
}

static bool splice_include(
	struct pl_expand *x, const struct pl_node *item, int depth, struct spliced *out)
{
	const struct pl_node *path = word_of(x, item, "file");
	struct pl_node *root = path ? pl_include_read(x, path) : NULL;
	bool is_ok;

	if (!root)
		return add_bad(x, out, item);
	if (root->kind == PL_NODE_LIST)
		is_ok = splice_list(x, root, depth, out);
	else
		is_ok = add_bad(x, out, item);
	if (root->kind == PL_NODE_TEXT || root->kind == PL_NODE_MAP)
		pl_diag_error(x->diag, root->at,
			"an included list of steps must be a list, not %s (a file of definitions "
			"is "
			"included at the top level)",
			pl_node_kind_name(root));
	pl_include_done(x);
	return is_ok;
}

/* False: the walk must end, told. */
static bool splice_list(
	struct pl_expand *x, const struct pl_node *list, int depth, struct spliced *out)
{
	if (list->kind != PL_NODE_LIST)
		return true;
	if (depth > PL_NODE_DEPTH_MAX) {
		pl_diag_error(x->diag, list->at, "steps are nested too deeply");
		return false;
	}
	for (int i = 0; i < list->n; i++) {
		const struct pl_node *item = list->item[i];
		bool is_map = item->kind == PL_NODE_MAP && item->n == 1;
		bool is_ok;

		if (is_map && strcmp(item->key[0]->text, "use") == 0)
			is_ok = splice_use(x, item, depth, out);
		else if (is_map && strcmp(item->key[0]->text, "include") == 0)
			is_ok = splice_include(x, item, depth, out);
		else
			is_ok = spliced_add(x, out, splice_step(x, item, depth));
		if (!is_ok)
			return false;
	}
	return true;
}

struct pl_node *pl_splice(struct pl_expand *x, const struct pl_node *list, int depth)
{
	PL_CLEANUP(spliced_finish) struct spliced s = {0};
	struct pl_node *copy;

	if (list->kind != PL_NODE_LIST)
		return (struct pl_node *)list;
	if (!splice_list(x, list, depth, &s))
		return NULL;
	copy = pl_node_branch(x->pool, PL_NODE_LIST, list->at, s.n);
	if (copy && s.n > 0)
		memcpy(copy->item, s.item, (size_t)s.n * sizeof(*s.item));
	return copy;
}
