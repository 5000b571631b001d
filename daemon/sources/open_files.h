/* daemon/sources/open_files.h - a worker's open files of a record listing: few at a time, and only
 * as they were listed. */
#pragma once

#include "daemon/sources/record_listing.h"

/* Files kept open; the one that was used longest ago makes room. */
#define PL_OPEN_FILES_MAX 32

struct pl_open_file {
	size_t number; /* in the listing */
	int fd;
	void *map;        /* all of it, read-only; NULL: not asked for yet */
	uint64_t used_at; /* a count of uses; 0: this place is free */
};

struct pl_open_files {
	const struct pl_record_listing *listing; /* borrowed */
	struct pl_open_file file[PL_OPEN_FILES_MAX];
	uint64_t n_uses;
};

void pl_open_files_init(struct pl_open_files *o, const struct pl_record_listing *listing);
void pl_open_files_finish(struct pl_open_files *o);

/*
 * The descriptor of a file, borrowed until the next call. -ESTALE with err when its size or time of
 * change isn't what was listed, else -errno with err; the text doesn't repeat the path.
 */
int pl_open_files_get(
	struct pl_open_files *o, size_t number, int *fd, struct pl_err *err) PL_MUST_CHECK;

/* Reads exactly n bytes at `offset`. 0, -EIO with err at the end of the file, or as get. */
int pl_open_files_read(struct pl_open_files *o, size_t number, uint64_t offset, void *to, size_t n,
	struct pl_err *err) PL_MUST_CHECK;

/*
 * The whole file, mapped read-only: *data is valid until as many other files were used. Bytes of a
 * file that is cut short meanwhile raise SIGBUS. 0, or -errno with err.
 */
int pl_open_files_map(struct pl_open_files *o, size_t number, const void **data,
	struct pl_err *err) PL_MUST_CHECK;
