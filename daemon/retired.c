/* daemon/retired.c - arenas of births that are over, for as long as clients may still map them. */
#include "daemon/retired.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#define START_FIELD 20 /* of /proc/PID/stat, counted after the name's closing bracket */

/* 0: not to be known. */
static uint64_t start_of(uint32_t pid)
{
	char path[48], text[1024], *at;
	PL_AUTO_CLOSE int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (int i = 0; at && i < START_FIELD; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool is_alive(uint32_t pid, uint64_t start)
{
	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return false;
	return start == 0 || start_of(pid) == start;
}

void pl_guests_add(struct pl_guests *g, uint32_t pid)
{
	uint64_t start = pid ? start_of(pid) : 0;

	for (int i = 0; i < g->n; i++)
		if (g->guest[i].pid == pid && g->guest[i].start == start)
			return;
	for (int i = 0; pid && i < g->n; i++) {
		if (is_alive(g->guest[i].pid, g->guest[i].start))
			continue;
		g->guest[i].pid = pid;
		g->guest[i].start = start;
		return;
	}
	if (pid == 0 || g->n == PL_GUESTS_MAX) {
		g->has_more = true;
		return;
	}
	g->guest[g->n].pid = pid;
	g->guest[g->n++].start = start;
}

static bool is_mapped(const struct pl_guests *g)
{
	for (int i = 0; i < g->n; i++)
		if (is_alive(g->guest[i].pid, g->guest[i].start))
			return true;
	return g->has_more;
}

static void forget(struct pl_retired *r, int i)
{
	r->n--;
	memmove(&r->arena[i], &r->arena[i + 1], (size_t)(r->n - i) * sizeof(r->arena[0]));
}

void pl_retired_add(struct pl_retired *r, uint64_t bytes, const struct pl_guests *guests)
{
	for (int i = r->n - 1; i >= 0; i--)
		if (!is_mapped(&r->arena[i].guests))
			forget(r, i);
	if (!is_mapped(guests))
		return;
	if (r->n == PL_RETIRED_MAX)
		forget(r, 0);
	r->arena[r->n].bytes = bytes;
	r->arena[r->n++].guests = *guests;
}

int pl_retired_count(const struct pl_retired *r, uint64_t *bytes)
{
	int n = 0;

	*bytes = 0;
	for (int i = 0; i < r->n; i++) {
		if (!is_mapped(&r->arena[i].guests))
			continue;
		*bytes += r->arena[i].bytes;
		n++;
	}
	return n;
}
