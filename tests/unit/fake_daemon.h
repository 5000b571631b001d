/* tests/unit/fake_daemon.h - a daemon of one thread that follows a script. */
#pragma once

/* Each test uses some of what is here. */
#pragma GCC diagnostic ignored "-Wunused-function"

#include "client/pipeloader.h"
#include "proto/frame.h"
#include "proto/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Its pipeline has the fields x (f32 [3], batched), text (u8, ragged) and one (i64, no batch axis),
 * batches of 2 samples and FAKE_SLOTS slots. Slot s lies at FAKE_SLOT_BYTES * (s + 1).
 */
#define FAKE_SLOTS       8
#define FAKE_SLOT_BYTES  4096
#define FAKE_ARENA_BYTES (FAKE_SLOT_BYTES * (FAKE_SLOTS + 1))
#define FAKE_GENERATIONS 64
#define FAKE_CLASSES     256

struct fake {
	char socket[80]; /* as options.socket */
	int listener;
	int fd;
	int memfd;
	uint8_t *arena;
	uint64_t birth;
	uint32_t prefetch;
	bool has_other_schema;
	struct pl_wire in;
	struct pl_wire out;
	uint8_t bytes[PL_FRAME_MAX];
	void (*script)(struct fake *fake);
	pthread_t thread;
	const char *complaint; /* what went wrong in the script's thread; NULL = nothing */
	atomic_int step;       /* for handshakes between the script and the test */
};

#define FAKE_CHECK(fake, condition)                                                                \
	do {                                                                                       \
		if (!(condition) && !(fake)->complaint)                                            \
			(fake)->complaint = #condition;                                            \
	} while (0)

static void fake_wait_step(struct fake *fake, int step)
{
	for (int i = 0; i < 5000 && atomic_load(&fake->step) < step; i++)
		poll(NULL, 0, 1);
	FAKE_CHECK(fake, atomic_load(&fake->step) >= step);
}

/* A fresh arena, as a new birth has it. */
static void fake_new_arena(struct fake *fake, int seals)
{
	if (fake->arena)
		munmap(fake->arena, FAKE_ARENA_BYTES);
	if (fake->memfd >= 0)
		close(fake->memfd);
	fake->birth++;
	fake->memfd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	FAKE_CHECK(fake, ftruncate(fake->memfd, FAKE_ARENA_BYTES) == 0);
	fake->arena =
		mmap(NULL, FAKE_ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fake->memfd, 0);
	if (seals)
		FAKE_CHECK(fake, fcntl(fake->memfd, F_ADD_SEALS, seals) == 0);
	memcpy(fake->arena + FAKE_CLASSES, "cat\0dog", 8);
}

static bool fake_receive(struct fake *fake)
{
	struct pollfd one = {.fd = fake->fd, .events = POLLIN};
	size_t n;

	return poll(&one, 1, 5000) == 1 && pl_frame_receive(fake->fd, fake->bytes, &n, NULL) == 0 &&
	       pl_wire_unpack(&fake->in, fake->bytes, n) == 0;
}

static bool fake_expect(struct fake *fake, enum pl_wire_kind kind)
{
	bool is_it = fake_receive(fake) && fake->in.kind == kind;

	if (!is_it && !fake->complaint)
		fake->complaint = "another message was expected";
	return is_it;
}

static void fake_send_with(struct fake *fake, int fd)
{
	int n = pl_wire_pack(&fake->out, fake->bytes);

	FAKE_CHECK(fake, n > 0);
	FAKE_CHECK(fake, n > 0 && pl_frame_send(fake->fd, fake->bytes, (size_t)n, fd) == 0);
}

static void fake_send(struct fake *fake)
{
	fake_send_with(fake, -1);
}

static void fake_start_message(struct fake *fake, enum pl_wire_kind kind)
{
	memset(&fake->out, 0, sizeof(fake->out));
	fake->out.kind = kind;
}

