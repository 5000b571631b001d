/* client/clock.c - deadlines, and waiting for a descriptor until one. */
#include "client/room.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

int64_t pl_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t pl_deadline_after(int timeout_ms)
{
	return timeout_ms < 0 ? -1 : pl_now_ms() + timeout_ms;
}

bool pl_deadline_is_over(int64_t deadline)
{
	return deadline >= 0 && pl_now_ms() >= deadline;
}

int64_t pl_deadline_min(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

int pl_wait(int fd, short events, int64_t deadline)
{
	struct pollfd one = {.fd = fd, .events = events};

	for (;;) {
		int64_t left = deadline < 0 ? -1 : deadline - pl_now_ms();
		int r;

		if (deadline >= 0 && left < 0)
			left = 0;
		r = poll(&one, 1, left > INT_MAX ? INT_MAX : (int)left);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0 && pl_deadline_is_over(deadline))
			return -ETIMEDOUT;
	}
}
