/* daemon/sources/tfrecord_list.c - lists the records of many TFRecord files. */
#include "daemon/sources/tfrecord_list.h"

#include <errno.h>
#include <fcntl.h>

#include "daemon/sources/any_place.h"
#include "daemon/sources/index_cache.h"
#include "daemon/sources/list_files.h"
#include "daemon/sources/regular.h"
#include "daemon/sources/tfrecord_scan.h"

#define FIRST_RECORDS 16

/* A file of fewer records is walked over as fast as its index is read: it gets none by itself. */
#define CACHED_RECORDS    1000
#define CACHED_COMPRESSED (1 << 20)

struct collector {
	const struct pl_tfrecord_listing *listing;
	struct pl_listing_writer *w;
	uint64_t n_faulty;
	char faulty[512]; /* the first */
	struct pl_err note;
};

struct shard {
	bool is_index; /* the name is that of an index: not listed */
	struct stat st;
	struct pl_tfrecord_index index;
	struct pl_err note;
	int r;
	struct pl_err err; /* with r */
};

static void finish(void *shard)
{
	struct shard *s = shard;

	pl_tfrecord_index_finish(&s->index);
	memset(s, 0, sizeof(*s));
}

/* The body of an index in a file: number of records, whether they are compressed, the lengths. */
static bool load(const struct pl_index_cache *cache, const char *path, struct shard *s)
{
	PL_CLEANUP(pl_packed_finish) struct pl_packed body = {0};
	struct pl_tfrecord_index *ix = &s->index;
	struct pl_unpacked u, all;
	uint64_t n, end = 0, is_packed = 0;
	bool is_good;

	if (!pl_index_cache_load(cache, path, &s->st, &body, &s->note))
		return false;
	u = (struct pl_unpacked){body.data, body.data + body.used};
	is_good = pl_packed_get(&u, &ix->n) && pl_packed_get(&u, &is_packed);
	all = u;
	for (uint64_t i = 0; is_good && i < ix->n; i++)
		is_good = pl_packed_get(&u, &n) && n < (uint64_t)INT64_MAX / 2 - end &&
			  (end += n + PL_TFRECORD_HEAD + PL_TFRECORD_FOOT) > 0;
	is_good = is_good && u.at == u.end && (is_packed || end == (uint64_t)s->st.st_size) &&
		  pl_packed_put_bytes(&ix->lengths, all.at, (size_t)(all.end - all.at)) == 0;
	ix->is_packed = is_packed;
	if (!is_good) {
		pl_tfrecord_index_finish(ix);
		pl_err_set(&s->note, 0, "an index was not used: what it says can't be");
	}
	return is_good;
}

static void save(const struct pl_index_cache *cache, const char *path, const struct shard *s)
{
	PL_CLEANUP(pl_packed_finish) struct pl_packed body = {0};
	const struct pl_tfrecord_index *ix = &s->index;

	if (!pl_packed_put(&body, ix->n) && !pl_packed_put(&body, ix->is_packed) &&
		!pl_packed_put_bytes(&body, ix->lengths.data, ix->lengths.used))
		(void)pl_index_cache_save(cache, path, &s->st, &body);
}

static bool is_worth_keeping(const struct shard *s, const char *where, uint64_t most)
{
	if (s->index.fault || s->index.n >= most || !strcmp(where, "none"))
		return false;
	return strcmp(where, "auto") || s->index.n >= CACHED_RECORDS ||
	       (s->index.is_packed && s->st.st_size >= CACHED_COMPRESSED);
}

static int make_index(struct shard *s, const char *path, const struct pl_tfrecord_listing *l)
{
	struct pl_index_cache cache = {l->index, l->dir, "tfr1"};
	uint64_t most = l->only_first ? FIRST_RECORDS : UINT64_MAX;
	struct stat after;
	uint64_t bytes;
	int fd = -1;
	int r = pl_regular_open(AT_FDCWD, path, &fd, &bytes, &s->err);

	if (r)
		return r;
	if (fstat(fd, &s->st) || load(&cache, path, s)) {
		close(fd);
		return 0;
	}
	r = pl_tfrecord_index_build(&s->index, fd, most, &s->err);
	if (!r && is_worth_keeping(s, l->index, most) && !stat(path, &after) &&
		after.st_size == s->st.st_size &&
		!memcmp(&after.st_mtim, &s->st.st_mtim, sizeof(after.st_mtim)))
		save(&cache, path, s);
	return r;
}

