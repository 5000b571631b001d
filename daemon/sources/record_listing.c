/* daemon/sources/record_listing.c - how a listing holds the places of records inside files. */
#include "daemon/sources/record_listing.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

enum { SECTION_PATHS = 1, SECTION_FILES, SECTION_PLACES };

int pl_record_listing_add_file(
	struct pl_listing_writer *w, const char *path, const struct stat *st, uint64_t form)
{
	struct pl_record_file file = {
		.first = w->n_records,
		.path = w->section[SECTION_PATHS].used,
		.bytes = (uint64_t)st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.form = form,
	};
	int r = pl_listing_append(w, SECTION_PATHS, path, strlen(path) + 1);

	return r ? r : pl_listing_append(w, SECTION_FILES, &file, sizeof(file));
}

int pl_record_listing_add(struct pl_listing_writer *w, uint64_t place)
{
	int r = pl_listing_append(w, SECTION_PLACES, &place, sizeof(place));

	w->n_records += r == 0;
	return r;
}

void pl_record_listing_set_form(struct pl_listing_writer *w, uint64_t form)
{
	const struct pl_listing_section *files = &w->section[SECTION_FILES];
	struct pl_record_file file;
	char *last = files->data + files->used - sizeof(file);

	memcpy(&file, last, sizeof(file));
	file.form = form;
	memcpy(last, &file, sizeof(file));
}

int pl_record_listing_open(
	struct pl_record_listing *r, const struct pl_listing *l, struct pl_err *err)
{
	size_t files_bytes, places_bytes;

	*r = (struct pl_record_listing){.n_records = l->head->n_records};
	r->paths = pl_listing_section_at(l, SECTION_PATHS, &r->paths_bytes);
	r->file = pl_listing_section_at(l, SECTION_FILES, &files_bytes);
	r->place = pl_listing_section_at(l, SECTION_PLACES, &places_bytes);
	r->n_files = files_bytes / sizeof(*r->file);
	if (r->paths_bytes == 0 || r->paths[r->paths_bytes - 1] || r->n_files == 0 ||
		files_bytes % sizeof(*r->file) || r->file[0].first != 0 ||
		(places_bytes && places_bytes / sizeof(*r->place) != r->n_records))
		return pl_err_set(err, -EINVAL, "the listing is not one of records");
	if (places_bytes == 0)
		r->place = NULL;
	return 0;
}

/* The last file that begins at or before the record: empty files before it begin there too. */
size_t pl_record_listing_file_of(const struct pl_record_listing *r, uint64_t index)
{
	size_t low = 0;
	size_t high = r->n_files;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (r->file[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t pl_record_listing_end(const struct pl_record_listing *r, size_t file)
{
	return file + 1 < r->n_files ? r->file[file + 1].first : r->n_records;
}

const char *pl_record_listing_path(const struct pl_record_listing *r, size_t file)
{
	uint64_t at = r->file[file].path;

	/* The last byte of the section is a NUL: an offset inside reads a text that ends inside. */
	return at < r->paths_bytes ? r->paths + at : "";
}

/* The file with its folder: enough to know it by, and short. */
static const char *short_path(const char *path)
{
	const char *at = path + strlen(path);
	int n_slashes = 0;

	while (at > path && (n_slashes += at[-1] == '/') < 2)
		at--;
	return at;
}

void pl_record_listing_describe(
	const struct pl_listing *l, uint64_t index, const char *what, char *out, size_t n)
{
	struct pl_record_listing r;
	const char *path;
	size_t file;

	if (pl_record_listing_open(&r, l, NULL) || index >= r.n_records) {
		snprintf(out, n, "record %llu", (unsigned long long)index);
		return;
	}
	file = pl_record_listing_file_of(&r, index);
	path = short_path(pl_record_listing_path(&r, file));
	if (what)
		snprintf(out, n, "%s %s %llu", path, what,
			(unsigned long long)(index - r.file[file].first));
	else
		snprintf(out, n, "%s", path);
}
