/* tests/unit/test_flow_order.c - dealing and gathering against simulated workers: order, holes,
 * deaths, nothing lost, nothing twice. */
#include "daemon/flow/flow.h"
#include "proto/frame.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define N_WORKERS 3
#define OUT_MAX   64

/* A source of numbers whose records need no reading. */

static void describe(
	const void *params, const struct pl_listing *l, uint64_t index, char *out, size_t n)
{
	snprintf(out, n, "value %llu", (unsigned long long)index);
}

static const struct pl_source_op numbers = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(numbers),
	.name = "numbers",
	.describe = describe,
};

struct sent {
	uint32_t worker;
	uint32_t generation;
	char bytes[sizeof(struct pl_shard_message) + PL_SHARD_MAX * 13];
	size_t n;
};

struct world {
	struct pl_plan plan;
	struct pl_listing_head head;
	struct pl_listing listing;
	struct pl_flow flow;
	struct pl_progress *progress;
	void *arena;
	sd_event *loop;
	struct pl_session *session;
	int client;
	struct sent *sent;
	int n_sent;
	uint64_t random;
	uint64_t expected; /* next record the client must see, counting bad ones as passed */
	uint64_t n_batches;
	uint64_t bad_every; /* record i is bad when i % bad_every == 3; 0: none */
	uint32_t max_credits;
	bool is_done;
	bool is_substituting; /* a bad record's place is taken by the next good one */
	char failure[256];
};

static uint64_t draw(struct world *w, uint64_t n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (w->random >> 33) % n;
}

static bool is_bad(const struct world *w, uint64_t i)
{
	return w->bad_every && i % w->bad_every == 3;
}

static int keep_sent(
	struct pl_flow *f, uint32_t worker, uint32_t generation, const void *bytes, size_t n)
{
	struct world *w = f->owner;

	cr_assert(w->n_sent < OUT_MAX);
	w->sent[w->n_sent].worker = worker;
	w->sent[w->n_sent].generation = generation;
	w->sent[w->n_sent].n = n;
	memcpy(w->sent[w->n_sent].bytes, bytes, n);
	w->n_sent++;
	return 0;
}

static int on_open(struct pl_session *s, const struct pl_wire_open *open)
{
	return 0;
}

static void on_next(struct pl_session *s)
{
}

static void on_released(struct pl_session *s, uint32_t slot)
{
	struct world *w = s->owner;

	pl_slot_release(&w->flow.slots, slot, s->stream ? &s->stream->quota : NULL);
}

static const struct pl_session_events events = {
	.open = on_open, .next = on_next, .released = on_released, .left = on_next};

static void make_plan(struct world *w, uint64_t n, int64_t size, bool drop_last)
{
	struct pl_plan *p = &w->plan;
	struct pl_delivery *d = &p->layout.delivery[0];

	p->file = "test.yaml";
	p->epochs = 2;
	p->n_workers = N_WORKERS;
	p->worker_prefetch = 2;
	p->post_prefetch = 3;
	p->memory = 1 << 20;
	p->source.op = &numbers;
	p->source.name = "numbers";
	p->batch_at = 0;
	p->post.n = 1;
	p->post.step = calloc(1, sizeof(struct pl_step));
	p->post.step->op = calloc(1, sizeof(struct pl_op));
	p->on_error = PL_ON_ERROR_SKIP;
	p->skip_count = -1;
	p->skip_share = -1;
	p->index_field = p->key_field = p->source_field = -1;
	p->n_fields = p->n_results = 1;
	p->field_name[0] = "value";
	p->result[0] = (struct pl_result_field){.name = "value", .type = pl_type_scalar(PL_I64)};
	p->layout.n_deliveries = 1;
	*d = (struct pl_delivery){
		.form = PL_FORM_FIXED, .type = pl_type_scalar(PL_I64), .row_bytes = 8};
	p->layout.has_batch = true;
	p->layout.batch_size = size;
	p->layout.drop_last = drop_last;
	p->layout.index_offset = 2048;
	p->layout.slot_bytes = 4096;
	p->layout.cell_bytes = 64;
	w->head.n_records = n;
	w->listing.head = &w->head;
}

