/* client/link.c - what a handle shares with its batches: releases, and objects to use again. */
#include "client/room.h"

#include <errno.h>

/*
 * Batches are released from any thread, also when the handle is closed. The lock is only ever held
 * for a few moves and a non-blocking send. A batch object is made when the stream needs one more
 * and then used again: it waits in `pending` until its release is sent, then in `idle`, so that
 * neither a batch nor a release needs memory in the long run.
 */
struct pl_link *pl_link_create(void)
{
	struct pl_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	atomic_init(&link->n_refs, 1);
	pthread_mutex_init(&link->lock, NULL);
	link->pid = getpid();
	link->fd = -1;
	return link;
}

static void free_list(struct pl_batch *batch)
{
	while (batch) {
		struct pl_batch *next = batch->next;

		free(batch);
		batch = next;
	}
}

void pl_link_release(struct pl_link *link)
{
	if (!link || atomic_fetch_sub_explicit(&link->n_refs, 1, memory_order_acq_rel) != 1)
		return;
	if (link->owns_fd)
		close(link->fd);
	free_list(link->idle);
	free_list(link->pending);
	pl_schema_finish(&link->schema);
	pthread_mutex_destroy(&link->lock);
	free(link);
}

bool pl_link_is_ours(const struct pl_link *link)
{
	return link->pid == getpid();
}

static void push_idle(struct pl_link *link, struct pl_batch *batch)
{
	batch->next = link->idle;
	link->idle = batch;
}

/* The release of the first n pending batches is told, or has nobody to be told to. */
static void settle(struct pl_link *link, int n)
{
	for (; n; n--) {
		struct pl_batch *batch = link->pending;

		link->pending = batch->next;
		link->n_pending--;
		push_idle(link, batch);
	}
	if (!link->pending)
		link->pending_last = NULL;
}

static void push_pending(struct pl_link *link, struct pl_batch *batch)
{
	batch->next = NULL;
	if (link->pending_last)
		link->pending_last->next = batch;
	else
		link->pending = batch;
	link->pending_last = batch;
	link->n_pending++;
}

void pl_link_attach(struct pl_link *link, int fd)
{
	pthread_mutex_lock(&link->lock);
	link->fd = fd;
	link->connection++;
	settle(link, link->n_pending);
	pthread_mutex_unlock(&link->lock);
}

void pl_link_keep(struct pl_link *link, int fd)
{
	pthread_mutex_lock(&link->lock);
	link->fd = fd;
	link->owns_fd = true;
	pthread_mutex_unlock(&link->lock);
}

struct pl_batch *pl_link_batch(struct pl_link *link)
{
	struct pl_batch *batch;

	pthread_mutex_lock(&link->lock);
	batch = link->idle;
	if (batch)
		link->idle = batch->next;
	else
		batch = calloc(1, sizeof(*batch) + link->schema.n * sizeof(batch->view[0]));
	if (batch) {
		batch->link = link;
		batch->next = NULL;
		batch->connection = link->connection;
		atomic_fetch_add_explicit(&link->n_refs, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&link->lock);
	return batch;
}

/* Sends what is pending as far as the socket takes it; the rest rides on the next Next. The lock is
 * held. */
static void flush(struct pl_link *link)
{
	while (link->pending) {
		int n;

		link->wire.kind = PL_WIRE_RELEASE;
		link->wire.release = link->pending->release;
		n = pl_wire_pack(&link->wire, link->bytes);
		if (n < 0 || pl_frame_send(link->fd, link->bytes, (size_t)n, -1))
			break;
		settle(link, 1);
	}
}

void pl_link_return(struct pl_link *link, struct pl_batch *batch, bool is_told)
{
	pthread_mutex_lock(&link->lock);
	if (!is_told && link->fd >= 0 && batch->connection == link->connection) {
		push_pending(link, batch);
		flush(link);
	} else {
		push_idle(link, batch);
	}
	pthread_mutex_unlock(&link->lock);
	pl_link_release(link);
}

int pl_link_ask(struct pl_link *link, uint32_t credits)
{
	struct pl_wire_next *next = &link->wire.next;
	int r;

	pthread_mutex_lock(&link->lock);
	if (credits == 0 && !link->pending) {
		pthread_mutex_unlock(&link->lock);
		return 0;
	}
	link->wire.kind = PL_WIRE_NEXT;
	next->credits = credits;
	next->n_releases = 0;
	for (struct pl_batch *b = link->pending; b && next->n_releases < PL_WIRE_RELEASES_MAX;
		b = b->next)
		next->release[next->n_releases++] = b->release;
	r = pl_wire_pack(&link->wire, link->bytes);
	if (r > 0)
		r = pl_frame_send(link->fd, link->bytes, (size_t)r, -1);
	if (r == 0)
		settle(link, next->n_releases);
	pthread_mutex_unlock(&link->lock);
	return r;
}
