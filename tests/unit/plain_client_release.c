/* tests/unit/plain_client_release.c - batches released by other threads, also after the close. */
#include "fake_daemon.h"

#define N_BATCHES   4000
#define N_RELEASERS 3

/* A ring from the reader to one releasing thread. */
struct hand {
	_Atomic(const struct pl_batch *) batch[16];
	atomic_bool is_over;
	int n_wrong;
	int n_released;
};

static struct hand hands[N_RELEASERS];

static bool is_lent[FAKE_SLOTS];

static void take_back(struct fake *fake, const struct pl_wire_release *r)
{
	FAKE_CHECK(fake,
		r->slot < FAKE_SLOTS && is_lent[r->slot] && r->number % FAKE_SLOTS == r->slot);
	if (r->slot < FAKE_SLOTS)
		is_lent[r->slot] = false;
}

/* Serves batches as credits come, each when its slot is free. */
static void serve(struct fake *fake)
{
	uint64_t number = 0;
	uint32_t credits = 0;

	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	while (fake_receive(fake) && fake->in.kind != PL_WIRE_CLOSE) {
		if (fake->in.kind == PL_WIRE_RELEASE)
			take_back(fake, &fake->in.release);
		if (fake->in.kind == PL_WIRE_NEXT) {
			credits += fake->in.next.credits;
			for (int i = 0; i < fake->in.next.n_releases; i++)
				take_back(fake, &fake->in.next.release[i]);
		}
		while (credits && number < N_BATCHES && !is_lent[number % FAKE_SLOTS]) {
			is_lent[number % FAKE_SLOTS] = true;
			fake_batch(fake, 0, number++);
			credits--;
		}
		if (number == N_BATCHES && credits)
			fake_say(fake, PL_WIRE_END, "all");
	}
	fake_start_message(fake, PL_WIRE_CLOSED);
	fake_send(fake);
}

static void release(struct hand *hand, const struct pl_batch *batch)
{
	if (pl_batch_size(batch) != 2 || pl_batch_tensor(batch, "x")->shape[1] != 3)
		hand->n_wrong++;
	(void)!pl_batch_release(batch);
	hand->n_released++;
}

static void *run_releaser(void *data)
{
	struct hand *hand = data;
	bool is_over;

	do {
		is_over = atomic_load(&hand->is_over);
		for (size_t i = 0; i < PL_ARRAY_LEN(hand->batch); i++) {
			const struct pl_batch *batch = atomic_exchange(&hand->batch[i], NULL);

			if (batch)
				release(hand, batch);
		}
	} while (!is_over);
	return NULL;
}

static void give(struct hand *hand, const struct pl_batch *batch)
{
	for (size_t i = 0;; i = (i + 1) % PL_ARRAY_LEN(hand->batch)) {
		const struct pl_batch *none = NULL;

		if (atomic_compare_exchange_strong(&hand->batch[i], &none, batch))
			return;
	}
}

/* The last batches are released after pl_client_close. */
static int read_all(struct fake *fake)
{
	static struct pl_error error;
	struct pl_client_options options = fake_options(fake);
	struct pl_client *client = pl_client_open("fake", &options, &error);
	const struct pl_batch *batch;
	int n = 0;
	int r = client ? 0 : error.code;

	while (r == 0) {
		r = pl_client_next(client, 10000, &batch, &error);
		if (r == 0)
			give(&hands[n++ % N_RELEASERS], batch);
	}
	if (r != PL_END)
		fprintf(stderr, "after %d batches: %d %s\n", n, r, error.text);
	pl_client_close(client);
	return r == PL_END ? n : -1;
}

int main(void)
{
	struct fake *fake = fake_start(serve, 4);
	pthread_t thread[N_RELEASERS];
	const char *complaint;
	int released = 0;
	int wrong = 0;
	int n;

	for (int i = 0; i < N_RELEASERS; i++)
		if (pthread_create(&thread[i], NULL, run_releaser, &hands[i]))
			return 1;
	n = read_all(fake);
	for (int i = 0; i < N_RELEASERS; i++) {
		atomic_store(&hands[i].is_over, true);
		pthread_join(thread[i], NULL);
		released += hands[i].n_released;
		wrong += hands[i].n_wrong;
	}
	complaint = fake_finish(fake);
	if (complaint)
		fprintf(stderr, "the daemon: %s\n", complaint);
	if (n != N_BATCHES || released != n || wrong || complaint) {
		fprintf(stderr, "%d batches, %d released, %d wrong\n", n, released, wrong);
		return 1;
	}
	return 0;
}
