/* daemon/dispatcher.c - the dispatcher: one loop over the supervisor's word, the workers' results
 * and the clients' wishes. */
#include "daemon/dispatcher.h"

#include "daemon/sys/log.h"
#include "proto/frame.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#define RESULTS_A_TURN  64
#define CONTROLS_A_TURN 16
#define BAD_LOGGED_MAX  100
#define OVERDUE_SLICES  4 /* a deadline is looked at so many times in its length */

void pl_dispatcher_tell(struct pl_dispatcher *d, const struct pl_control *c)
{
	int r = pl_control_send(d->birth->control_fd, c, -1);

	if (r < 0 && r != -EAGAIN)
		sd_event_exit(d->loop, EXIT_FAILURE); /* the supervisor is gone, and so are we */
}

static void update_clock(struct pl_dispatcher *d)
{
	uint64_t now;
	bool is_busy = false;

	if (!d->clock)
		return;
	for (uint32_t w = 0; w < d->flow.n_workers; w++)
		is_busy = is_busy || d->flow.hand[w].n_out > 0;
	if (!is_busy) {
		sd_event_source_set_enabled(d->clock, SD_EVENT_OFF);
		return;
	}
	sd_event_now(d->loop, CLOCK_MONOTONIC, &now);
	sd_event_source_set_time(
		d->clock, now + (uint64_t)d->plan->sample_timeout_ns / 1000 / OVERDUE_SLICES);
	sd_event_source_set_enabled(d->clock, SD_EVENT_ONESHOT);
}

/* Told once: the pipeline runs from its first worker's hello on. */
static void tell_ready(struct pl_dispatcher *d)
{
	for (uint32_t w = 0; w < d->flow.n_workers && !d->has_worker; w++)
		if (d->flow.hand[w].is_ready) {
			d->has_worker = true;
			pl_dispatcher_tell(d, &(struct pl_control){.kind = PL_CONTROL_READY});
		}
}

/* Something changed: send, hand out, and say so once it is the first time. */
void pl_dispatcher_go_on(struct pl_dispatcher *d)
{
	uint64_t began = pl_now_ns();

	if (!d->has_worker)
		tell_ready(d);
	pl_deal(&d->flow);
	if (!d->has_handed && d->flow.progress->batches > 0) {
		d->has_handed = true;
		pl_dispatcher_tell(d, &(struct pl_control){.kind = PL_CONTROL_HANDED});
	}
	if (d->flow.wants_turn)
		sd_event_source_set_enabled(d->turn, SD_EVENT_ONESHOT);
	if (d->clock && sd_event_source_get_enabled(d->clock, NULL) == 0)
		update_clock(d);
	d->flow.progress->dispatcher_busy_ns += pl_now_ns() - began;
}

static void ask_kill(struct pl_dispatcher *d, uint32_t worker)
{
	const struct pl_hand *h = &d->flow.hand[worker];

	pl_dispatcher_tell(d, &(struct pl_control){.kind = PL_CONTROL_KILL,
				      .worker = worker,
				      .generation = h->generation,
				      .pid = h->pid});
}

static int on_clock(sd_event_source *source, uint64_t usec, void *context)
{
	struct pl_dispatcher *d = context;
	int worker;

	while ((worker = pl_hand_overdue(&d->flow, pl_now_ns())) >= 0) {
		pl_log(PL_LOG_WARNING,
			"sample overdue worker=%d pid=%u record=%llu timeout_ms=%lld", worker,
			d->flow.hand[worker].pid,
			(unsigned long long)d->flow.progress->worker[worker].record,
			(long long)d->plan->sample_timeout_ns / 1000000);
		ask_kill(d, (uint32_t)worker);
	}
	update_clock(d);
	return 0;
}

static int on_turn(sd_event_source *source, void *context)
{
	pl_dispatcher_go_on(context);
	return 0;
}

/* The supervisor's word */

static void on_born(struct pl_dispatcher *d, const struct pl_control *c, int *fd)
{
	pl_hand_born(&d->flow, c->worker, c->generation, c->pid);
}

static void on_reaped(struct pl_dispatcher *d, const struct pl_control *c, int *fd)
{
	if (c->worker < PL_WORKERS_MAX)
		pl_hand_reaped(&d->flow, &(struct pl_death){c->worker, c->generation, c->status,
						 c->shard, c->record});
}

static void on_ping(struct pl_dispatcher *d, const struct pl_control *c, int *fd)
{
	d->flow.progress->heartbeat = c->serial;
	pl_dispatcher_tell(d, &(struct pl_control){.kind = PL_CONTROL_PONG, .serial = c->serial});
}

static void on_stop(struct pl_dispatcher *d, const struct pl_control *c, int *fd)
{
	pl_clients_stop(d, c->text[0] ? c->text : "the daemon is stopping");
	sd_event_exit(d->loop, EXIT_SUCCESS);
}

static void on_renew(struct pl_dispatcher *d, const struct pl_control *c, int *fd)
{
	d->is_leaving = true;
	if (d->n_sessions == 0)
		sd_event_exit(d->loop, EXIT_SUCCESS);
}

static const struct {
	enum pl_control_kind kind;
	void (*handle)(struct pl_dispatcher *d, const struct pl_control *c, int *fd);
} control_handlers[] = {
	{PL_CONTROL_CLIENT, pl_clients_add},
	{PL_CONTROL_BORN, on_born},
	{PL_CONTROL_REAPED, on_reaped},
	{PL_CONTROL_PING, on_ping},
	{PL_CONTROL_STOP, on_stop},
	{PL_CONTROL_RENEW, on_renew},
};

