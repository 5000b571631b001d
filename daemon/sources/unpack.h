/* daemon/sources/unpack.h - gzip, zstd and xz streams, told by their first bytes and unpacked piece
 * by piece. */
#pragma once

#include "proto/err.h"

enum pl_codec {
	PL_CODEC_NONE, /* bytes as they are */
	PL_CODEC_GZIP,
	PL_CODEC_ZSTD,
	PL_CODEC_XZ,
	PL_CODEC_END,
};

/* Bytes at a file's beginning that tell. */
#define PL_CODEC_HEAD 6

/* The codec of a file that begins with these n bytes; its name does not count. */
enum pl_codec pl_codec_of(const void *head, size_t n);

/* "gzip", "zstd", "xz"; "none". Static storage. */
const char *pl_codec_name(enum pl_codec codec);

/*
 * Unpacks a whole file: every member of a gzip file, every frame of a zstd file, every stream of an
 * xz file, with their checksums. Zero bytes behind the last gzip member are padding; anything else
 * behind the last member, frame or stream is an error. A window larger than 128 MiB is refused.
 */
struct pl_unpack;

/* NULL with err (-ENOMEM) when there is no memory. destroy accepts NULL. */
struct pl_unpack *pl_unpack_create(enum pl_codec codec, struct pl_err *err);
void pl_unpack_destroy(struct pl_unpack *u);

/* What is left to take and to fill. unpack_run moves both on. */
struct pl_unpack_io {
	const uint8_t *in;
	size_t n_in;
	bool is_last; /* nothing follows `in` */
	uint8_t *out;
	size_t n_out;
};

/*
 * Takes from `in` and fills `out` until one of them is used up, or with is_last until all is
 * unpacked. 0, or with err (which doesn't say where): -EBADMSG for damaged bytes, -ENODATA for a
 * stream that is cut short, -ENOMEM, -E2BIG for a window that is too large.
 */
int pl_unpack_run(struct pl_unpack *u, struct pl_unpack_io *io, struct pl_err *err) PL_MUST_CHECK;
