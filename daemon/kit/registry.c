/* daemon/kit/registry.c - finds a step or a source by its name in the immutable tables. */
#include "daemon/kit/registry.h"

#include <stdatomic.h>

#define NAME_MAX_COMPARED 63

static _Atomic(const struct pl_registry *) published;

struct pl_registry pl_registry(void)
{
	const struct pl_registry *r = atomic_load_explicit(&published, memory_order_acquire);

	return r ? *r : (struct pl_registry){pl_ops, pl_n_ops, pl_sources, pl_n_sources};
}

const struct pl_registry *pl_registry_publish(const struct pl_registry *r)
{
	const struct pl_registry *before = NULL;

	return atomic_compare_exchange_strong_explicit(
		       &published, &before, r, memory_order_acq_rel, memory_order_acquire)
		       ? r
		       : before;
}

const struct pl_op *pl_op_find(const char *name)
{
	struct pl_registry r = pl_registry();
	size_t low = 0;
	size_t high = r.n_ops;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(name, r.op[middle]->name);

		if (c == 0)
			return r.op[middle];
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct pl_source_op *pl_source_find(const char *name)
{
	struct pl_registry r = pl_registry();
	size_t low = 0;
	size_t high = r.n_sources;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(name, r.source[middle]->name);

		if (c == 0)
			return r.source[middle];
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Lower case, without '_' and '-'; the length, or 0 for names that are too long to be a slip. */
static size_t fold(char *out, const char *name)
{
	size_t n = 0;

	for (; *name; name++) {
		if (*name == '_' || *name == '-')
			continue;
		if (n == NAME_MAX_COMPARED)
			return 0;
		out[n++] = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
	}
	return n;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Damerau and Levenshtein's distance with neighbours swapped at most once (optimal string
 * alignment), three rows. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][NAME_MAX_COMPARED + 1];
	size_t *before = rows[0];
	size_t *above = rows[1];
	size_t *row = rows[2];

	for (size_t j = 0; j <= m; j++)
		above[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *free_row = before;

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t cost = a[i - 1] != b[j - 1];

			row[j] = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + cost);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = free_row;
	}
	return above[m];
}

const char *pl_nearest(const char *name, size_t n, const char *(*at)(const void *context, size_t i),
	const void *context)
{
	char wanted[NAME_MAX_COMPARED];
	size_t length = fold(wanted, name);
	size_t best = length / 3 + 1;
	const char *found = NULL;

	if (length == 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		char folded[NAME_MAX_COMPARED];
		const char *candidate = at(context, i);
		size_t m = candidate ? fold(folded, candidate) : 0;
		size_t d;

		if (m == 0)
			continue;
		d = distance(wanted, length, folded, m);
		if (d < best) {
			best = d;
			found = candidate;
		}
	}
	return found;
}

static const char *name_at(const void *context, size_t i)
{
	return ((const char *const *)context)[i];
}

static const char *op_at(const void *context, size_t i)
{
	return ((const struct pl_registry *)context)->op[i]->name;
}

static const char *source_at(const void *context, size_t i)
{
	return ((const struct pl_registry *)context)->source[i]->name;
}

const char *pl_nearest_of(const char *name, size_t n, const char *const *names)
{
	return pl_nearest(name, n, name_at, names);
}

const char *pl_op_nearest(const char *name)
{
	struct pl_registry r = pl_registry();

	return pl_nearest(name, r.n_ops, op_at, &r);
}

const char *pl_source_nearest(const char *name)
{
	struct pl_registry r = pl_registry();

	return pl_nearest(name, r.n_sources, source_at, &r);
}