static int on_control(sd_event_source *source, int socket, uint32_t events, void *context)
{
	struct pl_dispatcher *d = context;
	struct pl_control c;

	for (int i = 0; i < CONTROLS_A_TURN; i++) {
		PL_AUTO_CLOSE int fd = -1;
		int r = pl_control_receive(socket, &c, &fd);

		if (r == -EAGAIN)
			break;
		if (r == -EPROTO) { /* its descriptor found no room: that client alone is lost */
			pl_log(PL_LOG_WARNING,
				"client dropped reason=\"out of descriptors: raise LimitNOFILE\"");
			pl_clients_tell(d);
			continue;
		}
		if (r != 0)
			return sd_event_exit(d->loop, EXIT_FAILURE);
		for (size_t k = 0; k < PL_ARRAY_LEN(control_handlers); k++)
			if (control_handlers[k].kind == c.kind)
				control_handlers[k].handle(d, &c, &fd);
	}
	pl_dispatcher_go_on(d);
	return 0;
}

/* The workers' results */

/* Of one of ours: its shard can't be taken from it any more, a replacement does it again. Others
 * are counted. */
static void on_bad_message(struct pl_dispatcher *d, const struct pl_zmessage *m)
{
	if (d->n_foreign++ == 0)
		pl_log(PL_LOG_WARNING, "message dropped worker=%u generation=%u pid=%u bytes=%zu",
			m->worker, m->generation, m->pid, m->size);
	if (m->worker < d->flow.n_workers && d->flow.hand[m->worker].generation == m->generation &&
		(m->pid == 0 || d->flow.hand[m->worker].pid == m->pid))
		ask_kill(d, m->worker);
}

static void on_results(void *context)
{
	struct pl_dispatcher *d = context;

	for (int i = 0; i < RESULTS_A_TURN; i++) {
		struct pl_zmessage m;

		if (pl_zsock_receive(&d->z, &m, false) < 0)
			break;
		if (!pl_hand_message(&d->flow, m.worker, m.generation, m.pid, m.data, m.size))
			on_bad_message(d, &m);
		pl_zsock_message_close(&m);
	}
	pl_dispatcher_go_on(d);
}

static int send_to_worker(
	struct pl_flow *f, uint32_t worker, uint32_t generation, const void *bytes, size_t n)
{
	struct pl_dispatcher *d = f->owner;

	return pl_zsock_send_to(&d->z, worker, generation, bytes, n);
}

static void on_bad_sample(struct pl_flow *f, uint64_t index, const char *text)
{
	if (f->progress->bad <= BAD_LOGGED_MAX)
		pl_log(PL_LOG_WARNING, "bad sample record=%llu error=\"%s\"%s",
			(unsigned long long)index, text,
			f->progress->bad == BAD_LOGGED_MAX ? " (further ones are only counted)"
							   : "");
}

static int start(struct pl_dispatcher *d, struct pl_err *err)
{
	const struct pl_birth *b = d->birth;
	int r;

	d->plan = pl_plan_load(b->plan_fd, err);
	if (!d->plan)
		return -EINVAL;
	r = pl_listing_map(&d->listing, b->listing_fd, err);
	if (r < 0)
		return r;
	d->flow.progress = b->progress;
	d->flow.send = send_to_worker;
	d->flow.bad_sample = on_bad_sample;
	d->flow.owner = d;
	r = pl_flow_init(&d->flow, d->plan, &d->listing, b->arena, err);
	if (r == 0)
		r = pl_zsock_bind(&d->z, b->endpoint, err);
	if (r < 0)
		return r;
	r = sd_event_new(&d->loop);
	if (r >= 0)
		r = pl_zsource_create(&d->zsource, d->loop, &d->z, on_results, d);
	if (r >= 0)
		r = sd_event_add_io(d->loop, &d->control, b->control_fd, EPOLLIN, on_control, d);
	if (r >= 0)
		r = sd_event_add_defer(d->loop, &d->turn, on_turn, d);
	if (r >= 0)
		r = sd_event_source_set_enabled(d->turn, SD_EVENT_OFF);
	if (r >= 0) /* after everybody else: what others say also makes things go on */
		r = sd_event_source_set_priority(d->turn, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = sd_event_add_defer(d->loop, &d->cleaner, pl_clients_clean, d);
	if (r >= 0)
		r = sd_event_source_set_enabled(d->cleaner, SD_EVENT_OFF);
	if (r >= 0 && d->plan->sample_timeout_ns)
		r = sd_event_add_time(d->loop, &d->clock, CLOCK_MONOTONIC, 0, 1000, on_clock, d);
	if (r >= 0 && d->clock)
		r = sd_event_source_set_enabled(d->clock, SD_EVENT_OFF);
	return r < 0 ? pl_err_set(err, r, "no event loop: %s", strerror(-r)) : 0;
}

int pl_dispatcher_run(const struct pl_birth *birth)
{
	static struct pl_dispatcher d;
	struct pl_err err = {0};
	int r;

	pl_log_role("dispatcher %s", birth->name);
	d.birth = birth;
	birth->progress->dispatcher_pid = (uint32_t)getpid();
	r = start(&d, &err);
	if (r < 0) {
		struct pl_control c = {.kind = PL_CONTROL_FAILED, .status = r};

		snprintf(c.text, sizeof(c.text), "%.511s", err.text);
		pl_log(PL_LOG_ERROR, "can't start error=\"%s\"", err.text);
		(void)!pl_control_send(birth->control_fd, &c, -1);
		return EXIT_FAILURE;
	}
	d.flow.progress->n_workers = d.flow.n_workers;
	d.flow.progress->n_slots = d.flow.arena.n_slots;
	pl_dispatcher_tell(&d, &(struct pl_control){.kind = PL_CONTROL_HELLO});
	return sd_event_loop(d.loop) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
