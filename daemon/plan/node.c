/* daemon/plan/node.c - a pipeline file as a tree of values that know their place. */
#include "daemon/plan/node.h"

#include "daemon/plan/bytes.h"

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

/* What may follow a value: of a plain one, whatever ends it; of a quoted one, its other quote. */
static bool is_end(const char *line, size_t at, size_t n, char quote)
{
	if (quote)
		return at < n && line[at] == quote;
	return at == n || strchr(" \t,]}:", line[at]);
}

bool pl_node_place(
	const struct pl_diag *diag, const struct pl_node *node, size_t offset, struct pl_place *out)
{
	size_t length = strlen(node->text);
	size_t n;
	const char *line = pl_diag_line(diag, node->at, &n);
	size_t begin = pl_bytes_of_column(line, n, node->at.column);
	char quote = '\0';

	*out = node->at;
	if (node->kind != PL_NODE_TEXT || node->at.line < 1 || offset > length)
		return false;
	if (node->is_quoted) {
		if (begin == n || !strchr("\"'", line[begin]))
			return false;
		quote = line[begin++];
	}
	if (length > n - begin || memcmp(line + begin, node->text, length) != 0 ||
		!is_end(line, begin + length, n, quote))
		return false;
	out->column = (int)pl_bytes_characters(line, begin + offset) + 1;
	return true;
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
