/* daemon/sources/concat.c - several sources, one behind the other. */
#include <errno.h>
#include <stdio.h>

#include "daemon/sources/parts.h"
#include "daemon/sources/table.h"

struct concat_params {
	struct pl_param_sources of;
};

static const struct pl_param params[] = {
	{
		.key = "of",
		.kind = PL_PARAM_SOURCES,
		.offset = offsetof(struct concat_params, of),
		.help = "sources that bring the same fields, in their order",
		.is_obvious = true,
	},
	{0},
};

static int concat_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	return pl_parts_fields(&((const struct concat_params *)data)->of, dir, fields, n, err);
}

static int concat_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return pl_parts_list(&((const struct concat_params *)data)->of, dir, false, w, err);
}

static int concat_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return pl_parts_list(&((const struct concat_params *)data)->of, dir, true, w, err);
}

static int concat_open(
	const void *data, const struct pl_listing *listing, void **state, struct pl_err *err)
{
	const struct concat_params *p = data;
	struct pl_parts *parts = calloc(1, sizeof(*parts));
	int r = parts ? pl_parts_open(parts, &p->of, listing, err)
		      : pl_err_set(err, -ENOMEM, "out of memory");

	*state = parts;
	return r;
}

static void concat_close(void *state)
{
	if (state)
		pl_parts_close(state);
	free(state);
}

/* The part that holds record *index, which becomes the part's own; -1: none. */
static int locate(const struct pl_part_entry *entry, int n, uint64_t *index)
{
	for (int i = 0; i < n; i++) {
		if (*index < entry[i].n_records)
			return i;
		*index -= entry[i].n_records;
	}
	return -1;
}

static int concat_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	const struct concat_params *p = data;
	struct pl_parts *parts = state;
	int part = locate(parts->entry, p->of.n, &index);

	if (part < 0)
		return pl_err_set(err, -EINVAL, "the listing has no such record");
	return pl_parts_read(parts, part, index, field, known_only, sample, err);
}

static void concat_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	const struct concat_params *p = data;
	size_t bytes;
	const struct pl_part_entry *entry = pl_listing_section_at(listing, 1, &bytes);
	int part = bytes / sizeof(*entry) == (size_t)p->of.n ? locate(entry, p->of.n, &index) : -1;

	if (part < 0)
		snprintf(out, n, "record %llu", (unsigned long long)index);
	else
		pl_parts_describe(&p->of, listing, part, index, out, n);
}

const struct pl_source_op pl_source_concat = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "concat",
	.help = "several sources, one behind the other",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct concat_params),
	.fields = concat_fields,
	.list = concat_list,
	.list_first = concat_list_first,
	.open = concat_open,
	.close = concat_close,
	.read = concat_read,
	.describe = concat_describe,
};
