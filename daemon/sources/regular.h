/* daemon/sources/regular.h - reads whole regular files, and nothing that could block. */
#pragma once

#include "proto/err.h"

/*
 * Opens path, relative to the folder dir_fd, for reading and gives its descriptor and size. Never
 * blocks on a FIFO and never reads a device. 0 or -errno with err, which does not repeat the path.
 */
int pl_regular_open(
	int dir_fd, const char *path, int *fd, uint64_t *bytes, struct pl_err *err) PL_MUST_CHECK;

/*
 * Reads exactly n bytes at `offset`. 0, -EIO with err when the file ends before, else -errno with
 * err.
 */
int pl_regular_read_at(
	int fd, uint64_t offset, void *to, size_t n, struct pl_err *err) PL_MUST_CHECK;

/*
 * Reads the n bytes that the file had when it was opened. -EIO with err when it has become shorter,
 * longer or other since then, else -errno with err.
 */
int pl_regular_read(int fd, void *to, size_t n, struct pl_err *err) PL_MUST_CHECK;
