/* daemon/sources/npy_header.h - the head of a NumPy .npy file, read strictly. */
#pragma once

#include "proto/err.h"
#include "proto/tensor/tensor.h"

/* A head longer than this is refused: no array of 16 axes needs it. */
#define PL_NPY_HEADER_MAX (1u << 20)

struct pl_npy_header {
	enum pl_dtype dtype;
	bool is_swapped; /* big-endian on a little-endian machine */
	bool is_fortran; /* first axis varies fastest */
	int rank;
	int64_t shape[PL_RANK_MAX];
	uint64_t data_offset; /* in the file */
	uint64_t data_bytes;
};

/*
 * Reads the head of an open file of `file_bytes` bytes (numpy.lib.format, versions 1.0 to 3.0) and
 * checks that the data it announces are there; bytes behind them are not looked at. 0, or -EINVAL
 * with err: not a .npy, malformed, a dtype that is no number, more than 16 axes, data too short.
 */
int pl_npy_header_read(
	struct pl_npy_header *h, int fd, uint64_t file_bytes, struct pl_err *err) PL_MUST_CHECK;
