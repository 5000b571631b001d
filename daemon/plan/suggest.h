/* daemon/plan/suggest.h - the nearest valid name to one that isn't. */
#pragma once

#include "proto/base.h"

/* Names to choose from, in a fixed room: what doesn't fit is left out. */
struct pl_names {
	int n;
	const char *name[256];
};

void pl_names_add(struct pl_names *names, const char *name);
bool pl_names_has(const struct pl_names *names, const char *name);

/* The name nearest to `wrong` by edits, or NULL when none is near. */
const char *pl_names_nearest(const struct pl_names *names, const char *wrong);

/*
 * " (did you mean 'width'?)", else " (valid: a, b, c)", else "". Writes at most n bytes with NUL;
 * returns out.
 */
char *pl_names_hint(const struct pl_names *names, const char *wrong, char *out, size_t n);

/* "a, b, c", or "none". Writes at most n bytes with NUL; returns out. */
char *pl_names_join(const struct pl_names *names, char *out, size_t n);
