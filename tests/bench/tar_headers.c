/* tests/bench/tar_headers.c - what listing a tar archive costs, beside the least that any reader of
 * its headers must do. */
/*
 * usage: tar_headers make FILE MEMBERS BYTES     a sparse archive: headers, and holes for the data
 *        tar_headers headers FILE [TIMES]        one pread a header, its size, on to the next
 *        tar_headers list FILE INDEX [TIMES]     the source's list; INDEX: none, auto or a folder
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "daemon/kit/listing.h"
#include "daemon/sources/table.h"
#include "daemon/sources/tar_header.h"

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return 1;
}

static void fill_header(char block[512], long i, long bytes)
{
	static const char *const suffixes[] = {"jpg", "txt", "cls", "json"};
	unsigned sum = 0;

	memset(block, 0, 512);
	snprintf(block, 100, "data/%08ld.%s", i / 4, suffixes[i % 4]);
	snprintf(block + 100, 8, "%07o", 0644);
	snprintf(block + 124, 12, "%011lo", bytes);
	snprintf(block + 136, 12, "%011o", 0);
	memset(block + 148, ' ', 8);
	block[156] = '0';
	memcpy(block + 257,
		"ustar\0"
		"00",
		8);
	for (int k = 0; k < 512; k++)
		sum += (unsigned char)block[k];
	snprintf(block + 148, 8, "%06o", sum);
}

static int make(const char *path, long members, long bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char block[512];
	off_t at = 0;

	for (long i = 0; fd >= 0 && i < members; i++) {
		fill_header(block, i, bytes);
		if (pwrite(fd, block, sizeof(block), at) != (ssize_t)sizeof(block))
			return fail(path);
		at += 512 + (off_t)pl_align_up((uint64_t)bytes, 512);
	}
	if (fd < 0 || ftruncate(fd, at + 1024) || close(fd))
		return fail(path);
	printf("%ld members, %lld bytes\n", members, (long long)at + 1024);
	return 0;
}

static long walk(int fd)
{
	uint8_t block[PL_TAR_BLOCK];
	uint64_t bytes;
	off_t at = 0;
	long n = 0;

	while (pread(fd, block, sizeof(block), at) == (ssize_t)sizeof(block) && block[0] &&
		pl_tar_number(block + 124, 12, &bytes)) {
		at += PL_TAR_BLOCK + (off_t)pl_align_up(bytes, PL_TAR_BLOCK);
		n++;
	}
	return n;
}

static int headers(const char *path, long times)
{
	double best = 1e30;
	long n = 0;

	for (long i = 0; i < times; i++) {
		double began = now_ms();
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		n = fd < 0 ? 0 : walk(fd);
		if (fd < 0 || close(fd))
			return fail(path);
		best = now_ms() - began < best ? now_ms() - began : best;
	}
	printf("headers: %ld members, best of %ld: %.1f ms\n", n, times, best);
	return 0;
}

static void *param(char *params, const char *key)
{
	const struct pl_param *p = pl_source_tar.params;

	while (strcmp(p->key, key) != 0)
		p++;
	return params + p->offset;
}

static int list(const char *path, const char *index, long times)
{
	struct pl_param_text_map fields = {2, {{"jpg", "bytes"}, {"txt", "text"}}};
	struct pl_param_texts require = {1, {"all"}};
	PL_AUTO_FREE char *params = calloc(1, pl_source_tar.params_size);
	double best = 1e30;
	struct pl_err err = {0};
	uint64_t n = 0, bytes = 0, keys = 0;

	if (!params)
		return fail("memory");
	memcpy(param(params, "path"), &path, sizeof(path));
	memcpy(param(params, "index"), &index, sizeof(index));
	memcpy(param(params, "fields"), &fields, sizeof(fields));
	memcpy(param(params, "require"), &require, sizeof(require));
	for (long i = 0; i < times; i++) {
		struct pl_listing_writer w;
		double began = now_ms();

		pl_listing_writer_init(&w);
		if (pl_source_tar.list(params, ".", &w, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
		best = now_ms() - began < best ? now_ms() - began : best;
		n = w.n_records;
		bytes = w.section[3].used + w.section[4].used;
		keys = n * (sizeof("data/00000000") - 1);
		pl_listing_writer_finish(&w);
	}
	printf("list (index %s): %llu samples, %.1f bytes a sample beside its key, best of %ld: "
	       "%.1f "
	       "ms\n",
		index, (unsigned long long)n, (double)(bytes - keys) / (double)n, times, best);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "make"))
		return make(argv[2], strtol(argv[3], NULL, 10), strtol(argv[4], NULL, 10));
	if (argc >= 3 && !strcmp(argv[1], "headers"))
		return headers(argv[2], argc > 3 ? strtol(argv[3], NULL, 10) : 5);
	if (argc >= 4 && !strcmp(argv[1], "list"))
		return list(argv[2], argv[3], argc > 4 ? strtol(argv[4], NULL, 10) : 5);
	fprintf(stderr, "usage: tar_headers make FILE MEMBERS BYTES | headers FILE [TIMES] | list "
			"FILE INDEX [TIMES]\n");
	return 64;
}
