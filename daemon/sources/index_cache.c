/* daemon/sources/index_cache.c - indexes of large files, kept in files of their own. */
#include "daemon/sources/index_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <xxhash.h>

#define BODY_MAX (1ull << 32)

struct head {
	char magic[8]; /* "PLIDX1" */
	char format[8];
	uint64_t file_bytes;
	int64_t file_mtime_ns;
	uint64_t body_bytes;
	uint64_t hash; /* XXH3 of the head up to here, and of the body with that as its seed */
};

static const char magic[8] = "PLIDX1";

static struct head head_for(const struct pl_index_cache *c, const struct stat *st, uint64_t n)
{
	struct head h = {.file_bytes = (uint64_t)st->st_size,
		.file_mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.body_bytes = n};

	memcpy(h.magic, magic, sizeof(magic));
	memcpy(h.format, c->format, strnlen(c->format, sizeof(h.format)));
	return h;
}

static uint64_t hash_of(const struct head *h, const void *body, size_t n)
{
	return XXH3_64bits_withSeed(body, n, XXH3_64bits(h, offsetof(struct head, hash)));
}

enum place { BESIDE, USER_CACHE, SYSTEM_CACHE, FOLDER, NOWHERE };

/* The places to try, in order, NOWHERE last. */
static const enum place *places_of(const struct pl_index_cache *c)
{
	static const enum place automatic[] = {BESIDE, USER_CACHE, SYSTEM_CACHE, NOWHERE};
	static const enum place given[] = {FOLDER, NOWHERE};

	if (!strcmp(c->where, "none"))
		return &given[1];
	return strcmp(c->where, "auto") ? given : automatic;
}

/* The folder of an index that doesn't lie beside its file; "" when there is none. */
static void folder_of(const struct pl_index_cache *c, enum place place, char *out, size_t room)
{
	const char *cache = getenv("XDG_CACHE_HOME");

	out[0] = '\0';
	if (place == SYSTEM_CACHE)
		snprintf(out, room, "/var/cache/pipeloader");
	else if (place == USER_CACHE && cache && cache[0] == '/')
		snprintf(out, room, "%s/pipeloader", cache);
	else if (place == FOLDER && c->where[0] == '/')
		snprintf(out, room, "%s", c->where);
	else if (place == FOLDER)
		snprintf(out, room, "%s/%s", c->dir, c->where);
}

/* Elsewhere an index is named by the hash of its file's path. False: no such place. */
static bool name_of(
	const struct pl_index_cache *c, enum place place, const char *path, char *out, size_t room)
{
	char folder[PATH_MAX];
	XXH128_hash_t hash = XXH3_128bits(path, strlen(path));
	int n;

	if (place == BESIDE) {
		n = snprintf(out, room, "%s" PL_INDEX_SUFFIX, path);
		return n > 0 && (size_t)n < room;
	}
	folder_of(c, place, folder, sizeof(folder));
	n = snprintf(out, room, "%s/%016llx%016llx" PL_INDEX_SUFFIX, folder,
		(unsigned long long)hash.high64, (unsigned long long)hash.low64);
	return folder[0] && n > 0 && (size_t)n < room;
}

static bool read_all(int fd, void *to, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = read(fd, (char *)to + done, n - done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return true;
}

static bool is_trusted(const struct stat *index, const struct stat *file)
{
	if (!S_ISREG(index->st_mode) || (index->st_mode & (S_IWGRP | S_IWOTH)))
		return false;
	return index->st_uid == 0 || index->st_uid == geteuid() || index->st_uid == file->st_uid;
}

/* Why the index isn't one of this file; NULL when *body has it. */
static const char *read_index(
	const struct pl_index_cache *c, int fd, const struct stat *st, struct pl_packed *body)
{
	struct stat index;
	struct head h, wanted;

	if (fstat(fd, &index) || !is_trusted(&index, st))
		return "others could have written it";
	if (!read_all(fd, &h, sizeof(h)) || memcmp(h.magic, magic, sizeof(magic)))
		return "it is no index";
	if (h.body_bytes > BODY_MAX || h.body_bytes != (uint64_t)index.st_size - sizeof(h))
		return "it was cut";
	wanted = head_for(c, st, h.body_bytes);
	if (memcmp(&h, &wanted, offsetof(struct head, hash)) != 0)
		return ""; /* of the file as it was, or of another release: nothing to tell */
	body->data = malloc(h.body_bytes + 1);
	if (!body->data)
		return "out of memory";
	body->used = body->room = h.body_bytes;
	if (read_all(fd, body->data, h.body_bytes) &&
		h.hash == hash_of(&h, body->data, h.body_bytes))
		return NULL;
	pl_packed_finish(body);
	return "its checksum is wrong";
}

int pl_index_cache_load(const struct pl_index_cache *c, const char *path, const struct stat *st,
	struct pl_packed *body, struct pl_err *note)
{
	*body = (struct pl_packed){0};
	for (const enum place *p = places_of(c); *p != NOWHERE; p++) {
		char name[PATH_MAX + 16];
		char quoted[1024];
		const char *fault;
		PL_AUTO_CLOSE int fd = -1;

		if (!name_of(c, *p, path, name, sizeof(name)))
			continue;
		fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		fault = read_index(c, fd, st, body);
		if (!fault)
			return 1;
		if (*fault) {
			pl_err_set(note, 0, "the index %s was not used: %s",
				pl_err_quote(quoted, sizeof(quoted), name), fault);
		}
	}
	return 0;
}

static bool write_all(int fd, const void *from, size_t n)
{
	const char *at = from;

	while (n) {
		ssize_t r = write(fd, at, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		at += r;
		n -= (size_t)r;
	}
	return true;
}

static bool write_index(const char *name, const struct head *h, const struct pl_packed *body)
{
	char made[PATH_MAX + 32];
	int n = snprintf(made, sizeof(made), "%s.XXXXXX", name);
	PL_AUTO_CLOSE int fd = -1;

	if (n < 0 || (size_t)n >= sizeof(made))
		return false;
	fd = mkostemp(made, O_CLOEXEC);
	if (fd < 0)
		return false;
	if (write_all(fd, h, sizeof(*h)) && write_all(fd, body->data, body->used) &&
		fchmod(fd, 0644) == 0 && rename(made, name) == 0)
		return true;
	unlink(made);
	return false;
}

static bool may_change_unnoticed(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - st->st_mtim.tv_sec < 2;
}

bool pl_index_cache_save(const struct pl_index_cache *c, const char *path, const struct stat *st,
	const struct pl_packed *body)
{
	struct head h = head_for(c, st, body->used);

	if (may_change_unnoticed(st) || body->used > BODY_MAX)
		return false;
	h.hash = hash_of(&h, body->data, body->used);
	for (const enum place *p = places_of(c); *p != NOWHERE; p++) {
		char name[PATH_MAX + 16];
		char folder[PATH_MAX];

		folder_of(c, *p, folder, sizeof(folder));
		if (*p == USER_CACHE || *p == FOLDER)
			(void)mkdir(folder, 0700);
		if (name_of(c, *p, path, name, sizeof(name)) && write_index(name, &h, body))
			return true;
	}
	return false;
}
