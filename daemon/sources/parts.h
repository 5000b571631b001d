/* daemon/sources/parts.h - several sources inside one listing: what concat and mix share. */
#pragma once

#include "daemon/kit/listing.h"
#include "daemon/kit/source.h"

/*
 * Sections: 0 class names, 1 struct pl_part_entry by part, 2 the parts' listings, whole, 3 int32 by
 * part and field: which field of the whole the part's i-th is; 4 to 7 are the source's own.
 */
enum { PL_PARTS_OWN_SECTION = 4 };

struct pl_part_entry {
	uint64_t offset; /* of the part's listing in section 2 */
	uint64_t bytes;
	uint64_t n_records;
};

/*
 * The fields that all parts have, in the first part's order; lengths that differ become unknown. 0,
 * or -EINVAL with err: a field that isn't in every part, or of another kind, dtype or rank.
 */
int pl_parts_fields(const struct pl_param_sources *parts, const char *dir,
	struct pl_source_field *fields, int *n, struct pl_err *err) PL_MUST_CHECK;

/* Lists every part (`only_first`: its first record only) into w; w->n_records is their sum. */
int pl_parts_list(const struct pl_param_sources *parts, const char *dir, bool only_first,
	struct pl_listing_writer *w, struct pl_err *err) PL_MUST_CHECK;

/* The parts as one process reads them. */
struct pl_parts {
	const struct pl_param_sources *sources; /* borrowed from the plan */
	const struct pl_part_entry *entry;      /* by part */
	struct pl_listing *listing;             /* by part: views */
	void **state;                           /* by part */
	const int32_t *map;                     /* [parts][PL_FIELDS_MAX]; -1: no more fields */
};

int pl_parts_open(struct pl_parts *p, const struct pl_param_sources *sources,
	const struct pl_listing *listing, struct pl_err *err) PL_MUST_CHECK;
void pl_parts_close(struct pl_parts *p);

/* Record `index` of part `part`, as pl_source_op.read; errors and _source name the part. */
int pl_parts_read(struct pl_parts *p, int part, uint64_t index, const int *field, bool known_only,
	struct pl_sample *sample, struct pl_err *err) PL_MUST_CHECK;

/* "web: shard.tar: key": as pl_source_op.describe, of a listing that isn't open. */
void pl_parts_describe(const struct pl_param_sources *sources, const struct pl_listing *listing,
	int part, uint64_t index, char *out, size_t n);
