/* daemon/sources/walk.c - visits the matching files of a tree in the byte order of paths. */
/*
 * A folder's entries are sorted with '/' behind the folders' names: then going down in that order
 * gives the byte order of whole paths ("a.txt" before "a/x", for '.' is below '/').
 */
#include "daemon/sources/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#define DEPTH_MAX 256

/* LINKED: a link to a folder. */
enum entry_kind { ENTRY_NONE, ENTRY_FILE, ENTRY_FOLDER, ENTRY_LINKED };

struct entry {
	uint64_t key; /* first bytes behind what all names share, so that most comparisons end here
		       */
	uint32_t offset; /* of the name */
	uint32_t kind;
};

struct folder {
	struct entry *entry;
	size_t n;
	size_t room;
	char *names; /* each with its NUL, folders with '/' before it */
	size_t used;
	size_t names_room;
	size_t n_shared; /* leading bytes that all names have in common */
	uint64_t places;
};

/* The path of the folder in hand, relative to the root, with its final slash. */
struct way {
	char path[PATH_MAX];
	size_t n;
	int depth;
};

static void folder_finish(struct folder *f)
{
	free(f->entry);
	free(f->names);
}

/* Kept out of line: its buffers would otherwise lie in every frame of the way down. */
static int __attribute__((noinline, cold))
fail(const struct pl_walk *w, struct pl_err *err, int code, const char *path, const char *name)
{
	char text[1024];
	char whole[2 * PATH_MAX];

	snprintf(whole, sizeof(whole), "%s/%s%s", w->root, path, name);
	return pl_err_set(
		err, code, "%s: %s", pl_err_quote(text, sizeof(text), whole), strerror(-code));
}

static void share(struct folder *f, const char *name, size_t n)
{
	size_t i = 0;

	if (f->n == 0) {
		f->n_shared = n;
		return;
	}
	while (i < f->n_shared && f->names[i] == name[i])
		i++;
	f->n_shared = i;
}

static int folder_add(struct folder *f, const char *name, enum entry_kind kind)
{
	size_t n = strlen(name);
	size_t need = n + 2;

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	if (f->n == f->room) {
		size_t room = f->room ? f->room * 2 : 64;
		struct entry *grown = reallocarray(f->entry, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		f->entry = grown;
		f->room = room;
	}
	if (f->names_room - f->used < need) {
		size_t room = f->names_room ? f->names_room * 2 : 4096;
		char *grown = room > UINT32_MAX ? NULL : realloc(f->names, room);

		if (!grown)
			return -ENOMEM;
		f->names = grown;
		f->names_room = room;
	}
	share(f, name, n);
	f->entry[f->n++] = (struct entry){.offset = (uint32_t)f->used, .kind = kind};
	memcpy(f->names + f->used, name, n);
	f->used += n;
	if (kind != ENTRY_FILE)
		f->names[f->used++] = '/';
	f->names[f->used++] = '\0';
	return 0;
}

static int compare_entries(const void *a, const void *b, void *names)
{
	const struct entry *x = a;
	const struct entry *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return strcmp((const char *)names + x->offset, (const char *)names + y->offset);
}

static void folder_sort(struct folder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const char *name = f->names + f->entry[i].offset + f->n_shared;
		uint64_t key = 0;

		for (int k = 0; k < 8; k++) {
			key = key << 8 | (unsigned char)*name;
			name += *name != '\0';
		}
		f->entry[i].key = key;
	}
	if (f->n)
		qsort_r(f->entry, f->n, sizeof(*f->entry), compare_entries, f->names);
}

static unsigned char type_of_mode(mode_t mode)
{
	return S_ISREG(mode)    ? DT_REG
	       : S_ISDIR(mode)  ? DT_DIR
	       : S_ISLNK(mode)  ? DT_LNK
	       : S_ISFIFO(mode) ? DT_FIFO
				: DT_CHR;
}

/* What a link leads to: DT_UNKNOWN for nothing. 0 or -errno. */
static int follow(int fd, const char *name, unsigned char *type)
{
	struct stat st;

	*type = DT_UNKNOWN;
	if (!fstatat(fd, name, &st, 0)) {
		*type = type_of_mode(st.st_mode);
		return 0;
	}
	return errno == ENOENT || errno == ELOOP || errno == ENOTDIR ? 0 : -errno;
}

static enum entry_kind judge(
	struct pl_walk *w, uint64_t places, const char *name, unsigned char type, bool is_link)
{
	uint64_t end = pl_glob_end(w->glob);
	uint64_t next = pl_glob_step(w->glob, places, name, false);

