/* daemon/sources/walk.h - visits the matching files of a tree in the byte order of paths. */
#pragma once

#include "daemon/sources/glob.h"

/* What a callback returns to end the walk early, without an error. */
#define PL_WALK_STOP 1

/*
 * Memory is that of the names of the folders on the way down, so a folder of a million files costs
 * some 40 MB meanwhile. Nothing is opened but folders; only links are asked what they point to.
 * Folders behind links are entered where a part of the pattern other than ** names them.
 */
struct pl_walk {
	const struct pl_glob *glob;
	int root_fd;      /* a folder; borrowed */
	const char *root; /* its absolute path, for messages */
	/* Each folder of the root that is entered, without a slash, before the first file. May be
	 * NULL. */
	int (*top_folder)(void *context, const char *name);
	/* Each match: its folder relative to the root ("" or "a/b/"), valid during the call, and
	 * its name. */
	int (*file)(void *context, const char *folder, const char *name);
	void *context;

	/* What was seen, for messages. */
	uint64_t n_folders;      /* entered */
	uint64_t n_others;       /* files of other names */
	uint64_t n_special;      /* FIFOs, sockets, devices whose names match */
	uint64_t n_broken;       /* links to nothing whose names match */
	uint64_t n_link_folders; /* links to folders that ** would have entered */
};

/* 0, PL_WALK_STOP or another code of a callback, or -errno with err naming the folder that can't be
 * read. */
int pl_walk_run(struct pl_walk *w, struct pl_err *err) PL_MUST_CHECK;
