/* daemon/serve/progress.c - one birth's shared page of counters. */
#include "daemon/serve/progress.h"

#include <sys/mman.h>
#include <time.h>

struct pl_progress *pl_progress_create(void)
{
	void *p = mmap(NULL, sizeof(struct pl_progress), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void pl_progress_destroy(struct pl_progress *p)
{
	if (p)
		munmap(p, sizeof(*p));
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t pl_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t pl_now_coarse_ns(void)
{
	return read_clock(CLOCK_MONOTONIC_COARSE);
}
