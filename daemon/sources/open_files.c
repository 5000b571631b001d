/* daemon/sources/open_files.c - a worker's open files of a record listing: few at a time, and only
 * as they were listed. */
#include "daemon/sources/open_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/sources/regular.h"

void pl_open_files_init(struct pl_open_files *o, const struct pl_record_listing *listing)
{
	*o = (struct pl_open_files){.listing = listing};
}

static void release(const struct pl_open_files *o, struct pl_open_file *f)
{
	if (f->used_at == 0)
		return;
	if (f->map)
		munmap(f->map, o->listing->file[f->number].bytes);
	close(f->fd);
	*f = (struct pl_open_file){0};
}

void pl_open_files_finish(struct pl_open_files *o)
{
	for (int i = 0; i < PL_OPEN_FILES_MAX; i++)
		release(o, &o->file[i]);
	*o = (struct pl_open_files){.listing = o->listing};
}

/* The file's place, or the one that makes room for it. */
static struct pl_open_file *place_for(struct pl_open_files *o, size_t number)
{
	struct pl_open_file *oldest = &o->file[0];

	for (int i = 0; i < PL_OPEN_FILES_MAX; i++) {
		struct pl_open_file *f = &o->file[i];

		if (f->used_at && f->number == number)
			return f;
		if (f->used_at < oldest->used_at)
			oldest = f;
	}
	return oldest;
}

static int check_unchanged(const struct pl_record_file *listed, int fd, struct pl_err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return pl_err_set(err, -errno, "%s", strerror(errno));
	if ((uint64_t)st.st_size != listed->bytes)
		return pl_err_set(err, -ESTALE,
			"it had %llu bytes when it was listed and has %lld now: reload the "
			"pipeline",
			(unsigned long long)listed->bytes, (long long)st.st_size);
	if ((int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec != listed->mtime_ns)
		return pl_err_set(
			err, -ESTALE, "it was written since it was listed: reload the pipeline");
	return 0;
}

static int acquire(
	struct pl_open_files *o, size_t number, struct pl_open_file **out, struct pl_err *err)
{
	struct pl_open_file *f = place_for(o, number);
	PL_AUTO_CLOSE int opened = -1;
	uint64_t bytes;
	int r;

	if (f->used_at == 0 || f->number != number) {
		r = pl_regular_open(
			AT_FDCWD, pl_record_listing_path(o->listing, number), &opened, &bytes, err);
		if (!r)
			r = check_unchanged(&o->listing->file[number], opened, err);
		if (r)
			return r;
		release(o, f);
		f->number = number;
		f->fd = pl_steal_fd(&opened);
	}
	f->used_at = ++o->n_uses;
	*out = f;
	return 0;
}

int pl_open_files_get(struct pl_open_files *o, size_t number, int *fd, struct pl_err *err)
{
	struct pl_open_file *f = NULL;
	int r = acquire(o, number, &f, err);

	if (!r)
		*fd = f->fd;
	return r;
}

int pl_open_files_map(struct pl_open_files *o, size_t number, const void **data, struct pl_err *err)
{
	struct pl_open_file *f = NULL;
	int r = acquire(o, number, &f, err);
	void *map;

	if (r)
		return r;
	if (!f->map) {
		map = mmap(NULL, o->listing->file[number].bytes, PROT_READ, MAP_SHARED, f->fd, 0);
		if (map == MAP_FAILED)
			return pl_err_set(err, -errno, "it can't be mapped: %s", strerror(errno));
		f->map = map;
	}
	*data = f->map;
	return 0;
}

int pl_open_files_read(struct pl_open_files *o, size_t number, uint64_t offset, void *to, size_t n,
	struct pl_err *err)
{
	int fd = -1;
	int r = pl_open_files_get(o, number, &fd, err);

	return r ? r : pl_regular_read_at(fd, offset, to, n, err);
}
