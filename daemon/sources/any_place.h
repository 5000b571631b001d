/* daemon/sources/any_place.h - reads places in the files of a listing, plain or compressed. */
#pragma once

#include "daemon/sources/forward.h"
#include "daemon/sources/open_files.h"

/* Compressed files kept open: each costs what its decompressor needs. */
#define PL_ANY_PLACE_STREAMS 4

/* `form` of a struct pl_record_file. */
enum { PL_FORM_PLAIN, PL_FORM_COMPRESSED };

struct pl_any_place_stream {
	size_t file;
	uint64_t used_at; /* a count of uses; 0: this place is free */
	struct pl_forward in;
};

/* A process's open files. A compressed one is read on from where it was read last; a place before
 * that begins it anew. */
struct pl_any_place {
	const struct pl_record_listing *records; /* borrowed */
	struct pl_open_files files;
	struct pl_any_place_stream stream[PL_ANY_PLACE_STREAMS];
	uint64_t n_uses;
};

void pl_any_place_init(struct pl_any_place *p, const struct pl_record_listing *records);
void pl_any_place_finish(struct pl_any_place *p);

/* Reads exactly n bytes at `offset` of a file, of what it holds when it is compressed. 0, or -errno
 * with err, which doesn't name the file. */
int pl_any_place_read(struct pl_any_place *p, size_t file, uint64_t offset, void *to, size_t n,
	struct pl_err *err) PL_MUST_CHECK;
