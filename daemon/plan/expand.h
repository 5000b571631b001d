/* daemon/plan/expand.h - params, include, define and use written out. */
#pragma once

#include "daemon/plan/node.h"
#include "daemon/plan/plan.h"

#define PL_DEFINES_MAX 256

/* A list under `define`. */
struct pl_define {
	const struct pl_node *name;
	const struct pl_node *list; /* as written, $(name)s replaced */
	bool is_used;
	bool is_open; /* being expanded: to meet it again is recursion */
};

struct pl_expand {
	struct pl_pool *pool;
	struct pl_diag *diag;
	const char *path; /* of the pipeline file, as given */
	const struct pl_setting *setting;
	int n_settings;
	int n_params;
	const char *param_name[PL_PARAM_LIST_MAX];
	const char *param_value[PL_PARAM_LIST_MAX];
	int n_defines;
	struct pl_define define[PL_DEFINES_MAX];
	const char *open_file[PL_NODE_DEPTH_MAX]; /* files being read, the pipeline file first */
	int n_open_files;
	const char *read_file[PL_TEXTS_MAX]; /* files read already: each is one text, however often
						included */
	struct pl_node *read_root[PL_TEXTS_MAX];
	int n_read;
	struct pl_define *chain[PL_NODE_DEPTH_MAX]; /* definitions being written out */
	int n_chain;
	int n_items; /* steps written out so far */
};

/*
 * One included file may itself include others; a file that includes itself, by whatever chain, is
 * an error.
 */

/*
 * The resolved tree: no params, include, define or use is left in it. NULL when nothing can be
 * read; errors are in the diag, also when a tree comes back.
 */
struct pl_node *pl_expand_file(struct pl_expand *x);

/* Reads `params:` of the root and applies the settings. */
void pl_subst_params(struct pl_expand *x, const struct pl_node *root);

/* A copy of the tree with every $(name) in its values replaced. */
struct pl_node *pl_subst(struct pl_expand *x, const struct pl_node *node);

/* A copy of a list of steps with use and include replaced by the steps they stand for. */
struct pl_node *pl_splice(struct pl_expand *x, const struct pl_node *list, int depth);

/* Adds the definitions of a root, and those of the files under its `include`. */
void pl_define_add(struct pl_expand *x, const struct pl_node *root);

/*
 * Reads an included file, $(name)s replaced. NULL: told. Its path counts from the folder of the
 * file that says include. pl_include_done after a file that was read.
 */
struct pl_node *pl_include_read(struct pl_expand *x, const struct pl_node *path);
void pl_include_done(struct pl_expand *x);
