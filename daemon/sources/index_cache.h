/* daemon/sources/index_cache.h - indexes of large files, kept in files of their own. */
#pragma once

#include <sys/stat.h>

#include "daemon/sources/packed.h"
#include "proto/err.h"

/* The end of an index's name. */
#define PL_INDEX_SUFFIX ".plidx"

/*
 * With "auto" an index lies beside its file (FILE.plidx) when that folder can be written, else in
 * $XDG_CACHE_HOME/pipeloader or /var/cache/pipeloader; with a folder, there; with "none" nowhere.
 * It is taken only when it names the file's size, time of change and the format, when its checksum
 * is right, and when nobody but root, the file's owner and this user could have written it.
 */
struct pl_index_cache {
	const char *where;  /* "auto", "none" or a folder */
	const char *dir;    /* which a relative folder counts from */
	const char *format; /* at most 8 letters, with its version: "tar1" */
};

/*
 * Reads the index of the file at `path`, whose stat is `st`. 1 with the bytes in *body, which the
 * caller finishes; 0 when there is none. A broken or foreign one is none, and told in `note`
 * (whose code stays 0).
 */
int pl_index_cache_load(const struct pl_index_cache *c, const char *path, const struct stat *st,
	struct pl_packed *body, struct pl_err *note) PL_MUST_CHECK;

/* Writes it, at once or not at all. Failure is no error, only slower next time: true when written.
 * A file that changed within the last two seconds gets none, for it may change again unnoticed. */
bool pl_index_cache_save(const struct pl_index_cache *c, const char *path, const struct stat *st,
	const struct pl_packed *body);
