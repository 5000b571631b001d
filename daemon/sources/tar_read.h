/* daemon/sources/tar_read.h - reads a member of a sample out of its archive. */
#pragma once

#include "daemon/sources/any_place.h"
#include "daemon/sources/tar_samples.h"

/* Reads all bytes of a part of a sample in `file` into `to`. 0, or -errno with err, which says at
 * which byte of the archive but not which archive. */
int pl_tar_part_read(struct pl_any_place *p, size_t file, const struct pl_tar_part *part, void *to,
	struct pl_err *err) PL_MUST_CHECK;
