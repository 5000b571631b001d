/* tests/unit/tar_maker.h - writes tar archives block by block into the test's own folder. */
#pragma once

#include "tests/unit/temp_tree.h"

#include <dirent.h>

struct tar_maker {
	FILE *file;
};

TREE_HELPER struct tar_maker tar_begin(const char *name)
{
	struct tar_maker t = {fopen(tree_path(name), "we")};

	cr_assert_not_null(t.file);
	return t;
}

TREE_HELPER void tar_bytes(struct tar_maker *t, const void *bytes, size_t n)
{
	cr_assert_eq(fwrite(bytes, 1, n, t->file), n);
}

TREE_HELPER void tar_blocks(struct tar_maker *t, int n)
{
	static const char zeros[512];

	while (n--)
		tar_bytes(t, zeros, sizeof(zeros));
}

/* A header that says n bytes, and the bytes with their padding unless `data` is NULL. */
TREE_HELPER void tar_member(struct tar_maker *t, char type, const char *name, const char *link,
	const char *data, size_t n)
{
	char block[512] = {0};
	unsigned sum = 0;

	snprintf(block, 100, "%s", name);
	snprintf(block + 100, 8, "%07o", 0644);
	snprintf(block + 124, 12, "%011zo", n & 077777777777);
	snprintf(block + 136, 12, "%011o", 0);
	memset(block + 148, ' ', 8);
	block[156] = type;
	snprintf(block + 157, 100, "%s", link);
	memcpy(block + 257,
		"ustar\0"
		"00",
		8);
	for (size_t i = 0; i < sizeof(block); i++)
		sum += (unsigned char)block[i];
	snprintf(block + 148, 8, "%06o", sum);
	tar_bytes(t, block, sizeof(block));
	if (!data)
		return;
	tar_bytes(t, data, n);
	memset(block, 0, sizeof(block));
	tar_bytes(t, block, (512 - n % 512) % 512);
}

TREE_HELPER void tar_file(struct tar_maker *t, const char *name, const char *text)
{
	tar_member(t, '0', name, "", text, strlen(text));
}

/* n bytes of zeros that take no room on the disk. */
TREE_HELPER void tar_sparse_gap(struct tar_maker *t, long n)
{
	cr_assert_eq(fseek(t->file, n, SEEK_CUR), 0);
}

TREE_HELPER void tar_end(struct tar_maker *t, int n_blocks)
{
	tar_blocks(t, n_blocks);
	cr_assert_eq(fclose(t->file), 0);
}

TREE_HELPER void tree_write(const char *name, const void *bytes, size_t n)
{
	struct tar_maker t = tar_begin(name);

	tar_bytes(&t, bytes, n);
	tar_end(&t, 0);
}

/* Name of the one file in a folder, below the root; NULL when there is none. Static. */
TREE_HELPER char *tree_only_file(const char *folder)
{
	static char found[PATH_MAX];
	DIR *dir = opendir(tree_path(folder));
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			snprintf(found, sizeof(found), "%s/%s", folder, entry->d_name);
			n++;
		}
	if (dir)
		closedir(dir);
	cr_assert_leq(n, 1);
	return n ? found : NULL;
}

/* Changes bits of one byte; a negative offset counts from the end. */
TREE_HELPER void tree_flip(const char *name, long offset, int bits)
{
	FILE *f = fopen(tree_path(name), "r+e");
	int c;

	cr_assert_not_null(f);
	cr_assert_eq(fseek(f, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
	c = fgetc(f);
	cr_assert_eq(fseek(f, -1, SEEK_CUR), 0);
	fputc(c ^ bits, f);
	fclose(f);
}
