/* daemon/sources/tfrecord_list.h - lists the records of many TFRecord files. */
#pragma once

#include "daemon/sources/record_listing.h"

struct pl_tfrecord_listing {
	const char *path;  /* daemon/sources/file_set.h */
	const char *dir;   /* relative paths count from */
	const char *index; /* daemon/sources/index_cache.h */
	bool only_first;   /* stop after the first records of the first file */
};

/*
 * A record's place is its offset, or PL_TFRECORD_FAULT plus the offset in section 4 of the text
 * that says why there is no more in its file.
 */
#define PL_TFRECORD_FAULT ((uint64_t)1 << 63)
enum { PL_TFRECORD_SECTION_FAULTS = PL_RECORD_OWN_SECTION };

/* As pl_source_op.list; daemon/sources/list_files.h says how. 0, with what was noticed in err (its
 * code is 0), or -errno with err. */
int pl_tfrecord_list(const struct pl_tfrecord_listing *l, struct pl_listing_writer *w,
	struct pl_err *err) PL_MUST_CHECK;
