/* daemon/sources/tar_sparse.h - which parts of a sparse member an archive holds. */
#pragma once

#include "daemon/sources/forward.h"

/* A member has no more parts than this. */
#define PL_TAR_SPANS_MAX 65536

struct pl_tar_span {
	uint64_t offset; /* in the member; what lies between spans is zeros */
	uint64_t bytes;
};

/* A sparse member's map: zeroed, then added to; finish frees it. */
struct pl_tar_map {
	struct pl_tar_span *span;
	size_t n;
	size_t room;
};

void pl_tar_map_finish(struct pl_tar_map *m);

/* 0, -ENOMEM, or -EBADMSG with err: too many. */
int pl_tar_map_add(
	struct pl_tar_map *m, uint64_t offset, uint64_t bytes, struct pl_err *err) PL_MUST_CHECK;

/* The map of a header of type PL_TAR_SPARSE, and the blocks that go on with it: *offset, where they
 * begin, moves behind them. */
int pl_tar_map_read_old(struct pl_tar_map *m, const uint8_t *block, struct pl_forward *in,
	uint64_t *offset, uint64_t *real_bytes, struct pl_err *err) PL_MUST_CHECK;

/* The map before a member's data (pax, sparse 1.0), which take *bytes from *offset on: both move
 * behind it. */
int pl_tar_map_read_data(struct pl_tar_map *m, struct pl_forward *in, uint64_t *offset,
	uint64_t *bytes, struct pl_err *err) PL_MUST_CHECK;

/* The map in a pax record (sparse 0.1): "offset,bytes,offset,bytes". */
int pl_tar_map_read_text(
	struct pl_tar_map *m, const char *text, size_t n, struct pl_err *err) PL_MUST_CHECK;

/* 0 when the spans ascend, end within `real_bytes`, and take all of `stored_bytes`; else -EBADMSG
 * with err. */
int pl_tar_map_check(const struct pl_tar_map *m, uint64_t real_bytes, uint64_t stored_bytes,
	struct pl_err *err) PL_MUST_CHECK;
