/* tests/unit/temp_tree.h - a folder of the test's own, gone when the test ends. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define TREE_HELPER __attribute__((unused)) static

static char tree_root[PATH_MAX];

TREE_HELPER void tree_begin(void)
{
	const char *base = getenv("TMPDIR");
	char made[PATH_MAX];

	snprintf(made, sizeof(made), "%s/pl_test_XXXXXX", base ? base : "/tmp");
	cr_assert_not_null(mkdtemp(made));
	cr_assert_eq(chmod(made, 0755), 0);
	cr_assert_not_null(realpath(made, tree_root));
}

TREE_HELPER int tree_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/* A folder without permissions would keep its contents. */
TREE_HELPER int tree_open(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type == FTW_DNR)
		chmod(path, 0700);
	return 0;
}

TREE_HELPER void tree_end(void)
{
	nftw(tree_root, tree_open, 16, FTW_PHYS);
	nftw(tree_root, tree_remove, 16, FTW_PHYS | FTW_DEPTH);
}

TREE_HELPER const char *tree_path(const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", tree_root, name);
	return path;
}

/* Makes the folders of the name, and the file with this text; a final slash: only the folders. */
TREE_HELPER void tree_add(const char *name, const char *text)
{
	char path[2 * PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tree_root, name);
	for (char *slash = path + strlen(tree_root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		cr_assert(!mkdir(path, 0755) || errno == EEXIST, "%s: %s", path, strerror(errno));
		*slash = '/';
	}
	if (path[strlen(path) - 1] == '/')
		return;
	f = fopen(path, "w");
	cr_assert(f, "%s: %s", path, strerror(errno));
	fputs(text, f);
	fclose(f);
}
