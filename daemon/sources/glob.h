/* daemon/sources/glob.h - patterns of paths, matched folder by folder on the way down a tree. */
#pragma once

#include "proto/err.h"

/* Parts between slashes; a set of places in the pattern must fit 64 bits with one more for the end.
 */
#define PL_GLOB_PARTS_MAX 60

/*
 * Syntax of a part: * any bytes, ? one character (UTF-8, or one byte where it isn't), [a-z] [!a-z]
 * one byte of a set, {a,b} either (nested too), \x the sign itself, ** as a whole part: any number
 * of folders, also none. Other bytes stand for themselves, whatever their encoding. A leading dot
 * is matched by a dot in the pattern only, never by a wildcard.
 */
struct pl_glob_part {
	bool is_any_depth; /* ** */
	int n;             /* what {a,b} spells out to, one pattern each */
	char **spelling;
};

struct pl_glob {
	int n;
	struct pl_glob_part part[PL_GLOB_PARTS_MAX];
};

/* Length of the leading part of `pattern` that has no wildcard: "a/b/" of "a/b/x*.jpg"; all of it
 * when it has none. */
size_t pl_glob_fixed(const char *pattern);

/*
 * Compiles a pattern that is relative to a root: 0, -ENOMEM, or -EINVAL with err. finish frees it,
 * also after an error.
 */
int pl_glob_init(struct pl_glob *g, const char *pattern, struct pl_err *err) PL_MUST_CHECK;
void pl_glob_finish(struct pl_glob *g);

/* The places where a walk may be: bit i = before part i, bit g->n = at the end. At the root: */
uint64_t pl_glob_start(const struct pl_glob *g);

/*
 * The places after an entry of that name, out of those before it. `is_link` to a folder: ** doesn't
 * enter it, so that a link to a folder above can't lead in circles.
 */
uint64_t pl_glob_step(const struct pl_glob *g, uint64_t places, const char *name, bool is_link);

/* A file whose places hold this is a match; a folder is entered when its places hold anything else.
 */
static inline uint64_t pl_glob_end(const struct pl_glob *g)
{
	return (uint64_t)1 << g->n;
}
