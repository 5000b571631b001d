/* daemon/sources/file_set.c - the files that a record source's path names, in order. */
#include "daemon/sources/file_set.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/sources/walk.h"

/* Digits of a number in a range: what fits an unsigned 64-bit number. */
#define DIGITS_MAX 18

struct finder {
	struct pl_file_set *set;
	const char *path; /* as the user wrote it */
	const char *dir;
	size_t most;
	char root[PATH_MAX]; /* of the glob in hand */
	struct pl_err *err;
};

/* {00..41}: where it lies in a text, and what it says. */
struct number_range {
	const char *begin;
	const char *end; /* behind the brace */
	uint64_t low;
	uint64_t high;
	int width;
};

static int fail(struct finder *f, int code, const char *where, const char *reason)
{
	char path[512];
	char place[1024];

	return pl_err_set(f->err, code, "path '%s': %s%s%s",
		pl_err_quote(path, sizeof(path), f->path),
		pl_err_quote(place, sizeof(place), where), *where ? ": " : "", reason);
}

static int add(struct finder *f, const char *path)
{
	struct pl_file_set *s = f->set;
	size_t n = strlen(path) + 1;

	if (s->n == PL_FILE_SET_MAX)
		return fail(f, -E2BIG, "", "more than 1000000 files");
	if (s->n == s->n_room) {
		size_t room = s->n_room ? s->n_room * 2 : 64;
		size_t *grown = reallocarray(s->at, room, sizeof(*grown));

		if (!grown)
			return pl_err_set(f->err, -ENOMEM, "out of memory");
		s->at = grown;
		s->n_room = room;
	}
	if (s->room - s->used < n) {
		size_t room = s->room * 2 > s->used + n ? s->room * 2 : s->used + n + 4096;
		char *grown = realloc(s->paths, room);

		if (!grown)
			return pl_err_set(f->err, -ENOMEM, "out of memory");
		s->paths = grown;
		s->room = room;
	}
	memcpy(s->paths + s->used, path, n);
	s->at[s->n++] = s->used;
	s->used += n;
	return s->n == f->most ? PL_WALK_STOP : 0;
}

static int add_match(void *context, const char *folder, const char *name)
{
	struct finder *f = context;
	char whole[PATH_MAX];
	int n = snprintf(
		whole, sizeof(whole), "%s/%s%s", strcmp(f->root, "/") ? f->root : "", folder, name);

	return n < PATH_MAX ? add(f, whole) : fail(f, -ENAMETOOLONG, "", strerror(ENAMETOOLONG));
}

static int nothing_matches(struct finder *f, const struct pl_walk *w)
{
	char path[512];
	char root[1024];

	return pl_err_set(f->err, -ENOENT,
		"path '%s': no such file in %s, where %llu folders and %llu files of other names "
		"were seen (hidden names are left out; check path)",
		pl_err_quote(path, sizeof(path), f->path),
		pl_err_quote(root, sizeof(root), f->root), (unsigned long long)w->n_folders,
		(unsigned long long)w->n_others);
}

