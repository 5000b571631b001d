/* daemon/sources/tar_header.h - one 512-byte header block of a tar archive. */
/*
 * V7, ustar, GNU (old and new) and pax archives all have the same block; see POSIX.1-1988 for
 * ustar, POSIX.1-2001 (pax) for the extended headers, and GNU tar's manual, "Basic Tar Format", for
 * the rest.
 */
#pragma once

#include "proto/err.h"

enum { PL_TAR_BLOCK = 512 };

/* Names in the block: prefix, a slash, name. */
#define PL_TAR_SHORT_NAME_MAX 256

enum pl_tar_type {
	PL_TAR_FILE = 1,   /* also one that is contiguous */
	PL_TAR_HARD_LINK,  /* to an earlier member */
	PL_TAR_NO_DATA,    /* link, device, directory, FIFO: nothing follows */
	PL_TAR_SPARSE,     /* GNU's old form: the map stands in the header */
	PL_TAR_LONG_NAME,  /* GNU: the next member's name */
	PL_TAR_LONG_LINK,  /* GNU: the next member's link name */
	PL_TAR_PAX,        /* extended header for the next member */
	PL_TAR_PAX_GLOBAL, /* extended header for all that follow */
	PL_TAR_UNKNOWN,    /* something with data that is no file */
};

struct pl_tar_header {
	enum pl_tar_type type;
	uint64_t bytes; /* of data that follow, as the block says */
	char name[PL_TAR_SHORT_NAME_MAX + 1];
	char link[101];
};

/* The condition of a block of zeros, the end marker. */
#define PL_TAR_ZEROS 1

/*
 * Reads a block. 0, PL_TAR_ZEROS, or -EBADMSG with err (without the place): a wrong checksum, a
 * size that is no number.
 */
int pl_tar_header_read(struct pl_tar_header *h, const uint8_t block[PL_TAR_BLOCK],
	struct pl_err *err) PL_MUST_CHECK;

/* A number in a field of n bytes: octal, or base 256. False when it is neither, negative, or more
 * than 63 bits; blank is 0. */
bool pl_tar_number(const uint8_t *field, size_t n, uint64_t *number) PL_MUST_CHECK;
