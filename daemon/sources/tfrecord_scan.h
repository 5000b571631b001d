/* daemon/sources/tfrecord_scan.h - where the records of one TFRecord file begin. */
/*
 * A record is u64 length, u32 masked CRC-32C of the length, the bytes, u32 masked CRC-32C of the
 * bytes; all little-endian.
 */
#pragma once

#include "daemon/sources/forward.h"
#include "daemon/sources/packed.h"

enum { PL_TFRECORD_HEAD = 12, PL_TFRECORD_FOOT = 4 };

/* The length in a record's head; false when its CRC is wrong. */
bool pl_tfrecord_head(const uint8_t head[PL_TFRECORD_HEAD], uint64_t *bytes) PL_MUST_CHECK;

/* All records of a file: their lengths in file order, the first at byte 0. Zeroed before. */
struct pl_tfrecord_index {
	struct pl_packed lengths;
	uint64_t n;
	bool is_tfrecord; /* there was at least one good length */
	bool is_packed;   /* compressed: offsets are those of what it holds */
	char *fault;      /* NULL: the file is whole; else what is wrong behind these records */
};

/* Walks over the heads of the file in fd, which it takes, and stops after `most` records. 0 also
 * when it is damaged behind its first record; -EBADMSG with err when it is no TFRecord file, else
 * -errno. */
int pl_tfrecord_index_build(
	struct pl_tfrecord_index *ix, int fd, uint64_t most, struct pl_err *err) PL_MUST_CHECK;
void pl_tfrecord_index_finish(struct pl_tfrecord_index *ix);

/* Takes fd, also on error: plain when it begins with a record, whatever its bytes look like. */
int pl_tfrecord_open(struct pl_forward *f, int fd, struct pl_err *err) PL_MUST_CHECK;
