/* daemon/birth.c - what the dispatcher and the workers of one birth share: arena, progress page,
 * endpoint. */
#include "daemon/birth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>

#define ARENA_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

/* Nobody who can't guess 128 bits can meet the dispatcher's socket before our workers do. */
static int endpoint_make(struct pl_birth *b)
{
	uint8_t bits[16];
	int at;

	if (getrandom(bits, sizeof(bits), 0) != sizeof(bits))
		return -errno;
	at = snprintf(b->endpoint, sizeof(b->endpoint), "ipc://@pipeloader-");
	for (size_t i = 0; i < sizeof(bits); i++)
		at += snprintf(b->endpoint + at, sizeof(b->endpoint) - (size_t)at, "%02x", bits[i]);
	return 0;
}

/* A file's name in /proc/PID/maps: says whose memory it is. */
static int arena_open(const struct pl_birth *b)
{
	char name[PL_NAME_MAX + 32];

	snprintf(name, sizeof(name), "pipeloader-arena:%s", b->name);
	return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static int arena_make(struct pl_birth *b)
{
	b->arena_fd = arena_open(b);
	if (b->arena_fd < 0)
		return -errno;
	if (ftruncate(b->arena_fd, (off_t)b->arena_bytes) < 0)
		return -errno;
	b->arena = mmap(NULL, b->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		b->arena_fd, 0);
	if (b->arena == MAP_FAILED) {
		b->arena = NULL;
		return -errno;
	}
	if (fcntl(b->arena_fd, F_ADD_SEALS, ARENA_SEALS) < 0)
		return -errno;
	return 0;
}

int pl_birth_init(struct pl_birth *b, const struct pl_plan_card *card, struct pl_err *err)
{
	long page = sysconf(_SC_PAGESIZE);
	int r;

	b->arena = NULL;
	b->arena_fd = -1;
	b->arena_bytes = pl_align_up((uint64_t)card->memory, (uint64_t)page);
	b->n_workers = (uint32_t)card->n_workers;
	b->supervisor_pid = (uint32_t)getpid();
	b->progress = pl_progress_create();
	if (!b->progress)
		return pl_err_set(err, -ENOMEM, "out of memory for the progress page");
	r = arena_make(b);
	if (r < 0)
		return pl_err_set(err, r, "memory: an arena of %llu bytes can't be made: %s",
			(unsigned long long)b->arena_bytes, strerror(-r));
	atomic_store(&b->progress->born_ns, pl_now_ns());
	atomic_store(&b->progress->n_workers, b->n_workers);
	for (uint32_t i = 0; i < b->n_workers; i++) {
		atomic_store(&b->progress->worker[i].record, PL_PROGRESS_IDLE);
		atomic_store(&b->progress->worker[i].shard, PL_PROGRESS_IDLE);
	}
	pl_birth_hide(b);
	r = endpoint_make(b);
	return r < 0 ? pl_err_set(err, r, "no random bits for the endpoint: %s", strerror(-r)) : 0;
}

void pl_birth_finish(struct pl_birth *b)
{
	if (!b)
		return;
	if (b->arena)
		munmap(b->arena, b->arena_bytes);
	b->arena = NULL;
	pl_closep(&b->arena_fd);
	b->arena_fd = -1;
	pl_progress_destroy(b->progress);
	b->progress = NULL;
}

static int advise(const struct pl_birth *b, int advice)
{
	if (b->arena && madvise(b->arena, b->arena_bytes, advice) < 0)
		return -errno;
	if (b->progress &&
		madvise(b->progress, pl_align_up(sizeof(*b->progress), 4096), advice) < 0)
		return -errno;
	return 0;
}

int pl_birth_show(const struct pl_birth *b)
{
	return advise(b, MADV_DOFORK);
}

void pl_birth_hide(const struct pl_birth *b)
{
	(void)advise(b, MADV_DONTFORK); /* both ranges are whole mappings of ours: it can't fail */
}
