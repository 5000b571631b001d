/* daemon/sources/file_listing.c - how a listing holds many file names in few bytes. */
#include "daemon/sources/file_listing.h"

#include <errno.h>
#include <stdio.h>

enum { SECTION_ROOT = 1, SECTION_FOLDERS, SECTION_RUNS, SECTION_OFFSETS, SECTION_NAMES };

int pl_file_listing_begin(struct pl_listing_writer *w, const char *root)
{
	return pl_listing_append(w, SECTION_ROOT, root, strlen(root) + 1);
}

/* True when the last run is of this folder. */
static bool continues_run(const struct pl_listing_writer *w, const char *folder)
{
	const struct pl_listing_section *runs = &w->section[SECTION_RUNS];
	struct pl_file_run last;

	if (runs->used == 0)
		return false;
	memcpy(&last, runs->data + runs->used - sizeof(last), sizeof(last));
	return !strcmp(w->section[SECTION_FOLDERS].data + last.folder, folder);
}

int pl_file_listing_add(
	struct pl_listing_writer *w, const char *folder, int64_t label, const char *name)
{
	uint64_t at = w->section[SECTION_NAMES].used;
	struct pl_file_run run = {w->n_records, w->section[SECTION_FOLDERS].used, label};
	int r = 0;

	if (!continues_run(w, folder)) {
		r = pl_listing_append(w, SECTION_FOLDERS, folder, strlen(folder) + 1);
		if (!r)
			r = pl_listing_append(w, SECTION_RUNS, &run, sizeof(run));
	}
	if (!r)
		r = pl_listing_append(w, SECTION_OFFSETS, &at, sizeof(at));
	if (!r)
		r = pl_listing_append(w, SECTION_NAMES, name, strlen(name) + 1);
	if (!r)
		w->n_records++;
	return r;
}

static bool ends_in_nul(const char *text, size_t n)
{
	return n > 0 && text[n - 1] == '\0';
}

int pl_file_listing_open(struct pl_file_listing *f, const struct pl_listing *l, struct pl_err *err)
{
	size_t root_bytes, runs_bytes, offsets_bytes;

	f->n_records = l->head->n_records;
	f->root = pl_listing_section_at(l, SECTION_ROOT, &root_bytes);
	f->folders = pl_listing_section_at(l, SECTION_FOLDERS, &f->folders_bytes);
	f->run = pl_listing_section_at(l, SECTION_RUNS, &runs_bytes);
	f->name_at = pl_listing_section_at(l, SECTION_OFFSETS, &offsets_bytes);
	f->names = pl_listing_section_at(l, SECTION_NAMES, &f->names_bytes);
	f->n_runs = runs_bytes / sizeof(*f->run);
	if (!ends_in_nul(f->root, root_bytes) || !ends_in_nul(f->folders, f->folders_bytes) ||
		!ends_in_nul(f->names, f->names_bytes) || f->n_runs == 0 ||
		runs_bytes % sizeof(*f->run) || f->run[0].first != 0 ||
		offsets_bytes / sizeof(*f->name_at) != f->n_records)
		return pl_err_set(err, -EINVAL, "the listing is not one of files");
	return 0;
}

const struct pl_file_run *pl_file_listing_run(const struct pl_file_listing *f, uint64_t index)
{
	size_t low = 0;
	size_t high = f->n_runs;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (f->run[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return &f->run[low];
}

size_t pl_file_listing_path(const struct pl_file_listing *f, uint64_t index, char *out, size_t n)
{
	uint64_t folder = pl_file_listing_run(f, index)->folder;
	uint64_t name = f->name_at[index];

	/* The last byte of both sections is a NUL, so an offset inside them reads a text that ends
	 * inside. */
	return (size_t)snprintf(out, n, "%s%s",
		folder < f->folders_bytes ? f->folders + folder : "",
		name < f->names_bytes ? f->names + name : "");
}