/* All matches of a glob; `whole` is absolute, `pattern` its part with wildcards. */
static int add_glob(struct finder *f, char *whole, size_t n_root)
{
	PL_AUTO_CLOSE int root_fd = -1;
	PL_CLEANUP(pl_glob_finish) struct pl_glob glob = {0};
	struct pl_walk w = {.glob = &glob, .root = f->root, .file = add_match, .context = f};
	size_t before = f->set->n;
	char path[512];
	int r = pl_glob_init(&glob, whole + n_root, f->err);

	if (r) {
		pl_err_prefix(f->err, "path '%s': ", pl_err_quote(path, sizeof(path), f->path));
		return r;
	}
	whole[n_root] = '\0';
	if (!realpath(whole, f->root))
		return fail(f, -errno, whole, strerror(errno));
	root_fd = open(f->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return fail(f, -errno, f->root, strerror(errno));
	w.root_fd = root_fd;
	r = pl_walk_run(&w, f->err);
	return r == 0 && f->set->n == before ? nothing_matches(f, &w) : r;
}

static int add_pattern(struct finder *f, const char *text)
{
	char whole[PATH_MAX];
	size_t fixed = pl_glob_fixed(text);
	size_t n_dir = text[0] == '/' ? 0 : strlen(f->dir) + 1;
	struct stat st;
	int n = snprintf(
		whole, sizeof(whole), "%s%s%s", n_dir ? f->dir : "", n_dir ? "/" : "", text);

	if (n >= PATH_MAX)
		return fail(f, -ENAMETOOLONG, "", strerror(ENAMETOOLONG));
	if (stat(whole, &st))
		return text[fixed] ? add_glob(f, whole, n_dir + fixed)
				   : fail(f, -errno, whole, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fail(f, -EISDIR, whole,
			"it is a folder: say which of its files, as in FOLDER/*.jsonl");
	if (!S_ISREG(st.st_mode))
		return fail(f, -EINVAL, whole, "not a regular file");
	return add(f, whole);
}

/* Digits at p, and their number; 0 when there are none or too many. */
static size_t read_number(const char *p, uint64_t *value)
{
	size_t n = strspn(p, "0123456789");

	*value = 0;
	for (size_t i = 0; i < n && n <= DIGITS_MAX; i++)
		*value = *value * 10 + (uint64_t)(p[i] - '0');
	return n <= DIGITS_MAX ? n : 0;
}

static bool find_range(const char *text, struct number_range *out)
{
	for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
		size_t a = read_number(p + 1, &out->low);
		size_t b =
			a && !strncmp(p + 1 + a, "..", 2) ? read_number(p + 3 + a, &out->high) : 0;

		if (b == 0 || p[3 + a + b] != '}')
			continue;
		out->begin = p;
		out->end = p + 4 + a + b;
		out->width = (p[1] == '0' || p[3 + a] == '0') ? (int)(a > b ? a : b) : 0;
		return true;
	}
	return false;
}

/* Each number of the first range in turn, and so on with the rest. */
static int add_ranges(struct finder *f, const char *text)
{
	struct number_range range;
	int r = 0;

	if (!find_range(text, &range))
		return add_pattern(f, text);
	if (range.low > range.high)
		return fail(f, -EINVAL, range.begin, "the range runs backwards");
	if (range.high - range.low >= PL_FILE_SET_MAX)
		return fail(f, -E2BIG, range.begin, "more than 1000000 files");
	for (uint64_t i = range.low; i <= range.high && !r; i++) {
		PL_AUTO_FREE char *one = NULL;

		if (asprintf(&one, "%.*s%0*llu%s", (int)(range.begin - text), text, range.width,
			    (unsigned long long)i, range.end) < 0) {
			one = NULL;
			return pl_err_set(f->err, -ENOMEM, "out of memory");
		}
		r = add_ranges(f, one);
	}
	return r;
}

int pl_file_set_init(
	struct pl_file_set *s, const char *path, const char *dir, size_t most, struct pl_err *err)
{
	struct finder *f = malloc(sizeof(*f));
	int r;

	*s = (struct pl_file_set){0};
	if (!f)
		return pl_err_set(err, -ENOMEM, "out of memory");
	*f = (struct finder){.set = s, .path = path, .dir = dir, .most = most, .err = err};
	r = *path ? add_ranges(f, path) : fail(f, -EINVAL, "", "it is empty");
	free(f);
	return r == PL_WALK_STOP ? 0 : r;
}

void pl_file_set_finish(struct pl_file_set *s)
{
	free(s->paths);
	free(s->at);
	*s = (struct pl_file_set){0};
}

const char *pl_file_set_path(const struct pl_file_set *s, size_t i)
{
	return s->paths + s->at[i];
}
