/* daemon/sources/file_listing.h - how a listing holds many file names in few bytes. */
#pragma once

#include "daemon/kit/listing.h"

/*
 * Records are sorted by path, so files of one folder mostly follow one another: a run names the
 * folder and its label once, and a record is its name and a u64. That is 30 bytes for
 * n01440764/n01440764_10026.JPEG.
 *
 * Section 0: class names. 1: the root's absolute path. 2: folders, relative, "" or with a final
 * slash. 3: runs. 4: by record, where its name begins in 5: names. Texts end in NUL.
 */
struct pl_file_run {
	uint64_t first;  /* record */
	uint64_t folder; /* offset in section 2 */
	int64_t label;   /* -1 without classes */
};

/* The writer's side. Calls come in record order. 0 or -ENOMEM. */
int pl_file_listing_begin(struct pl_listing_writer *w, const char *root) PL_MUST_CHECK;
int pl_file_listing_add(struct pl_listing_writer *w, const char *folder, int64_t label,
	const char *name) PL_MUST_CHECK;

/* The reader's side: pointers into a mapped listing, after a check that every text ends inside it.
 */
struct pl_file_listing {
	const char *root;
	const char *folders;
	size_t folders_bytes;
	const struct pl_file_run *run;
	size_t n_runs;
	const uint64_t *name_at;
	const char *names;
	size_t names_bytes;
	uint64_t n_records;
};

/* 0, or -EINVAL with err when this is no listing of files. Touches no record. */
int pl_file_listing_open(
	struct pl_file_listing *f, const struct pl_listing *l, struct pl_err *err) PL_MUST_CHECK;

/* The run of a record (index < n_records). */
const struct pl_file_run *pl_file_listing_run(const struct pl_file_listing *f, uint64_t index);

/* Writes the record's path, relative to the root, as far as it fits into n bytes with the NUL;
 * returns its whole length. */
size_t pl_file_listing_path(const struct pl_file_listing *f, uint64_t index, char *out, size_t n);
