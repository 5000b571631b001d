/* daemon/kit/listing.h - the sealed list of a source's records: written once, mapped by everybody.
 */
#pragma once

#include "proto/err.h"

#pragma GCC visibility push(default) /* plugins call these */

#define PL_LISTING_SECTIONS 8

/*
 * The memfd: struct pl_listing_head, then sections. All numbers little-endian, all offsets from the
 * start of the memfd, checked by pl_listing_map, so that a reader may trust `section` and `bytes`.
 */
struct pl_listing_head {
	char magic[8]; /* "PLLIST1" */
	uint64_t n_records;
	uint64_t hash; /* XXH3 of every section's bytes: the listing's part of a token */
	uint32_t n_sections;
	uint32_t n_classes; /* labels are in [0, n_classes); 0: no classes */
	uint64_t section_offset[PL_LISTING_SECTIONS];
	uint64_t section_bytes[PL_LISTING_SECTIONS];
};

struct pl_listing {
	const struct pl_listing_head *head;
	size_t bytes;
};

/* A section under construction: grows by appending. */
struct pl_listing_section {
	char *data;
	size_t used;
	size_t room;
};

struct pl_listing_writer {
	struct pl_listing_section section[PL_LISTING_SECTIONS];
	uint64_t n_records;
	uint32_t n_classes;
	/* Section 0 of every listing with classes: their names, each with its NUL, in label order.
	 */
};

void pl_listing_writer_init(struct pl_listing_writer *w);
void pl_listing_writer_finish(struct pl_listing_writer *w);

/* Appends n bytes to section s (0..7); 0 or -ENOMEM. */
int pl_listing_append(
	struct pl_listing_writer *w, int s, const void *bytes, size_t n) PL_MUST_CHECK;

/* Writes everything to a new memfd and seals it against any change. The descriptor, or -errno. */
int pl_listing_seal(struct pl_listing_writer *w) PL_MUST_CHECK;

/* Appends to section s of `w` what seal would write of `inner`: 0 or -ENOMEM. Begins at a multiple
 * of 64 when only such images are in the section. */
int pl_listing_append_image(
	struct pl_listing_writer *w, int s, const struct pl_listing_writer *inner) PL_MUST_CHECK;

/* A listing over such an image, which it borrows; checked as by map, never unmapped. 0 or -EINVAL.
 */
int pl_listing_view(
	struct pl_listing *l, const void *image, size_t n, struct pl_err *err) PL_MUST_CHECK;

/* Maps a sealed listing read-only after checking seals, magic and every offset. 0 or -errno; unmap
 * frees it. */
int pl_listing_map(struct pl_listing *l, int fd, struct pl_err *err) PL_MUST_CHECK;
void pl_listing_unmap(struct pl_listing *l);

/* Bytes of section s; *n is its length. */
const void *pl_listing_section_at(const struct pl_listing *l, int s, size_t *n);

/* Name of class `label` (< n_classes). Walks the names: not for hot paths. */
const char *pl_listing_class(const struct pl_listing *l, uint32_t label);

#pragma GCC visibility pop
