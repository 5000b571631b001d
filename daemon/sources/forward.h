/* daemon/sources/forward.h - the bytes of a file, or of what a compressed one holds, by offset. */
#pragma once

#include "daemon/sources/file_stream.h"

/* The most that peek shows at once. */
#define PL_FORWARD_PEEK_MAX (64u << 10)

/*
 * A plain file is read where it is asked for: little at a time when the places lie far apart, much
 * when they lie close. A compressed one is inflated up to the place; going back to what has been
 * left behind begins it anew. After an error there is nothing to do but finish.
 */
struct pl_forward {
	int fd;
	bool is_packed;
	struct pl_file_stream stream; /* of a compressed one */
	uint64_t size;                /* of a plain file; of a compressed one once it was read */
	bool is_size_known;
	uint8_t *buffer;
	uint64_t at; /* the buffer holds [at, at + n) */
	size_t n;
};

/*
 * Looks what the file is; `is_plain` takes it as it is. Takes fd, also with an error. 0 or -errno
 * with err; finish frees it, also a zeroed one.
 */
int pl_forward_init(struct pl_forward *f, int fd, bool is_plain, struct pl_err *err) PL_MUST_CHECK;
void pl_forward_finish(struct pl_forward *f);

/*
 * Shows the n <= PL_FORWARD_PEEK_MAX bytes at `offset`, until the next call: how many there are,
 * fewer than n only at the end; 0 from there on. -errno with err.
 */
int64_t pl_forward_peek(struct pl_forward *f, uint64_t offset, size_t n, const uint8_t **bytes,
	struct pl_err *err) PL_MUST_CHECK;

/* Reads exactly n bytes. 0, -EBADMSG with err when it ends before, else -errno with err. */
int pl_forward_read(struct pl_forward *f, uint64_t offset, void *to, size_t n,
	struct pl_err *err) PL_MUST_CHECK;
