/* daemon/sources/tar_list.c - lists the samples of many archives. */
#include "daemon/sources/tar_list.h"

#include "daemon/sources/list_files.h"
#include "daemon/sources/tar_notes.h"
#include "daemon/sources/tar_shard.h"

/* Members that are enough to see whether there are samples. */
#define FIRST_MEMBERS 1024

struct collector {
	const struct pl_tar_listing *listing;
	struct pl_listing_writer *w;
	struct pl_tar_notes notes;
};

static void list_archive(void *context, const char *path, void *shard)
{
	const struct collector *c = context;

	pl_tar_shard_list(
		shard, path, c->listing, c->listing->only_first ? FIRST_MEMBERS : UINT64_MAX);
}

static int add_archive(void *context, const char *path, void *shard, struct pl_err *err)
{
	struct collector *c = context;
	int r = pl_tar_shard_add(shard, path, c->w, err);

	if (!r)
		pl_tar_notes_add(&c->notes, shard, path);
	return r;
}

int pl_tar_list(const struct pl_tar_listing *l, struct pl_listing_writer *w, struct pl_err *err)
{
	PL_CLEANUP(pl_file_set_finish) struct pl_file_set set = {0};
	struct collector c = {.listing = l, .w = w};
	struct pl_list_files files = {.set = &set,
		.context = &c,
		.shard_bytes = sizeof(struct pl_tar_shard),
		.list = list_archive,
		.add = add_archive,
		.finish = pl_tar_shard_finish};
	int r = pl_file_set_init(&set, l->path, l->dir, l->only_first ? 1 : SIZE_MAX, err);

	if (!r)
		r = pl_list_files_run(&files, err);
	if (!r)
		pl_tar_notes_tell(&c.notes, w->n_records, err);
	return r;
}
