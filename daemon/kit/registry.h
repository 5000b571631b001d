/* daemon/kit/registry.h - finds a step or a source by its name in the immutable tables. */
#pragma once

#include "daemon/kit/source.h"

/*
 * Steps and sources by name, sorted. The tables that this daemon was built with, or, once plugins
 * were loaded (daemon/kit/plugin.h), others that have the plugins' too: published whole, once, and
 * never changed or freed after, so that any thread may hold one for ever.
 */
struct pl_registry {
	const struct pl_op *const *op;
	size_t n_ops;
	const struct pl_source_op *const *source;
	size_t n_sources;
};

struct pl_registry pl_registry(void);

/*
 * Puts `r`, which must live as long as the process, in place of what is built in, unless that was
 * done before. What is in place afterwards: r or the earlier one. For daemon/kit/plugin.c.
 */
const struct pl_registry *pl_registry_publish(const struct pl_registry *r);

/* The entry of that name, or NULL. Binary search; any thread, at any time. */
const struct pl_op *pl_op_find(const char *name);
const struct pl_source_op *pl_source_find(const char *name);

/*
 * The name most like `name` for "did you mean": fewest edits (insert, remove, replace, swap of
 * neighbours), where case, '_' and '-' don't count, so that RandomResizedCrop finds
 * random_resized_crop. at(context, i) gives the n candidates and may return NULL for one that
 * doesn't count. The first of equals; NULL when none is near (more than one edit in three letters).
 */
const char *pl_nearest(const char *name, size_t n, const char *(*at)(const void *context, size_t i),
	const void *context);

/* The same among an array of names, steps and sources. */
const char *pl_nearest_of(const char *name, size_t n, const char *const *names);
const char *pl_op_nearest(const char *name);
const char *pl_source_nearest(const char *name);
