/* tests/unit/test_daemon_birth.c - an arena is mapped once and sealed. */
#include "daemon/birth.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct pl_plan_card card = {.memory = 100000, .n_workers = 3};

Test(daemon_birth, the_arena_is_sealed_and_still_writable_by_us)
{
	struct pl_birth b = {.name = "photos"}, other = {.name = "photos"};
	struct pl_err err = {0};
	struct stat st;

	cr_assert_eq(pl_birth_init(&b, &card, &err), 0, "%s", err.text);
	cr_expect_eq(b.arena_bytes, 102400, "whole pages");
	cr_expect_eq(fstat(b.arena_fd, &st), 0);
	cr_expect_eq(st.st_size, 102400);
	cr_expect_eq(fcntl(b.arena_fd, F_GET_SEALS),
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
	cr_expect(fcntl(b.arena_fd, F_GETFD) & FD_CLOEXEC);
	memset(b.arena, 1, b.arena_bytes);
	cr_expect_eq(
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, b.arena_fd, 0), MAP_FAILED);
	cr_expect_eq(errno, EPERM);
	cr_expect_eq(ftruncate(b.arena_fd, 4096), -1);
	cr_assert_eq(pl_birth_init(&other, &card, &err), 0);
	cr_expect_eq(strlen(b.endpoint), strlen("ipc://@pipeloader-") + 32);
	cr_expect_str_neq(b.endpoint, other.endpoint);
	cr_expect_eq(b.supervisor_pid, (uint32_t)getpid());
	cr_expect_eq(atomic_load(&b.progress->worker[2].record), PL_PROGRESS_IDLE);
	pl_birth_finish(&b);
	pl_birth_finish(&other);
	cr_expect_eq(b.arena_fd, -1);
	pl_birth_finish(&b);
	pl_birth_finish(NULL);
}

/* True when the mapping at `at` is marked "dc": not copied on fork. */
static bool is_hidden(const void *at)
{
	char line[512], begin[32];
	FILE *maps = fopen("/proc/self/smaps", "re");
	bool is_there = false, hidden = false;

	snprintf(begin, sizeof(begin), "%lx-", (unsigned long)(uintptr_t)at);
	while (fgets(line, sizeof(line), maps)) {
		if (strncmp(line, begin, strlen(begin)) == 0)
			is_there = true;
		if (is_there && strncmp(line, "VmFlags:", 8) == 0) {
			hidden = strstr(line, " dc") != NULL;
			break;
		}
	}
	fclose(maps);
	cr_expect(is_there);
	return hidden;
}

Test(daemon_birth, children_of_others_inherit_nothing)
{
	struct pl_birth b = {.name = "photos"};
	struct pl_err err = {0};

	cr_assert_eq(pl_birth_init(&b, &card, &err), 0);
	cr_expect(is_hidden(b.arena) && is_hidden(b.progress));
	cr_expect_eq(pl_birth_show(&b), 0);
	cr_expect_not(is_hidden(b.arena) || is_hidden(b.progress));
	pl_birth_hide(&b);
	cr_expect(is_hidden(b.arena) && is_hidden(b.progress));
	pl_birth_finish(&b);
}

Test(daemon_birth, too_much_memory_is_an_error_with_its_number)
{
	struct pl_plan_card vast = {.memory = (int64_t)1 << 62, .n_workers = 1};
	struct pl_birth b = {.name = "photos"};
	struct pl_err err = {0};

	cr_expect_lt(pl_birth_init(&b, &vast, &err), 0);
	cr_expect(strstr(err.text, "4611686018427387904"), "%s", err.text);
	pl_birth_finish(&b);
}