static struct world *world_create(uint64_t n, int64_t size, bool drop_last, uint64_t seed)
{
	struct world *w = calloc(1, sizeof(*w));
	struct pl_err err = {0};
	int pair[2];

	signal(SIGPIPE, SIG_IGN);
	w->random = seed * 77 + 1;
	w->max_credits = 4;
	w->sent = calloc(OUT_MAX, sizeof(*w->sent));
	make_plan(w, n, size, drop_last);
	w->arena = mmap(NULL, (size_t)w->plan.memory, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	w->progress = pl_progress_create();
	w->flow.progress = w->progress;
	w->flow.send = keep_sent;
	w->flow.owner = w;
	cr_assert_eq(
		pl_flow_init(&w->flow, &w->plan, &w->listing, w->arena, &err), 0, "%s", err.text);
	cr_assert(sd_event_new(&w->loop) >= 0);
	cr_assert_eq(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	w->client = pair[1];
	cr_assert_eq(pl_session_create(&w->session, w->loop, pair[0], &events, w), 0);
	w->session->state = PL_SESSION_OPEN;
	cr_assert_eq(pl_stream_open(&w->session->stream, &w->flow, w->session, NULL, &err), 0, "%s",
		err.text);
	for (uint32_t i = 0; i < N_WORKERS; i++) {
		struct pl_hello_message hello = {PL_MESSAGE_HELLO, i, 1, 100 + i};

		pl_hand_born(&w->flow, i, 1, 100 + i);
		cr_assert(pl_hand_message(&w->flow, i, 1, 100 + i, &hello, sizeof(hello)));
	}
	return w;
}

static void world_destroy(struct world *w)
{
	pl_session_end(w->session);
	pl_stream_close(w->session->stream);
	pl_session_free(w->session);
	pl_flow_finish(&w->flow);
	sd_event_unref(w->loop);
	close(w->client);
	munmap(w->arena, (size_t)w->plan.memory);
	pl_progress_destroy(w->progress);
	free((void *)(uintptr_t)w->plan.post.step->op);
	free(w->plan.post.step);
	free(w->sent);
	while (w->flow.free_shards) {
		struct pl_shard *s = w->flow.free_shards;

		w->flow.free_shards = s->next;
		free(s->index);
		free(s->cell);
		free(s->outcome);
		free(s->result);
		free(s);
	}
	free(w);
}

static void write_value(struct world *w, const struct pl_shard_message *m, const uint32_t *cell,
	uint32_t i, int64_t value)
{
	uint32_t left = i;

	for (uint32_t e = 0; e < m->n_extents; left -= m->extent[e++].n)
		if (left < m->extent[e].n) {
			memcpy(pl_arena_slot(&w->flow.arena, m->extent[e].slot) +
					(m->extent[e].row + left) * 8,
				&value, 8);
			return;
		}
	memcpy(pl_arena_cell(&w->flow.arena, cell[i]), &value, 8);
}

/* What worker.c does, for numbers. */
static void work(struct world *w, const struct sent *s)
{
	const struct pl_shard_message *m = (const void *)s->bytes;
	const uint64_t *index = m->index_form == PL_INDEX_LIST ? (const void *)(m + 1) : NULL;
	const uint32_t *cell = (const void *)((const char *)(m + 1) + (index ? m->n * 8 : 0));
	char bytes[sizeof(struct pl_result_message) + PL_SHARD_MAX + 8] = {0};
	struct pl_result_message *r = (void *)bytes;
	uint8_t *outcome = (void *)(r + 1);

	*r = (struct pl_result_message){PL_MESSAGE_RESULT, s->worker, s->generation, m->n, m->shard,
		m->n * 1000, 0, true, false, {0}};
	for (uint32_t i = 0; i < m->n; i++) {
		uint64_t record = index ? index[i] : m->first + i;

		outcome[i] = is_bad(w, record) ? PL_OUTCOME_BAD : PL_OUTCOME_GOOD;
		r->all_good = r->all_good && !is_bad(w, record);
		write_value(w, m, cell, i, (int64_t)record);
	}
	cr_assert(pl_hand_message(&w->flow, s->worker, s->generation, 100 + s->worker, bytes,
		sizeof(*r) + (r->all_good ? 0 : pl_align_up(m->n, 8))));
}

/* One of the shards under way comes back, or its worker dies and another is born. */
static bool step_workers(struct world *w, bool with_deaths)
{
	static uint32_t generation[N_WORKERS];
	int i;
	struct sent s;

	if (w->n_sent == 0)
		return false;
	if (w->n_batches == 0 && w->expected == 0)
		for (i = 0; i < N_WORKERS; i++)
			generation[i] = w->flow.hand[i].generation;
	i = (int)draw(w, (uint64_t)w->n_sent);
	for (int k = 0; k < i; k++) /* a worker's shards come back in the order they were sent */
		if (w->sent[k].worker == w->sent[i].worker)
			i = k;
	s = w->sent[i];
	memmove(&w->sent[i], &w->sent[i + 1], (size_t)(--w->n_sent - i) * sizeof(*w->sent));
	if (with_deaths && draw(w, 20) == 0) {
		struct pl_hello_message hello = {
			PL_MESSAGE_HELLO, s.worker, ++generation[s.worker], 100 + s.worker};

		pl_hand_reaped(&w->flow, &(struct pl_death){s.worker, s.generation, SIGKILL,
						 UINT64_MAX, UINT64_MAX});
		for (int k = 0; k < w->n_sent;)
			if (w->sent[k].worker == s.worker)
				memmove(&w->sent[k], &w->sent[k + 1],
					(size_t)(--w->n_sent - k) * sizeof(*w->sent));
			else
				k++;
		pl_hand_born(&w->flow, s.worker, hello.generation, hello.pid);
		cr_assert(pl_hand_message(
			&w->flow, s.worker, hello.generation, hello.pid, &hello, sizeof(hello)));
		return true;
	}
	if (w->flow.hand[s.worker].generation == s.generation)
		work(w, &s);
	return true;
}

static void take_batch(struct world *w, const struct pl_wire_batch *b)
{
	const int64_t *value = (const void *)((const char *)w->arena + b->view[0].offset);
	const uint64_t *index = (const void *)((const char *)w->arena + b->index_offset);

	cr_assert_eq(b->view[0].shape[0], (int64_t)b->size);
	if (b->number == 0)
		w->expected =
			b->epoch * w->head.n_records; /* drop_last left some of the epoch before */
	for (uint64_t i = 0; i < b->size; i++) {
		uint64_t expected = w->expected % w->head.n_records;

		while (is_bad(w, expected) && w->is_substituting)
			expected = (expected + 1) % w->head.n_records;
		while (is_bad(w, w->expected % w->head.n_records) && !w->is_substituting)
			expected = ++w->expected % w->head.n_records;
		cr_assert_eq((uint64_t)value[i], expected,
			"batch %llu.%llu row %llu: %lld, expected %llu",
			(unsigned long long)b->epoch, (unsigned long long)b->number,
			(unsigned long long)i, (long long)value[i],
			(unsigned long long)w->expected);
		cr_assert_eq(index[i], (uint64_t)value[i]);
		w->expected++;
	}
	w->n_batches++;
}

/* The client: reads, checks, gives back some time later. */
static bool step_client(struct world *w)
{
	bool has_asked = false;
	static struct pl_wire wire;
	static char frame[PL_FRAME_MAX];
	size_t n;

	if (w->session->n_leases > 0 && draw(w, 2)) {
		w->session->n_leases--;
		on_released(w->session, w->session->lease[w->session->n_leases].slot);
		has_asked = true;
	}
	if (draw(w, 3) == 0 && w->session->credits < w->max_credits) {
		w->session->credits++;
		has_asked = true;
	}
	while (pl_frame_receive(w->client, frame, &n, NULL) == 0) {
		cr_assert_eq(pl_wire_unpack(&wire, frame, n), 0);
		if (wire.kind == PL_WIRE_BATCH)
			take_batch(w, &wire.batch);
		if (wire.kind == PL_WIRE_END)
			w->is_done = true;
		if (wire.kind == PL_WIRE_ERROR) {
			snprintf(w->failure, sizeof(w->failure), "%.200s", wire.error.text);
			w->is_done = true;
		}
	}
	return has_asked;
}

static void run(struct world *w, bool with_deaths)
{
	pl_deal(&w->flow);
	for (uint64_t turn = 0; !w->is_done && turn < 3000000; turn++) {
		/* only an event makes the flow go on: nothing may be left to a turn that never
		 * comes */
		bool has_event = step_workers(w, with_deaths);

		has_event = step_client(w) || has_event;
		if (has_event)
			pl_deal(&w->flow);
	}
	cr_assert(w->is_done, "the stream did not end: %llu batches",
		(unsigned long long)w->n_batches);
}

static void check_all(uint64_t n, int64_t size, uint64_t bad_every, bool with_deaths, uint64_t seed)
{
	struct world *w = world_create(n, size, false, seed);

	w->bad_every = bad_every;
	run(w, with_deaths);
	cr_assert_str_eq(w->failure, "");
	while (is_bad(w, w->expected % n) && w->expected < 2 * n)
		w->expected++;
	cr_assert_eq(w->expected, 2 * n, "ended after %llu of %llu",
		(unsigned long long)w->expected, (unsigned long long)(2 * n));
	cr_assert_eq(w->flow.slots.n_free + w->session->n_leases, w->flow.arena.n_slots);
	world_destroy(w);
}

Test(flow, order_is_kept)
{
	for (uint64_t seed = 0; seed < 10; seed++)
		check_all(10000, 32, 0, false, seed);
}

Test(flow, holes_are_filled_in_order)
{
	for (uint64_t seed = 0; seed < 20; seed++)
		check_all(10000, 32, 97, false, seed);
}

Test(flow, many_holes_and_deaths)
{
	for (uint64_t seed = 0; seed < 20; seed++)
		check_all(5000, 16, 5, true, seed);
}

Test(flow, tiny_batches_and_epochs)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		check_all(7, 1, 0, true, seed);
		check_all(7, 4, 0, true, seed);
		check_all(1, 3, 0, true, seed);
	}
}

