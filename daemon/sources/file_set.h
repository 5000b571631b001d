/* daemon/sources/file_set.h - the files that a record source's path names, in order. */
#pragma once

#include "proto/err.h"

/* More files than this are refused: a mistyped range, not a data set. */
#define PL_FILE_SET_MAX 1000000

/*
 * A path is a file, a glob (daemon/sources/glob.h), or either with number ranges: {00..41} stands
 * for each number from 00 to 41, as wide as it is written. Files come in the order of the ranges,
 * those of one glob in the byte order of their paths. A file that is named, by a plain path or by a
 * range without wildcards, must be there.
 */
struct pl_file_set {
	char *paths; /* absolute, each with its NUL */
	size_t used;
	size_t room;
	size_t *at; /* by file: where its path begins */
	size_t n;
	size_t n_room;
};

/*
 * Finds the files; relative paths count from `dir`. Stops after `most` of them. Blocks on the file
 * system. 0, or -errno with err: nothing found, not there, a folder, not readable. finish frees it,
 * also after an error.
 */
int pl_file_set_init(struct pl_file_set *s, const char *path, const char *dir, size_t most,
	struct pl_err *err) PL_MUST_CHECK;
void pl_file_set_finish(struct pl_file_set *s);

/* Path of file i < n. */
const char *pl_file_set_path(const struct pl_file_set *s, size_t i);
