/* daemon/sources/tar_shard.c - lists the samples of one archive. */
#include "daemon/sources/tar_shard.h"

#include <errno.h>
#include <fcntl.h>

#include "daemon/sources/any_place.h"
#include "daemon/sources/index_cache.h"
#include "daemon/sources/regular.h"

/* A smaller archive is walked over as fast as its index is read: it gets none by itself. */
#define CACHED_MEMBERS    1000
#define CACHED_COMPRESSED (1 << 20)

/* The body of an index in a file: number of members, flags, unknown members, then the members. */
enum { HAS_END = 1, HAS_TAIL = 2, IS_PACKED = 4 };

static int save(const struct pl_index_cache *cache, const char *path, const struct stat *st,
	const struct pl_tar_index *ix)
{
	PL_CLEANUP(pl_packed_finish) struct pl_packed body = {0};
	uint64_t flags = (ix->has_end ? HAS_END : 0) | (ix->has_tail ? HAS_TAIL : 0) |
			 (ix->is_packed ? IS_PACKED : 0);
	int r = pl_packed_put(&body, ix->n_members);

	if (!r)
		r = pl_packed_put(&body, flags);
	if (!r)
		r = pl_packed_put(&body, ix->n_unknown);
	if (!r)
		r = pl_packed_put_bytes(&body, ix->members.data, ix->members.used);
	if (!r)
		(void)pl_index_cache_save(cache, path, st, &body);
	return r;
}

/* Every member lies within the file: a plain one's size is known. */
static bool is_sound(const struct pl_tar_index *ix, const struct stat *st)
{
	struct pl_tar_index_walk *walk = calloc(1, sizeof(*walk));
	struct pl_tar_entry e;
	uint64_t n = 0;
	int r = walk ? 1 : -ENOMEM;

	if (walk)
		walk->left =
			(struct pl_unpacked){ix->members.data, ix->members.data + ix->members.used};
	while (r > 0) {
		r = pl_tar_index_next(walk, &e);
		n += r > 0;
		if (r > 0 && !ix->is_packed && !e.is_sparse && !e.fault &&
			(e.offset > (uint64_t)st->st_size ||
				e.bytes > (uint64_t)st->st_size - e.offset))
			r = -EBADMSG;
	}
	free(walk);
	return r == 0 && n == ix->n_members;
}

/* 1 with the index, 0 when there is none to use. */
static int load(const struct pl_index_cache *cache, const char *path, const struct stat *st,
	struct pl_tar_index *ix, struct pl_err *note)
{
	PL_CLEANUP(pl_packed_finish) struct pl_packed body = {0};
	struct pl_unpacked u;
	uint64_t flags;

	*ix = (struct pl_tar_index){0};
	if (!pl_index_cache_load(cache, path, st, &body, note))
		return 0;
	u = (struct pl_unpacked){body.data, body.data + body.used};
	if (pl_packed_get(&u, &ix->n_members) && pl_packed_get(&u, &flags) &&
		pl_packed_get(&u, &ix->n_unknown) &&
		!pl_packed_put_bytes(&ix->members, u.at, (size_t)(u.end - u.at))) {
		ix->has_end = flags & HAS_END;
		ix->has_tail = flags & HAS_TAIL;
		ix->is_packed = flags & IS_PACKED;
		if (is_sound(ix, st))
			return 1;
	}
	pl_err_set(note, 0, "an index was not used: what it says can't be");
	pl_tar_index_finish(ix);
	return 0;
}

static bool is_worth_keeping(
	const struct pl_tar_index *ix, const struct pl_tar_shard *s, const char *where)
{
	if (ix->fault || !strcmp(where, "none"))
		return false;
	return strcmp(where, "auto") || ix->n_members >= CACHED_MEMBERS ||
	       (ix->is_packed && s->st.st_size >= CACHED_COMPRESSED);
}

static bool is_unchanged(int fd, const struct stat *before)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_size == before->st_size &&
	       st.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* From its cache, or by a walk over the archive. */
static int make_index(struct pl_tar_shard *s, const char *path, const char *where, const char *dir,
	uint64_t most, struct pl_tar_index *ix)
{
	struct pl_index_cache cache = {where, dir, "tar1"};
	PL_AUTO_CLOSE int fd = -1;
	uint64_t bytes;
	int copy, r = pl_regular_open(AT_FDCWD, path, &fd, &bytes, &s->err);

	if (r)
		return r;
	if (fstat(fd, &s->st))
		return pl_err_set(&s->err, -errno, "%s", strerror(errno));
	if (load(&cache, path, &s->st, ix, &s->note))
		return 0;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return pl_err_set(&s->err, -errno, "%s", strerror(errno));
	r = pl_tar_index_build(ix, copy, most, &s->err);
	if (!r && ix->n_members < most && is_worth_keeping(ix, s, where) &&
		is_unchanged(fd, &s->st))
		r = save(&cache, path, &s->st, ix);
	return r;
}

void pl_tar_shard_list(struct pl_tar_shard *s, const char *path,
	const struct pl_tar_listing *listing, uint64_t most)
{
	PL_CLEANUP(pl_tar_index_finish) struct pl_tar_index ix = {0};
	size_t n = strlen(path);
	size_t n_suffix = sizeof(PL_INDEX_SUFFIX) - 1;

	pl_listing_writer_init(&s->samples);
	s->is_index = n > n_suffix && !strcmp(path + n - n_suffix, PL_INDEX_SUFFIX);
	if (s->is_index)
		return;
	s->r = make_index(s, path, listing->index, listing->dir, most, &ix);
	if (!s->r)
		s->r = pl_tar_samples_add(&s->samples, &ix, listing->fields, &s->passed, &s->err);
	s->is_compressed = ix.is_packed;
	s->is_faulty = ix.fault;
	s->has_end = ix.has_end;
	s->has_tail = ix.has_tail;
	s->n_unknown = ix.n_unknown;
}

/* Places count from the first byte of the section they are added to. */
static int add_records(struct pl_tar_shard *s, struct pl_listing_writer *w)
{
	const struct pl_listing_section *places = &s->samples.section[PL_RECORD_OWN_SECTION - 1];
	const struct pl_listing_section *samples = &s->samples.section[PL_TAR_SECTION_SAMPLES];
	uint64_t base = w->section[PL_TAR_SECTION_SAMPLES].used;
	int r = pl_listing_append(w, PL_TAR_SECTION_SAMPLES, samples->data, samples->used);

	for (uint64_t i = 0; i < s->samples.n_records && !r; i++) {
		uint64_t place;

		memcpy(&place, places->data + i * sizeof(place), sizeof(place));
		r = pl_record_listing_add(w, base + place);
	}
	return r;
}

int pl_tar_shard_add(
	struct pl_tar_shard *s, const char *path, struct pl_listing_writer *w, struct pl_err *err)
{
	char quoted[1024];
	int r = s->r;

	if (r < 0) {
		if (err)
			*err = s->err;
		if (!s->err.code)
			pl_err_set(err, r, "%s", strerror(-r));
		pl_err_prefix(err, "%s: ", pl_err_quote(quoted, sizeof(quoted), path));
		return r;
	}
	if (s->is_index)
		return 0;
	r = pl_record_listing_add_file(
		w, path, &s->st, s->is_compressed ? PL_FORM_COMPRESSED : PL_FORM_PLAIN);
	if (!r)
		r = add_records(s, w);
	return r ? pl_err_set(err, r, "out of memory") : 0;
}

void pl_tar_shard_finish(void *shard)
{
	struct pl_tar_shard *s = shard;

	pl_listing_writer_finish(&s->samples);
	memset(s, 0, sizeof(*s));
}
