/* daemon/sources/tar_samples.h - the samples of archives in a listing: members of one key, side by
 * side. */
#pragma once

#include "daemon/sources/record_listing.h"
#include "daemon/sources/tar_fields.h"
#include "daemon/sources/tar_index.h"

/*
 * A member's key is its path up to the first dot of its last part, its suffix what follows. Members
 * without either (README, .hidden) are passed over, and so are samples that have none of the slots'
 * members. A key that comes back after another one is an error: its sample would be torn.
 *
 * A record's place is the offset of its sample in section 4, where a sample is: length of the key
 * and whether it is faulty, the key, and then either the fault's text, or which slots it has, and
 * for each: its first block (counted from the slot before), its length, which suffix it was, and
 * its map.
 */
enum { PL_TAR_SECTION_SAMPLES = PL_RECORD_OWN_SECTION };

/* What was passed over. */
struct pl_tar_passed {
	uint64_t n_names;   /* members without key or suffix */
	uint64_t n_samples; /* with none of the members */
};

/* Adds the samples of one archive, without its file, to a writer. 0, -EINVAL with err when members
 * of a key are apart, or -ENOMEM with err. */
int pl_tar_samples_add(struct pl_listing_writer *w, const struct pl_tar_index *ix,
	const struct pl_tar_fields *fields, struct pl_tar_passed *passed,
	struct pl_err *err) PL_MUST_CHECK;

/* A member as a sample has it. */
struct pl_tar_part {
	uint64_t offset;
	uint64_t bytes;
	int suffix;
	bool is_sparse;
	struct pl_unpacked map; /* of a sparse one: number of spans, then each gap and length */
};

struct pl_tar_sample {
	const char *key; /* in the listing, not terminated */
	size_t n_key;
	const char *fault; /* why it can't be read, or NULL */
	size_t n_fault;
	uint64_t has; /* bits: slots whose part is there */
	struct pl_tar_part part[PL_PARAM_LIST_MAX];
};

/* The sample at `place`. Fields NULL: only key and fault. 0, or -EINVAL: a broken listing. */
int pl_tar_sample_get(struct pl_tar_sample *s, const struct pl_listing *listing, uint64_t place,
	const struct pl_tar_fields *fields) PL_MUST_CHECK;
