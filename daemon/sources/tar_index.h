/* daemon/sources/tar_index.h - all members of one archive in few bytes, in the archive's order. */
#pragma once

#include "daemon/sources/packed.h"
#include "daemon/sources/tar_scan.h"

/*
 * It doesn't depend on the pipeline, so it can be kept in a file. A member is its name (how many
 * bytes it shares with the one before, then the rest), the block its data begin at (counted from
 * where the member before ends), and its length; a sparse one has its map, a hard link the place
 * of what it links to, and a member that can't be had (a link to nothing) the reason.
 */
struct pl_tar_index {
	struct pl_packed members;
	uint64_t n_members;
	char *fault; /* NULL: the archive is whole; else what is wrong behind these members */
	bool has_end;
	bool has_tail;
	bool is_packed; /* compressed: offsets are those of what it holds */
	uint64_t n_unknown;
};

/* Walks over the archive in fd, which it takes, and stops after `most` members. 0 also when it is
 * damaged behind its beginning; -EBADMSG with err when it is no archive at all, else -errno. */
int pl_tar_index_build(
	struct pl_tar_index *ix, int fd, uint64_t most, struct pl_err *err) PL_MUST_CHECK;
void pl_tar_index_finish(struct pl_tar_index *ix);

struct pl_tar_entry {
	const char *name;
	size_t n_name;
	uint64_t offset;
	uint64_t bytes;
	bool is_sparse;
	struct pl_unpacked map; /* of a sparse member: number of spans, then each gap and length */
	const char *fault;      /* why it can't be had; NULL: it can */
	size_t n_fault;
};

/* A walk over the members. Zero but for `left`. */
struct pl_tar_index_walk {
	struct pl_unpacked left;
	uint64_t block; /* where the member before ends */
	size_t n_name;
	char name[PL_TAR_NAME_MAX + 1];
};

/* 1 with the next member, which is borrowed until the next call, 0 at the end, -EBADMSG when the
 * bytes are no index. */
int pl_tar_index_next(struct pl_tar_index_walk *walk, struct pl_tar_entry *e) PL_MUST_CHECK;