static void list_file(void *context, const char *path, void *shard)
{
	const struct collector *c = context;
	struct shard *s = shard;
	size_t n = strlen(path);
	size_t n_suffix = sizeof(PL_INDEX_SUFFIX) - 1;

	s->is_index = n > n_suffix && !strcmp(path + n - n_suffix, PL_INDEX_SUFFIX);
	if (!s->is_index)
		s->r = make_index(s, path, c->listing);
}

/* A record that is an error when it is read. */
static int add_fault(struct pl_listing_writer *w, const char *text)
{
	uint64_t at = w->section[PL_TFRECORD_SECTION_FAULTS].used;
	int r = pl_listing_append(w, PL_TFRECORD_SECTION_FAULTS, text, strlen(text) + 1);

	return r ? r : pl_record_listing_add(w, at | PL_TFRECORD_FAULT);
}

static int add_records(struct pl_listing_writer *w, const struct pl_tfrecord_index *ix)
{
	struct pl_unpacked u = {ix->lengths.data, ix->lengths.data + ix->lengths.used};
	uint64_t at = 0;
	uint64_t n;
	int r = 0;

	while (!r && u.at < u.end && pl_packed_get(&u, &n)) {
		r = pl_record_listing_add(w, at);
		at += n + PL_TFRECORD_HEAD + PL_TFRECORD_FOOT;
	}
	return r || !ix->fault ? r : add_fault(w, ix->fault);
}

static int add_file(void *context, const char *path, void *shard, struct pl_err *err)
{
	struct collector *c = context;
	struct shard *s = shard;
	char quoted[1024];
	int r = s->r;

	if (r) {
		*err = s->err;
		if (!err->code)
			pl_err_set(err, r, "%s", strerror(-r));
		pl_err_prefix(err, "%s: ", pl_err_quote(quoted, sizeof(quoted), path));
		return r;
	}
	if (s->is_index)
		return 0;
	if (s->index.fault && c->n_faulty++ == 0)
		pl_err_quote(c->faulty, sizeof(c->faulty), path);
	if (s->note.text[0])
		c->note = s->note;
	r = pl_record_listing_add_file(
		c->w, path, &s->st, s->index.is_packed ? PL_FORM_COMPRESSED : PL_FORM_PLAIN);
	if (!r)
		r = add_records(c->w, &s->index);
	return r ? pl_err_set(err, r, "out of memory") : 0;
}

static void tell(const struct collector *c, struct pl_err *err)
{
	if (c->n_faulty)
		pl_err_set(err, 0,
			"%llu x damaged or cut file, its last record is an error (first: %s)%s%s",
			(unsigned long long)c->n_faulty, c->faulty, c->note.text[0] ? "; " : "",
			c->note.text);
	else if (c->note.text[0])
		pl_err_set(err, 0, "%s", c->note.text);
	else if (c->w->n_records == 0)
		pl_err_set(err, 0, "no record at all");
}

int pl_tfrecord_list(
	const struct pl_tfrecord_listing *l, struct pl_listing_writer *w, struct pl_err *err)
{
	PL_CLEANUP(pl_file_set_finish) struct pl_file_set set = {0};
	struct collector c = {.listing = l, .w = w};
	struct pl_list_files files = {.set = &set,
		.context = &c,
		.shard_bytes = sizeof(struct shard),
		.list = list_file,
		.add = add_file,
		.finish = finish};
	int r = pl_file_set_init(&set, l->path, l->dir, l->only_first ? 1 : SIZE_MAX, err);

	if (!r)
		r = pl_list_files_run(&files, err);
	if (!r)
		tell(&c, err);
	return r;
}
