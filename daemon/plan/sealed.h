/* daemon/plan/sealed.h - how a plan lies in its memfd: offsets only. */
#pragma once

#include "daemon/plan/build.h"

#define PL_SEALED_MAGIC   "PLPLAN1"
#define PL_SEALED_VERSION 2
#define PL_SEALED_MAX     ((uint64_t)256 << 20)

/* Follows the card. Sections lie behind it in this order, each from its offset, counted from the
 * start of the memfd. */
struct pl_sealed_head {
	uint32_t version;
	uint32_t n_nodes;
	uint32_t n_items;
	uint32_t n_texts;       /* names of the files that places point into */
	uint64_t nodes_offset;  /* struct pl_sealed_node [n_nodes]; the root is the first */
	uint64_t items_offset;  /* uint32_t [n_items]: numbers of nodes */
	uint64_t text_offset;   /* uint32_t [n_texts + 2] starts: file, dir, names; see texts */
	uint64_t fields_offset; /* struct pl_sealed_field [n_fields]: what the source brings */
	uint64_t n_fields;
	uint64_t chars_offset; /* all texts, each with its NUL */
	uint64_t n_chars;
	int64_t memory;    /* resolved */
	int64_t n_workers; /* resolved */
};

struct pl_sealed_field {
	uint32_t name; /* start among the characters */
	uint32_t is_known;
	struct pl_type type;
};

/* A node's children have larger numbers than itself, so that no chain of them can be a ring. */
struct pl_sealed_node {
	uint32_t kind;
	uint32_t is_quoted;
	int32_t file;
	int32_t line;
	int32_t column;
	uint32_t text;  /* TEXT: start among the characters */
	uint32_t first; /* LIST: n items from here; MAP: n pairs of key and value */
	uint32_t n;
};
