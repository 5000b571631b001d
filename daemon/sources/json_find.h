/* daemon/sources/json_find.h - the values that paths name in one JSON text, found in one walk. */
#pragma once

#include "daemon/sources/json.h"

#define PL_JSON_PATH_MAX  16
#define PL_JSON_PATHS_MAX 64

/* A step of a path: into the member `key`, or when that is NULL into the item `index`. */
struct pl_json_step {
	const char *key;
	size_t n_key;
	uint64_t index;
};

/* No steps: the whole text. Borrows the text it was read from. */
struct pl_json_path {
	int n;
	struct pl_json_step step[PL_JSON_PATH_MAX];
};

/*
 * Reads `.a.b[0].c`, `.["odd key"]`, `.` for the whole; a text without a leading '.' or '[' is no
 * path. 0 or -EINVAL with err.
 */
int pl_json_path_parse(
	struct pl_json_path *path, const char *text, struct pl_err *err) PL_MUST_CHECK;

/*
 * Walks the whole text once, which checks it, and finds path i for each bit i of `wanted`; found[i]
 * .at is NULL when there is no such value. Of equal keys in one object the last counts. 0 or
 * -EINVAL with j->fault.
 */
int pl_json_find(struct pl_json *j, const struct pl_json_path *paths, uint64_t wanted,
	struct pl_json_span *found) PL_MUST_CHECK;

/* Why a path was not found in a good text: "no key 'c' in .a (keys there: x, y)". Writes at most n
 * bytes with NUL; returns out. */
char *pl_json_explain(
	const char *text, size_t bytes, const struct pl_json_path *path, char *out, size_t n);
