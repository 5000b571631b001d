/* daemon/sources/tar_list.h - lists the samples of many archives. */
#pragma once

#include "daemon/sources/tar_samples.h"

struct pl_tar_listing {
	const char *path;  /* daemon/sources/file_set.h */
	const char *dir;   /* relative paths count from */
	const char *index; /* daemon/sources/index_cache.h */
	const struct pl_tar_fields *fields;
	bool only_first; /* stop after the first samples of the first archive */
};

/* As pl_source_op.list: daemon/sources/list_files.h says how. 0, with what was passed over in err
 * (its code is 0), or -errno with err. */
int pl_tar_list(const struct pl_tar_listing *l, struct pl_listing_writer *w,
	struct pl_err *err) PL_MUST_CHECK;