static void fake_say(struct fake *fake, enum pl_wire_kind kind, const char *text)
{
	fake_start_message(fake, kind);
	snprintf(fake->out.text, sizeof(fake->out.text), "%s", text);
	fake_send(fake);
}

static void fake_fail(struct fake *fake, int code, unsigned exit_status, const char *text)
{
	fake_start_message(fake, PL_WIRE_ERROR);
	fake->out.error.code = code;
	fake->out.error.exit_status = exit_status;
	snprintf(fake->out.error.text, sizeof(fake->out.error.text), "%s", text);
	fake_send(fake);
}

/* Takes a connection and its Open; what is in it stays in fake->in. */
static void fake_accept(struct fake *fake)
{
	struct pollfd one = {.fd = fake->listener, .events = POLLIN};

	FAKE_CHECK(fake, poll(&one, 1, 5000) == 1);
	fake->fd = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	FAKE_CHECK(fake, fake->fd >= 0);
}

static void fake_set_field(
	struct pl_wire_field *f, const char *name, enum pl_dtype dtype, uint32_t form)
{
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->kind = 1;
	f->dtype = dtype;
	f->form = form;
}

/* Welcome, starting at (epoch, number) of a mode. */
static void fake_welcome(struct fake *fake, enum pl_mode mode, uint64_t epoch, uint64_t number)
{
	struct pl_wire_welcome *w = &fake->out.welcome;
	struct pl_token token = {.mode = mode, .at = {.epoch = epoch, .number = number}};

	fake_start_message(fake, PL_WIRE_WELCOME);
	memset(token.fingerprint, 7, sizeof(token.fingerprint));
	memset(w->fingerprint, 7, sizeof(w->fingerprint));
	w->version = PL_PROTOCOL_VERSION;
	w->arena_bytes = FAKE_ARENA_BYTES;
	w->birth = fake->birth;
	w->n_fields = 3;
	fake_set_field(&w->field[0], "x", fake->has_other_schema ? PL_F64 : PL_F32, 0);
	w->field[0].rank = 1;
	w->field[0].shape[0] = 3;
	fake_set_field(&w->field[1], "text", PL_U8, 1);
	w->field[1].kind = 9;
	w->field[1].rank = 1;
	w->field[1].shape[0] = -1;
	fake_set_field(&w->field[2], "one", PL_I64, 2);
	w->classes_offset = FAKE_CLASSES;
	w->classes_bytes = 8;
	w->n_classes = 2;
	w->batch_size = 2;
	w->epochs = 1;
	w->token_bytes = pl_token_pack(&token, w->token);
	w->prefetch = fake->prefetch;
	snprintf(w->pipeline, sizeof(w->pipeline), "fake");
	w->records = 100;
	w->batches_per_epoch = 50;
	w->daemon_pid = 1;
	w->dispatcher_pid = 2;
	w->generations_offset = FAKE_GENERATIONS;
	w->n_slots = FAKE_SLOTS;
	fake_send_with(fake, fake->memfd);
}

static uint32_t *fake_generation(struct fake *fake, uint32_t slot)
{
	return (uint32_t *)(void *)(fake->arena + FAKE_GENERATIONS) + slot;
}

/* Writes batch `number` into its slot and builds its message; the script may spoil it before
 * fake_send. */