	if (type == DT_DIR && is_link && (next & (end - 1))) {
		if (pl_glob_step(w->glob, places, name, true) & (end - 1))
			return ENTRY_LINKED;
		w->n_link_folders++;
		return ENTRY_NONE;
	}
	if (type == DT_DIR)
		return next & (end - 1) ? ENTRY_FOLDER : ENTRY_NONE;
	if (!(next & end)) {
		w->n_others++;
		return ENTRY_NONE;
	}
	if (type == DT_REG)
		return ENTRY_FILE;
	if (type == DT_UNKNOWN)
		w->n_broken++;
	else
		w->n_special++;
	return ENTRY_NONE;
}

/* 0 or -errno; an entry that vanished since it was read counts as not there. */
static int look_at(struct pl_walk *w, int fd, struct folder *f, const struct dirent *d)
{
	unsigned char type = d->d_type;
	enum entry_kind kind;
	struct stat st;
	bool is_link;
	int r = 0;

	if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
		return 0;
	if (type == DT_UNKNOWN) {
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
			return errno == ENOENT ? 0 : -errno;
		type = type_of_mode(st.st_mode);
	}
	is_link = type == DT_LNK;
	if (is_link) {
		/* A name that no part matches isn't worth a look at what is behind it. */
		if (!pl_glob_step(w->glob, f->places, d->d_name, false))
			return 0;
		r = follow(fd, d->d_name, &type);
	}
	if (r)
		return r;
	kind = judge(w, f->places, d->d_name, type, is_link);
	return kind == ENTRY_NONE ? 0 : folder_add(f, d->d_name, kind);
}

static int folder_read(
	struct pl_walk *w, const struct way *way, struct folder *f, struct pl_err *err)
{
	const struct dirent *d;
	DIR *dir;
	int r = 0;
	int fd = openat(w->root_fd, way->n ? way->path : ".",
		O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return fail(w, err, -errno, way->path, "");
	dir = fdopendir(fd);
	if (!dir) {
		r = -errno;
		close(fd);
		return fail(w, err, r, way->path, "");
	}
	w->n_folders++;
	for (errno = 0; !r && (d = readdir(dir)); errno = 0) {
		r = look_at(w, fd, f, d);
		if (r)
			fail(w, err, r, way->path, d->d_name);
	}
	if (!r && errno)
		r = fail(w, err, -errno, way->path, "");
	closedir(dir);
	if (!r)
		folder_sort(f);
	return r;
}

static int walk_folder(struct pl_walk *w, struct way *way, uint64_t places, struct pl_err *err);

static int tell_top_folders(struct pl_walk *w, const struct folder *f)
{
	char name[NAME_MAX + 1];
	int r = 0;

	for (size_t i = 0; i < f->n && !r; i++) {
		const char *at = f->names + f->entry[i].offset;
		size_t n = strlen(at) - 1;

		if (f->entry[i].kind == ENTRY_FILE)
			continue;
		memcpy(name, at, n);
		name[n] = '\0';
		r = w->top_folder(w->context, name);
	}
	return r;
}

static int enter(struct pl_walk *w, struct way *way, const struct folder *f, const struct entry *e,
	struct pl_err *err)
{
	const char *name = f->names + e->offset; /* ends in '/' */
	size_t n = strlen(name);
	size_t before = way->n;
	uint64_t places;
	int r;

	if (way->depth == DEPTH_MAX || way->n + n >= sizeof(way->path))
		return fail(w, err, -ENAMETOOLONG, way->path, name);
	memcpy(way->path + way->n, name, n);
	way->path[way->n + n - 1] = '\0';
	places = pl_glob_step(w->glob, f->places, way->path + way->n, e->kind == ENTRY_LINKED);
	memcpy(way->path + way->n, name, n + 1);
	way->n += n;
	way->depth++;
	r = walk_folder(w, way, places, err);
	way->depth--;
	way->n = before;
	way->path[before] = '\0';
	return r;
}

static int walk_folder(struct pl_walk *w, struct way *way, uint64_t places, struct pl_err *err)
{
	PL_CLEANUP(folder_finish) struct folder f = {.places = places};
	int r = folder_read(w, way, &f, err);

	if (!r && way->depth == 0 && w->top_folder)
		r = tell_top_folders(w, &f);
	for (size_t i = 0; i < f.n && !r; i++) {
		const char *name = f.names + f.entry[i].offset;

		if (f.entry[i].kind != ENTRY_FILE)
			r = enter(w, way, &f, &f.entry[i], err);
		else if (way->n + strlen(name) >= sizeof(way->path))
			r = fail(w, err, -ENAMETOOLONG, way->path, name);
		else
			r = w->file(w->context, way->path, name);
	}
	return r;
}

int pl_walk_run(struct pl_walk *w, struct pl_err *err)
{
	struct way way = {.n = 0};

	return walk_folder(w, &way, pl_glob_start(w->glob), err);
}
