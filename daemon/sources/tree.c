/* daemon/sources/tree.c - lists the files of a folder or glob, with their classes. */
#include "daemon/sources/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/kit/registry.h"
#include "daemon/sources/classes.h"
#include "daemon/sources/file_listing.h"
#include "daemon/sources/walk.h"

struct lister {
	const struct pl_tree *tree;
	struct pl_listing_writer *writer;
	struct pl_err *err;
	struct pl_glob glob;
	struct pl_classes classes;
	char root[PATH_MAX];
	bool is_numbered;
	char top[NAME_MAX + 1]; /* the top folder of the last file, and its label */
	int64_t label;
	uint64_t n_outside; /* files in no class folder */
};

static void lister_finish(struct lister *l)
{
	pl_glob_finish(&l->glob);
	pl_classes_finish(&l->classes);
}

static int fail_memory(struct lister *l)
{
	return pl_err_set(l->err, -ENOMEM, "out of memory for the listing");
}

/* Joins dir and path; a path that is absolute stays as it is. False when it is too long. */
static bool resolve(char out[PATH_MAX], const char *dir, const char *path)
{
	int n = path[0] == '/' ? snprintf(out, PATH_MAX, "%s", path)
			       : snprintf(out, PATH_MAX, "%s/%s", dir, path);

	return n >= 0 && n < PATH_MAX;
}

/* Error with what the user wrote, which need not be valid text. */
static int fail_path(struct lister *l, int code, const char *where, const char *reason)
{
	char path[512];
	char place[1024];

	return pl_err_set(l->err, code, "path '%s': %s%s%s",
		pl_err_quote(path, sizeof(path), l->tree->path),
		pl_err_quote(place, sizeof(place), where), *where ? ": " : "", reason);
}

/*
 * Cuts `path` into the root, in `whole`, and the pattern below it, which points into `path`. A name
 * that exists as a folder is that folder, whatever signs are in it.
 */
static int split(struct lister *l, char whole[PATH_MAX], const char **pattern)
{
	const char *path = l->tree->path;
	size_t fixed = pl_glob_fixed(path);
	bool has_wildcard = path[fixed] != '\0';
	struct stat st;

	if (!resolve(whole, l->tree->dir, path))
		return fail_path(l, -ENAMETOOLONG, "", strerror(ENAMETOOLONG));
	*pattern = "**";
	if (!stat(whole, &st)) {
		if (S_ISDIR(st.st_mode))
			return 0;
		if (!has_wildcard && !S_ISREG(st.st_mode))
			return fail_path(l, -EINVAL, whole, "neither a folder nor a regular file");
	} else if (!has_wildcard) {
		return fail_path(l, -errno, whole, strerror(errno));
	}
	while (fixed > 0 && path[fixed - 1] != '/')
		fixed--;
	whole[strlen(whole) - strlen(path) + fixed] = '\0';
	*pattern = path + fixed;
	return 0;
}

static int find_root(struct lister *l, int *root_fd, const char **pattern)
{
	char whole[PATH_MAX];
	int r = split(l, whole, pattern);

	if (r)
		return r;
	if (!realpath(whole, l->root))
		return fail_path(l, -errno, whole, strerror(errno));
	*root_fd = open(l->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*root_fd < 0)
		return fail_path(l, -errno, l->root, strerror(errno));
	return 0;
}

static int read_classes(struct lister *l)
{
	char path[PATH_MAX];

	l->is_numbered = true;
	if (!resolve(path, l->tree->dir, l->tree->classes_file))
		return pl_err_set(l->err, -ENAMETOOLONG, "classes: the path is too long");
	return pl_classes_read(&l->classes, path, l->err);
}

static int number_classes(struct lister *l)
{
	const char *twice;

	if (l->is_numbered)
		return 0;
	l->is_numbered = true;
	pl_classes_number_by_name(&l->classes);
	return pl_classes_sort(&l->classes, &twice) ? fail_memory(l) : 0;
}

static int add_top_folder(void *context, const char *name)
{
	struct lister *l = context;

	return pl_classes_add(&l->classes, name) ? fail_memory(l) : 0;
}

static int fail_class(struct lister *l)
{
	char name[512];
	char root[1024];
	const char *near =
		pl_nearest_of(l->top, l->classes.n, (const char *const *)l->classes.name);

	return pl_err_set(l->err, -EINVAL, "folder '%s' in %s is no class of %s%s%s%s",
		pl_err_quote(name, sizeof(name), l->top), pl_err_quote(root, sizeof(root), l->root),
		l->tree->classes_file, near ? " (did you mean '" : "", near ? near : "",
		near ? "'?)" : "");
}

