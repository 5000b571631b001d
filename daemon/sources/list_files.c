/* daemon/sources/list_files.c - lists many files side by side, and joins what they gave in order.
 */
#include "daemon/sources/list_files.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#define THREADS_MAX 16

/* Files that may be done before their turn, by thread: what they gave waits in memory. */
#define AHEAD 4

/*
 * File i is listed into slot i % n_slots by whoever takes it, and added by the thread that asked.
 * All counters are under the lock.
 */
struct team {
	const struct pl_list_files *work;
	char *slots;
	bool *is_done; /* by slot */
	size_t n_slots;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t n_taken;
	size_t n_added;
	bool is_over;
};

static void *slot_of(const struct team *t, size_t i)
{
	return t->slots + i % t->n_slots * t->work->shard_bytes;
}

static void *member(void *context)
{
	struct team *t = context;
	const struct pl_list_files *w = t->work;
	size_t i;

	pthread_mutex_lock(&t->lock);
	while (!t->is_over && t->n_taken < w->set->n) {
		if (t->n_taken >= t->n_added + t->n_slots) {
			pthread_cond_wait(&t->moved, &t->lock);
			continue;
		}
		i = t->n_taken++;
		pthread_mutex_unlock(&t->lock);
		w->list(w->context, pl_file_set_path(w->set, i), slot_of(t, i));
		pthread_mutex_lock(&t->lock);
		t->is_done[i % t->n_slots] = true;
		pthread_cond_broadcast(&t->moved);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static void wait_for(struct team *t, size_t i)
{
	pthread_mutex_lock(&t->lock);
	while (!t->is_done[i % t->n_slots])
		pthread_cond_wait(&t->moved, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

static void let_go(struct team *t, size_t i, bool is_over)
{
	t->work->finish(slot_of(t, i));
	pthread_mutex_lock(&t->lock);
	t->is_done[i % t->n_slots] = false;
	t->n_added++;
	t->is_over = is_over;
	pthread_cond_broadcast(&t->moved);
	pthread_mutex_unlock(&t->lock);
}

static int add_all(struct team *t, struct pl_err *err)
{
	const struct pl_list_files *w = t->work;
	int r = 0;

	for (size_t i = 0; i < w->set->n && !r; i++) {
		wait_for(t, i);
		r = w->add(w->context, pl_file_set_path(w->set, i), slot_of(t, i), err);
		let_go(t, i, r != 0);
	}
	return r;
}

/* Without a second thread, or when none can be had, the one that asked does it all. */
static int list_alone(struct team *t, struct pl_err *err)
{
	const struct pl_list_files *w = t->work;
	int r = 0;

	for (size_t i = 0; i < w->set->n && !r; i++) {
		const char *path = pl_file_set_path(w->set, i);

		w->list(w->context, path, t->slots);
		r = w->add(w->context, path, t->slots, err);
		w->finish(t->slots);
	}
	return r;
}

static int list_together(struct team *t, size_t n_threads, struct pl_err *err)
{
	pthread_t thread[THREADS_MAX];
	size_t n = 0;
	int r;

	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->moved, NULL);
	while (n < n_threads && pthread_create(&thread[n], NULL, member, t) == 0)
		n++;
	r = n ? add_all(t, err) : list_alone(t, err);
	for (size_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	for (size_t i = 0; i < t->n_slots; i++)
		t->work->finish(slot_of(t, i));
	pthread_cond_destroy(&t->moved);
	pthread_mutex_destroy(&t->lock);
	return r;
}

static size_t n_threads_for(size_t n_files)
{
	cpu_set_t cpus;
	size_t n = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (size_t)CPU_COUNT(&cpus);

	n = n < THREADS_MAX ? n : THREADS_MAX;
	return n < n_files ? n : n_files;
}

int pl_list_files_run(const struct pl_list_files *l, struct pl_err *err)
{
	struct team t = {.work = l};
	size_t n_threads = n_threads_for(l->set->n);
	int r;

	t.n_slots = n_threads > 1 ? n_threads * AHEAD : 1;
	t.slots = calloc(t.n_slots, l->shard_bytes);
	t.is_done = calloc(t.n_slots, sizeof(*t.is_done));
	if (!t.slots || !t.is_done)
		r = pl_err_set(err, -ENOMEM, "out of memory");
	else if (n_threads > 1)
		r = list_together(&t, n_threads, err);
	else
		r = list_alone(&t, err);
	free(t.slots);
	free(t.is_done);
	return r;
}
