/* daemon/plan/node.h - a pipeline file as a tree of values that know their place. */
#pragma once

#include "daemon/plan/diag.h"
#include "daemon/plan/pool.h"

#define PL_NODE_DEPTH_MAX 64

enum pl_node_kind {
	PL_NODE_TEXT = 1,
	PL_NODE_LIST,
	PL_NODE_MAP,
	PL_NODE_BAD, /* an error was already told: whoever meets it fails in silence */
};

/*
 * Values stay text until the declaration of the parameter says what they are. Nodes are shared
 * between the places that use a definition, so nothing changes one after it was read, but
 * for the name of a table's file, which becomes the table.
 */
struct pl_node {
	enum pl_node_kind kind;
	bool is_quoted; /* TEXT */
	struct pl_place at;
	const char *text; /* TEXT; "" else */
	int n;
	struct pl_node **item; /* LIST, MAP */
	struct pl_node **key;  /* MAP: TEXT nodes, no two alike */
};

/* New nodes in the pool; NULL when memory is out. Lists and maps begin with n empty places. */
struct pl_node *pl_node_text(struct pl_pool *pool, struct pl_place at, const char *text, size_t n);
struct pl_node *pl_node_branch(
	struct pl_pool *pool, enum pl_node_kind kind, struct pl_place at, int n);

/* Position of the key in a map, or -1 (also when it is no map); and the value there, or NULL. */
int pl_node_position(const struct pl_node *map, const char *key);
struct pl_node *pl_node_find(const struct pl_node *map, const char *key);

/*
 * The place of byte `offset` of a TEXT node: exact when the text stands in the file as it is, plain
 * or in quotes, on one line. False, and the node's own place, when it doesn't (escapes, several
 * lines, something put in by $(name)).
 */
bool pl_node_place(const struct pl_diag *diag, const struct pl_node *node, size_t offset,
	struct pl_place *out);

/* "a text", "a list", "a map": what a message says was found. */
const char *pl_node_kind_name(const struct pl_node *node);

/*
 * Parses `n` bytes of text, registered with the diag as `file`. NULL when nothing useful came out;
 * the diag then has the errors. A tree may come with errors too (duplicate keys, values left out).
 */
struct pl_node *pl_yaml_parse(
	struct pl_pool *pool, struct pl_diag *diag, int file, const char *text, size_t n);

/*
 * Reads a file, registers it under `name` and parses it. `open_errno` receives the errno when the
 * file can't be read (nothing is told then), else 0.
 */
struct pl_node *pl_yaml_read(struct pl_pool *pool, struct pl_diag *diag, const char *path,
	const char *name, int *open_errno);
