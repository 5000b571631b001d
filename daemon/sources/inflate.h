/* daemon/sources/inflate.h - the bytes that a compressed file holds, forwards. */
/*
 * gzip through zlib, zstd and xz through their own libraries, all told by the first bytes and never
 * by the name. Members, frames and streams one behind another are one sequence of bytes. Every
 * checksum in the file is verified.
 */
#pragma once

#include "proto/err.h"

/* The bytes of a file's head that are enough to tell. */
#define PL_INFLATE_HEAD 6

/* "gzip", "zstd", "xz", or NULL when n bytes at a file's head are neither. */
const char *pl_inflate_format(const void *head, size_t n);

/* Borrows fd until destroy and reads it with pread. NULL with err: not compressed, no memory. */
struct pl_inflate *pl_inflate_create(int fd, struct pl_err *err) PL_MUST_CHECK;
void pl_inflate_destroy(struct pl_inflate *f);

/* Up to n > 0 bytes more: how many, fewer only at the end; -EBADMSG with err when the file is cut
 * or damaged (the text says at which byte of it), else -errno with err. */
int64_t pl_inflate_read(struct pl_inflate *f, void *to, size_t n, struct pl_err *err) PL_MUST_CHECK;
