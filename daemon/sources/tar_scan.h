/* daemon/sources/tar_scan.h - walks over the headers of an archive, one member after the other. */
#pragma once

#include "daemon/sources/tar_pax.h"

/* A longer name is refused: no file system has it. */
#define PL_TAR_NAME_MAX 4096

/* A file in the archive. Everything is borrowed until the next one. */
struct pl_tar_member {
	struct pl_tar_text name;      /* never empty */
	struct pl_tar_text link;      /* of a hard link: the earlier member with the data */
	uint64_t header;              /* where its own header block stands */
	uint64_t offset;              /* where its data begin */
	uint64_t bytes;               /* how long it is */
	const struct pl_tar_map *map; /* of a sparse member; else NULL */
	bool is_cut; /* its data are not all there: shown last of all, before the error */
};

/*
 * Folders, links, devices and FIFOs are passed over, and so are members of unknown types with their
 * data. Behind an end marker (two blocks of zeros) the walk goes on when another archive follows
 * within 1 MiB of zeros, as `tar --ignore-zeros` does: nothing is lost of archives that were put
 * one behind the other.
 */
struct pl_tar_scan {
	struct pl_forward *in;
	/* 0 goes on, PL_TAR_STOP ends the walk, else -errno with err. */
	int (*member)(void *context, const struct pl_tar_member *m, struct pl_err *err);
	void *context;

	/* What was seen. */
	bool has_end;       /* there was an end marker */
	bool has_tail;      /* behind it stand bytes that are no archive */
	bool is_tar;        /* at least one block was one */
	uint64_t n_unknown; /* members of unknown types */
};

#define PL_TAR_STOP 1

/*
 * Zero all but in, member and context before. 0, or -EBADMSG with err when the archive is damaged
 * or cut (the members before are good; the text says at which byte), else -errno with err.
 */
int pl_tar_scan_run(struct pl_tar_scan *scan, struct pl_err *err) PL_MUST_CHECK;
