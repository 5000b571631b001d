/* daemon/plan/node.c - a pipeline file as a tree of values that know their place. */
#include "daemon/plan/node.h"

struct pl_node *pl_node_text(struct pl_pool *pool, struct pl_place at, const char *text, size_t n)
{
	struct pl_node *node = pl_pool_alloc(pool, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = PL_NODE_TEXT;
	node->at = at;
	node->text = pl_pool_text(pool, text, n);
	return node->text ? node : NULL;
}

struct pl_node *pl_node_branch(
	struct pl_pool *pool, enum pl_node_kind kind, struct pl_place at, int n)
{
	struct pl_node *node = pl_pool_alloc(pool, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->at = at;
	node->text = "";
	node->n = n;
	node->item = pl_pool_array(pool, (size_t)n, sizeof(*node->item));
	node->key = kind == PL_NODE_MAP ? pl_pool_array(pool, (size_t)n, sizeof(*node->key)) : NULL;
	return node->item && (kind != PL_NODE_MAP || node->key) ? node : NULL;
}

int pl_node_position(const struct pl_node *map, const char *key)
{
	if (!map || map->kind != PL_NODE_MAP)
		return -1;
	for (int i = 0; i < map->n; i++)
		if (strcmp(map->key[i]->text, key) == 0)
			return i;
	return -1;
}

struct pl_node *pl_node_find(const struct pl_node *map, const char *key)
{
	int i = pl_node_position(map, key);

	return i < 0 ? NULL : map->item[i];
}

const char *pl_node_kind_name(const struct pl_node *node)
{
	switch (node->kind) {
	case PL_NODE_TEXT:
		return "a single value";
	case PL_NODE_LIST:
		return "a list";
	case PL_NODE_MAP:
		return "a map";
	case PL_NODE_BAD:
		break;
	}
	return "nothing";
}
