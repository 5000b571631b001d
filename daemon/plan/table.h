/* daemon/plan/table.h - a table of texts and their numbers: from a file of one text a line, or a
 * map. */
#pragma once

#include "daemon/plan/params.h"

/* Of a file. */
#define PL_TABLE_ENTRIES_MAX 262144
#define PL_TABLE_BYTES_MAX   ((size_t)16 << 20)

/*
 * Reads the file that the text `node` names, relative to c->dir, and makes the node the map of its
 * lines to 0, 1 ...: what is sealed with the plan is the content, so nobody reads the file again.
 * False: told.
 */
bool pl_table_read(const struct pl_convert *c, const char *key, struct pl_node *node);

/* The map's entries, sorted. False: told. */
bool pl_table_convert(const struct pl_convert *c, const char *key, const struct pl_node *map,
	struct pl_param_table *table);