Test(flow, no_prefetch_and_one_credit_still_come_to_an_end)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct world *w = world_create(23, 4, true, seed);

		w->plan.worker_prefetch = w->plan.post_prefetch = 0;
		w->max_credits = 1;
		run(w, true);
		cr_assert_str_eq(w->failure, "");
		cr_assert_eq(w->n_batches, 2 * (23 / 4));
		world_destroy(w);
	}
}

Test(flow, substitutes_keep_every_batch_full)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct world *w = world_create(44, 4, false, seed);

		w->plan.on_error = PL_ON_ERROR_SUBSTITUTE;
		w->plan.shard = 11;
		w->bad_every = 7;
		w->is_substituting = true;
		run(w, seed % 2);
		cr_assert_str_eq(w->failure, "");
		cr_assert_eq(w->n_batches, 2 * 11);
		cr_assert_eq(w->flow.slots.n_free + w->session->n_leases, w->flow.arena.n_slots);
		world_destroy(w);
	}
}

Test(flow, an_epoch_without_batches_fails)
{
	struct world *w = world_create(5, 8, true, 1);

	run(w, false);
	cr_assert(strstr(w->failure, "epoch 0 has no batch") && strstr(w->failure, "drop_last"),
		"%s", w->failure);
	cr_assert_eq(w->flow.progress->shards_dealt, 0, "what can't fill a batch is not read");
	world_destroy(w);
}
