/* daemon/sources/tar_links.h - where the members of an archive are that hard links name. */
#pragma once

#include "daemon/sources/tar_scan.h"

struct pl_tar_index;

struct pl_tar_target {
	uint64_t offset;
	uint64_t bytes;
	size_t map;   /* where its map stands in the index */
	size_t n_map; /* 0: not sparse */
};

/* Nothing is kept until the first link is met: few archives have any. Zeroed before. */
struct pl_tar_links {
	bool is_kept;
	size_t n;
	size_t room; /* a power of two, at least twice n */
	struct pl_tar_link {
		uint64_t hash; /* of the name; 0: free */
		struct pl_tar_target target;
	} * link;
};

void pl_tar_links_finish(struct pl_tar_links *l);

/* A member of the index; a later one of the same name takes its place. 0 or -ENOMEM. */
int pl_tar_links_add(struct pl_tar_links *l, struct pl_tar_text name,
	const struct pl_tar_target *target) PL_MUST_CHECK;

/* 1 with the member of that name, 0 when there is none, or -ENOMEM. */
int pl_tar_links_find(struct pl_tar_links *l, const struct pl_tar_index *ix,
	struct pl_tar_text name, struct pl_tar_target *target) PL_MUST_CHECK;
