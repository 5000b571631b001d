/* proto/base.h - attributes, cleanup, and overflow-checked arithmetic that every room uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PL_MUST_CHECK                      __attribute__((warn_unused_result))
#define PL_PRINTF(f, a)                    __attribute__((format(printf, f, a)))
#define PL_CLEANUP(f)                      __attribute__((cleanup(f)))
#define PL_EXPORT                          __attribute__((visibility("default")))
#define PL_ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
#define PL_AUTO_FREE                       PL_CLEANUP(pl_freep)
#define PL_AUTO_CLOSE                      PL_CLEANUP(pl_closep)
#define PL_CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Takes the pointer out of a PL_AUTO_FREE variable: the caller owns it from here on. */
#define PL_STEAL(p)                                                                                \
	({                                                                                         \
		typeof(p) stolen_ = (p);                                                           \
		(p) = NULL;                                                                        \
		stolen_;                                                                           \
	})

static inline void pl_freep(void *p)
{
	free(*(void **)p);
}

static inline void pl_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Takes the descriptor out of a PL_AUTO_CLOSE variable. */
static inline int pl_steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

/* Both return false on overflow, and then leave *out alone. */
static inline bool pl_size_mul(size_t a, size_t b, size_t *out)
{
	size_t r;

	if (__builtin_mul_overflow(a, b, &r))
		return false;
	*out = r;
	return true;
}

static inline bool pl_size_add(size_t a, size_t b, size_t *out)
{
	size_t r;

	if (__builtin_add_overflow(a, b, &r))
		return false;
	*out = r;
	return true;
}

static inline uint64_t pl_align_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static inline uint64_t pl_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t pl_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}
