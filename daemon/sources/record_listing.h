/* daemon/sources/record_listing.h - how a listing holds the places of records inside files. */
#pragma once

#include "daemon/kit/listing.h"

/*
 * Records are numbered through all files, in the files' order. A file's size and time of change are
 * kept, so that a reader notices another file under the same name.
 *
 * Section 1: paths, each with its NUL. 2: struct pl_record_file by file. 3: u64 by record, its
 * place: an offset in the file, or what else the source needs; empty when places are arithmetic
 * (add the count to w->n_records then). 4 to 7 are the source's own.
 */
struct pl_record_file {
	uint64_t first; /* its first record; the next file's first ends it */
	uint64_t path;  /* offset in section 1 */
	uint64_t bytes;
	int64_t mtime_ns;
	uint64_t form; /* the source's own */
};

enum { PL_RECORD_OWN_SECTION = 4 };

/* The writer's side: a file, then its records, in order. `st` is the file's. 0 or -ENOMEM. */
struct stat;
int pl_record_listing_add_file(struct pl_listing_writer *w, const char *path, const struct stat *st,
	uint64_t form) PL_MUST_CHECK;
int pl_record_listing_add(struct pl_listing_writer *w, uint64_t place) PL_MUST_CHECK;

/* The form of the file added last, for who knows it only after its records. */
void pl_record_listing_set_form(struct pl_listing_writer *w, uint64_t form);

/* The reader's side: pointers into a mapped listing. */
struct pl_record_listing {
	const struct pl_record_file *file;
	size_t n_files;
	const char *paths;
	size_t paths_bytes;
	const uint64_t *place; /* NULL: the listing has none */
	uint64_t n_records;
};

/* 0, or -EINVAL with err when this is no listing of records. Touches no record. */
int pl_record_listing_open(
	struct pl_record_listing *r, const struct pl_listing *l, struct pl_err *err) PL_MUST_CHECK;

/* Number of the file that holds record index < n_records. */
size_t pl_record_listing_file_of(const struct pl_record_listing *r, uint64_t index);

/* One past the last record of a file. */
uint64_t pl_record_listing_end(const struct pl_record_listing *r, size_t file);

/* Absolute path of a file; "" when the listing is broken. */
const char *pl_record_listing_path(const struct pl_record_listing *r, size_t file);

/*
 * What an error calls a record: its file's path from the last slash but one on, and its number in
 * the file ("train/a.npy row 17"; `what` NULL: the file alone). For pl_source_op.describe.
 */
void pl_record_listing_describe(
	const struct pl_listing *l, uint64_t index, const char *what, char *out, size_t n);
