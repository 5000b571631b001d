/* client/reconnect.c - the connection is gone: what is forgotten, and when to try again. */
#include "client/room.h"

#define BACKOFF_FIRST_MS 10
#define BACKOFF_LAST_MS  500

/*
 * What was handed out stays valid in the old mapping, which goes with the last batch of it. What
 * was only received was never handed out, so the token says that it comes again.
 */
void pl_client_forget_ready(struct pl_client *client)
{
	while (client->ready) {
		struct pl_batch *batch = client->ready;
		struct pl_arena *arena = batch->arena;

		client->ready = batch->next;
		pl_link_return(client->link, batch, true);
		pl_arena_release(arena);
	}
	client->ready_end = &client->ready;
}

void pl_client_lose(struct pl_client *client)
{
	pl_link_attach(client->link, -1);
	pl_client_forget_ready(client);
	client->state = PL_STATE_LOST;
	client->n_credits = 0;
	client->n_whys = 0;
	client->n_describes = 0;
	client->backoff_ms = BACKOFF_FIRST_MS;
	client->retry_at = pl_now_ms();
	client->give_up_at = client->retry_at + client->reconnect_ms;
}

/* Eight ranks that lose one daemon should not all come back in the same millisecond: the pid
 * spreads them. */
void pl_client_back_off(struct pl_client *client)
{
	int spread = (int)((unsigned)client->link->pid % 7u) * client->backoff_ms / 20;

	client->state = PL_STATE_LOST;
	client->retry_at = pl_now_ms() + client->backoff_ms + spread;
	client->backoff_ms *= 2;
	if (client->backoff_ms > BACKOFF_LAST_MS)
		client->backoff_ms = BACKOFF_LAST_MS;
}
