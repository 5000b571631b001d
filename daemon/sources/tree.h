/* daemon/sources/tree.h - lists the files of a folder or glob, with their classes. */
#pragma once

#include "daemon/kit/listing.h"

struct pl_tree {
	const char *path;         /* a folder, a file or a glob, relative to dir */
	const char *dir;          /* absolute */
	const char *classes_file; /* relative to dir; NULL: the root's folders, sorted by name */
	bool has_labels;
	bool only_first; /* stop after one record */
};

/*
 * Writes a listing of files (daemon/sources/file_listing.h). Blocks on the file system. 0 or -errno
 * with err: a folder that can't be read, a folder that is no class, nothing found. With 0, err's
 * text (code 0) may tell what was left out.
 */
int pl_tree_list(
	const struct pl_tree *t, struct pl_listing_writer *w, struct pl_err *err) PL_MUST_CHECK;
