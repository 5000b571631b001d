/* daemon/sources/tar_notes.h - what a listing of archives passed over, said in one line. */
#pragma once

#include "daemon/sources/tar_shard.h"

struct pl_tar_notes {
	uint64_t n_faulty; /* archives */
	uint64_t n_without_end;
	uint64_t n_with_tail;
	uint64_t n_unknown; /* members */
	uint64_t n_names;
	uint64_t n_samples;
	char faulty[512]; /* the first of each, quoted */
	char without_end[512];
	char with_tail[512];
	char note[1024];
};

void pl_tar_notes_add(
	struct pl_tar_notes *notes, const struct pl_tar_shard *shard, const char *path);

/* Writes them into err, whose code stays 0; nothing when there is nothing to tell. */
void pl_tar_notes_tell(const struct pl_tar_notes *notes, uint64_t n_records, struct pl_err *err);