/* Sets l->label for a file in `folder`, which isn't the root. */
static int find_label(struct lister *l, const char *folder)
{
	size_t n = strcspn(folder, "/");
	int r = number_classes(l);

	if (r || (!strncmp(l->top, folder, n) && l->top[n] == '\0'))
		return r;
	memcpy(l->top, folder, n);
	l->top[n] = '\0';
	l->label = pl_classes_find(&l->classes, l->top);
	return l->label < 0 ? fail_class(l) : 0;
}

static int add_file(void *context, const char *folder, const char *name)
{
	struct lister *l = context;
	int r = 0;

	if (l->tree->has_labels && !*folder) {
		l->n_outside++;
		return 0;
	}
	if (l->tree->has_labels)
		r = find_label(l, folder);
	if (r)
		return r;
	if (pl_file_listing_add(l->writer, folder, l->tree->has_labels ? l->label : -1, name))
		return fail_memory(l);
	return l->tree->only_first ? PL_WALK_STOP : 0;
}

static int write_classes(struct lister *l)
{
	int r = number_classes(l);

	for (uint32_t i = 0; i < l->classes.n && !r; i++) {
		const char *name = l->classes.name[i];

		if (pl_listing_append(l->writer, 0, name, strlen(name) + 1))
			r = fail_memory(l);
	}
	l->writer->n_classes = l->classes.n;
	return r;
}

/* What was left out, as "2 broken links, 1 FIFO ..."; empty when nothing was. */
static void list_left_out(const struct lister *l, const struct pl_walk *w, char *out, size_t n)
{
	const struct {
		uint64_t n;
		const char *what;
	} all[] = {
		{w->n_special, "FIFO, socket or device"},
		{w->n_broken, "broken link"},
		{w->n_link_folders, "link to a folder (** doesn't follow; */ does)"},
		{l->n_outside, "file in no class folder"},
	};
	size_t at = 0;

	*out = '\0';
	for (size_t i = 0; i < PL_ARRAY_LEN(all) && at < n; i++)
		if (all[i].n)
			at += (size_t)snprintf(out + at, n - at, "%s%llu x %s", at ? ", " : "",
				(unsigned long long)all[i].n, all[i].what);
}

static int judge(struct lister *l, const struct pl_walk *w)
{
	char left_out[256];
	char path[512];
	char root[1024];

	list_left_out(l, w, left_out, sizeof(left_out));
	pl_err_quote(path, sizeof(path), l->tree->path);
	pl_err_quote(root, sizeof(root), l->root);
	if (l->writer->n_records == 0 && l->n_outside)
		return pl_err_set(l->err, -ENOENT,
			"path '%s': label: folder needs a folder for each class in %s, and all "
			"%llu files "
			"lie directly in it (end path in */*.jpg, or leave label out)",
			path, root, (unsigned long long)l->n_outside);
	if (l->writer->n_records == 0)
		return pl_err_set(l->err, -ENOENT,
			"path '%s': no such file in %s, where %llu folders and %llu files of other "
			"names "
			"were seen%s%s (hidden names are left out; check path)",
			path, root, (unsigned long long)w->n_folders,
			(unsigned long long)w->n_others, *left_out ? ", left out: " : "", left_out);
	return *left_out ? pl_err_set(l->err, 0, "path '%s': left out: %s", path, left_out) : 0;
}

static int list_tree(struct lister *l)
{
	PL_AUTO_CLOSE int root_fd = -1;
	const char *pattern;
	struct pl_walk w = {.glob = &l->glob, .root = l->root, .file = add_file, .context = l};
	char path[512];
	int r = find_root(l, &root_fd, &pattern);

	if (!r && (r = pl_glob_init(&l->glob, pattern, l->err)))
		pl_err_prefix(
			l->err, "path '%s': ", pl_err_quote(path, sizeof(path), l->tree->path));
	if (!r && l->tree->classes_file)
		r = read_classes(l);
	if (!r && pl_file_listing_begin(l->writer, l->root))
		r = fail_memory(l);
	if (r)
		return r;
	w.root_fd = root_fd;
	if (l->tree->has_labels && !l->tree->classes_file)
		w.top_folder = add_top_folder;
	r = pl_walk_run(&w, l->err);
	if (r < 0)
		return r;
	r = l->tree->has_labels ? write_classes(l) : 0;
	return r ? r : judge(l, &w);
}

int pl_tree_list(const struct pl_tree *t, struct pl_listing_writer *w, struct pl_err *err)
{
	struct lister *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return pl_err_set(err, -ENOMEM, "out of memory for the listing");
	l->tree = t;
	l->writer = w;
	l->err = err;
	if (err)
		*err = (struct pl_err){0};
	r = list_tree(l);
	lister_finish(l);
	free(l);
	return r;
}
