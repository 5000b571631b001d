/* daemon/sources/list_files.h - lists many files side by side, and joins what they gave in order.
 */
#pragma once

#include "daemon/sources/file_set.h"

/*
 * What is done with one file. A shard is what a file gave until it is added: `shard_bytes` of
 * memory, zeroed before `list` and after `finish`.
 */
struct pl_list_files {
	const struct pl_file_set *set;
	void *context;
	size_t shard_bytes;

	/* Lists a file into its shard; from any thread, several at a time. What goes wrong is kept
	 * in the shard. */
	void (*list)(void *context, const char *path, void *shard);

	/* Adds the shard to what `context` collects; from the caller's thread, in the files' order.
	 * 0 or -errno with err: then no more files are listed. */
	int (*add)(void *context, const char *path, void *shard, struct pl_err *err);
	void (*finish)(void *shard);
};

/*
 * Uses as many threads as the process has processors, at most 16, and has ended them all when it
 * returns. What is collected is the same however many they were, and only a few shards a thread
 * wait in memory. 0, -ENOMEM with err, or what add returned.
 */
int pl_list_files_run(const struct pl_list_files *l, struct pl_err *err) PL_MUST_CHECK;
