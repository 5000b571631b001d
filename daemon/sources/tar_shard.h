/* daemon/sources/tar_shard.h - lists the samples of one archive. */
#pragma once

#include <sys/stat.h>

#include "daemon/sources/tar_list.h"

/* What one archive gave, until it is added to the listing. Zeroed before. */
struct pl_tar_shard {
	bool is_index; /* the name is that of an index: not listed */
	struct pl_listing_writer samples;
	struct stat st;
	bool is_compressed;
	bool is_faulty;
	bool has_end;
	bool has_tail;
	uint64_t n_unknown;
	struct pl_tar_passed passed;
	struct pl_err note; /* of the index's cache */
	int r;
	struct pl_err err; /* with r */
};

/* Lists the archive at `path`; stops after about `most` members. What went wrong is in r and err.
 */
void pl_tar_shard_list(struct pl_tar_shard *s, const char *path,
	const struct pl_tar_listing *listing, uint64_t most);

/* Adds it to a listing. 0, or the shard's own error with its path before it. */
int pl_tar_shard_add(struct pl_tar_shard *s, const char *path, struct pl_listing_writer *w,
	struct pl_err *err) PL_MUST_CHECK;

/* Frees it and makes it a zeroed one. */
void pl_tar_shard_finish(void *shard);