static void fake_make_batch(struct fake *fake, uint64_t epoch, uint64_t number)
{
	uint32_t slot = (uint32_t)(number % FAKE_SLOTS);
	uint64_t at = FAKE_SLOT_BYTES * (uint64_t)(slot + 1);
	struct pl_wire_batch *b = &fake->out.batch;
	static const int64_t shapes[3][2] = {{2, 3}, {5, 0}, {0, 0}};
	static const enum pl_dtype dtypes[3] = {PL_F32, PL_U8, PL_I64};
	static const int ranks[3] = {2, 1, 0};
	int64_t offsets[3] = {0, 2, 5};

	fake_start_message(fake, PL_WIRE_BATCH);
	for (int i = 0; i < 6; i++)
		memcpy(fake->arena + at + 4 * i, &(float){(float)(number * 6) + (float)i}, 4);
	memcpy(fake->arena + at + 1024, "hithe", 5);
	memcpy(fake->arena + at + 1032, offsets, sizeof(offsets));
	memcpy(fake->arena + at + 2048, &number, 8);
	memcpy(fake->arena + at + 3072, (uint64_t[]){number * 2, number * 2 + 1}, 16);
	b->epoch = epoch;
	b->number = number;
	b->slot = slot;
	b->generation = __atomic_add_fetch(fake_generation(fake, slot), 1, __ATOMIC_RELEASE);
	b->size = 2;
	b->n_views = 3;
	for (int i = 0; i < 3; i++) {
		struct pl_wire_view *v = &b->view[i];
		struct pl_tensor t;

		FAKE_CHECK(fake, pl_tensor_init(&t, NULL, dtypes[i], ranks[i], shapes[i]) == 0);
		v->offset = at + 1024 * (uint64_t)i;
		v->dtype = dtypes[i];
		v->rank = ranks[i];
		memcpy(v->shape, t.shape, sizeof(v->shape[0]) * 2);
		memcpy(v->stride, t.stride, sizeof(v->stride[0]) * 2);
	}
	b->view[1].offsets_offset = at + 1032;
	b->index_offset = at + 3072;
	b->after = (struct pl_wire_position){.epoch = epoch, .number = number + 1};
}

static void fake_batch(struct fake *fake, uint64_t epoch, uint64_t number)
{
	fake_make_batch(fake, epoch, number);
	fake_send(fake);
}

static void fake_hang_up(struct fake *fake)
{
	close(fake->fd);
	fake->fd = -1;
}

/* Answers Close with Closed, past whatever comes before it. */
static void fake_goodbye(struct fake *fake)
{
	while (fake_receive(fake))
		if (fake->in.kind == PL_WIRE_CLOSE) {
			fake_start_message(fake, PL_WIRE_CLOSED);
			fake_send(fake);
			fake_hang_up(fake);
			return;
		}
	FAKE_CHECK(fake, !"no Close came");
}

static void *fake_main(void *data)
{
	struct fake *fake = data;

	fake->script(fake);
	return NULL;
}

/* Starts the script in a thread; its socket is there when this returns. */
static struct fake *fake_start(void (*script)(struct fake *fake), uint32_t prefetch)
{
	static atomic_int count;
	struct fake *fake = calloc(1, sizeof(*fake));
	struct sockaddr_un address;
	unsigned n = 0;

	fake->fd = fake->memfd = -1;
	fake->script = script;
	fake->prefetch = prefetch;
	snprintf(fake->socket, sizeof(fake->socket), "@pipeloader-test/%d/%d", (int)getpid(),
		atomic_fetch_add(&count, 1));
	FAKE_CHECK(fake, pl_frame_address(&address, &n, fake->socket + 1) == 0);
	fake->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	FAKE_CHECK(fake, bind(fake->listener, (struct sockaddr *)&address, n) == 0);
	FAKE_CHECK(fake, listen(fake->listener, 8) == 0);
	fake_new_arena(fake, F_SEAL_SHRINK | F_SEAL_GROW);
	FAKE_CHECK(fake, pthread_create(&fake->thread, NULL, fake_main, fake) == 0);
	return fake;
}

/* Waits for the script's end; what it complains of, or NULL. */
static const char *fake_finish(struct fake *fake)
{
	const char *complaint;

	pthread_join(fake->thread, NULL);
	complaint = fake->complaint;
	if (fake->fd >= 0)
		close(fake->fd);
	close(fake->listener);
	close(fake->memfd);
	munmap(fake->arena, FAKE_ARENA_BYTES);
	free(fake);
	return complaint;
}

static struct pl_client_options fake_options(const struct fake *fake)
{
	struct pl_client_options o;

	pl_client_options_init(&o);
	o.socket = fake->socket;
	o.open_timeout_ms = 5000;
	o.reconnect_ms = 5000;
	return o;
}
