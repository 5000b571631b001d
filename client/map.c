/* client/map.c - an arena mapped to read, unmapped with its last holder. */
#include "client/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* A memfd that can shrink, or that is shorter than announced, would be a SIGBUS in the trainer. */
static const char *what_is_wrong(int fd, uint64_t bytes)
{
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0)
		return "it is no memfd";
	if (!(seals & F_SEAL_SHRINK))
		return "it is not sealed against shrinking";
	if (fstat(fd, &status) < 0 || status.st_size < 0)
		return "it has no size";
	if (bytes == 0 || bytes > (uint64_t)status.st_size || bytes > SIZE_MAX)
		return "it is smaller than announced";
	return NULL;
}

struct pl_arena *pl_arena_open(int taken_fd, uint64_t bytes, struct pl_error *error)
{
	PL_AUTO_CLOSE int fd = taken_fd;
	PL_AUTO_FREE struct pl_arena *arena = malloc(sizeof(*arena));
	const char *wrong = what_is_wrong(fd, bytes);
	void *base;

	if (wrong || !arena) {
		pl_error_set(error, wrong ? -EPROTO : -ENOMEM, PL_EXIT_FAILED,
			"the daemon's arena of %llu bytes can't be used: %s",
			(unsigned long long)bytes, wrong ? wrong : "no memory");
		return NULL;
	}
	base = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		pl_error_set(error, -errno, PL_EXIT_FAILED,
			"the daemon's arena of %llu bytes can't be mapped: %s",
			(unsigned long long)bytes, strerror(errno));
		return NULL;
	}
	atomic_init(&arena->n_refs, 1);
	arena->base = base;
	arena->bytes = (size_t)bytes;
	return PL_STEAL(arena);
}

struct pl_arena *pl_arena_acquire(struct pl_arena *arena)
{
	atomic_fetch_add_explicit(&arena->n_refs, 1, memory_order_relaxed);
	return arena;
}

void pl_arena_release(struct pl_arena *arena)
{
	if (!arena || atomic_fetch_sub_explicit(&arena->n_refs, 1, memory_order_acq_rel) != 1)
		return;
	munmap((void *)(uintptr_t)arena->base, arena->bytes);
	free(arena);
}

const void *pl_arena_at(const struct pl_arena *arena, uint64_t offset, uint64_t n, size_t align)
{
	if (offset > arena->bytes || n > arena->bytes - offset || offset % align)
		return NULL;
	return arena->base + offset;
}
