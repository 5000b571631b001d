/* daemon/dispatcher.c - the dispatcher: one loop over the supervisor's word, the workers' results
 * and the clients' wishes. */
#include "daemon/birth.h"
#include "daemon/control.h"
#include "daemon/flow/flow.h"
#include "daemon/sys/log.h"
#include "daemon/sys/zsource.h"
#include "proto/frame.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#define RESULTS_A_TURN  64
#define CONTROLS_A_TURN 16
#define BAD_LOGGED_MAX  100
#define OVERDUE_SLICES  4 /* a deadline is looked at so many times in its length */

struct dispatcher {
	const struct pl_birth *birth;
	sd_event *loop;
	struct pl_plan *plan;
	struct pl_listing listing;
	struct pl_flow flow;
	struct pl_zsock z;
	struct pl_zsource *zsource;
	sd_event_source *control;
	sd_event_source *clock;   /* sample_timeout; off while nothing is in flight */
	sd_event_source *turn;    /* goes on with a long filter after everybody else had a turn */
	sd_event_source *cleaner; /* frees ended sessions between callbacks */
	struct pl_session *sessions;
	uint32_t n_sessions;
	bool has_worker;
	bool has_handed;
	bool is_leaving; /* a newer instance serves new opens: end with the last stream */
	uint64_t n_foreign;
};

static void tell(struct dispatcher *d, const struct pl_control *c)
{
	int r = pl_control_send(d->birth->control_fd, c, -1);

	if (r < 0 && r != -EAGAIN)
		sd_event_exit(d->loop, EXIT_FAILURE); /* the supervisor is gone, and so are we */
}

static void update_clock(struct dispatcher *d)
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
static void tell_ready(struct dispatcher *d)
{
	for (uint32_t w = 0; w < d->flow.n_workers && !d->has_worker; w++)
		if (d->flow.hand[w].is_ready) {
			d->has_worker = true;
			tell(d, &(struct pl_control){.kind = PL_CONTROL_READY});
		}
}

/* Something changed: send, hand out, and say so once it is the first time. */
static void go_on(struct dispatcher *d)
{
	uint64_t began = pl_now_ns();

	if (!d->has_worker)
		tell_ready(d);
	pl_deal(&d->flow);
	if (!d->has_handed && d->flow.progress->batches > 0) {
		d->has_handed = true;
		tell(d, &(struct pl_control){.kind = PL_CONTROL_HANDED});
	}
	if (d->flow.wants_turn)
		sd_event_source_set_enabled(d->turn, SD_EVENT_ONESHOT);
	if (d->clock && sd_event_source_get_enabled(d->clock, NULL) == 0)
		update_clock(d);
	d->flow.progress->dispatcher_busy_ns += pl_now_ns() - began;
}

static void ask_kill(struct dispatcher *d, uint32_t worker)
{
	const struct pl_hand *h = &d->flow.hand[worker];

	tell(d, &(struct pl_control){.kind = PL_CONTROL_KILL,
			.worker = worker,
			.generation = h->generation,
			.pid = h->pid});
}

static int on_clock(sd_event_source *source, uint64_t usec, void *context)
{
	struct dispatcher *d = context;
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
	go_on(context);
	return 0;
}

/* Sessions: opening */

static void fill_fields(struct dispatcher *d, struct pl_wire_welcome *w)
{
	w->n_fields = d->plan->n_results;
	for (int i = 0; i < d->plan->n_results; i++) {
		const struct pl_result_field *r = &d->plan->result[i];
		struct pl_wire_field *f = &w->field[i];

		snprintf(f->name, sizeof(f->name), "%s", r->name);
		f->kind = r->type.kind;
		f->dtype = r->type.dtype;
		f->rank = r->type.rank;
		memcpy(f->shape, r->type.shape, sizeof(f->shape));
		f->form = r->form;
	}
}

static void fill_fingerprint(struct dispatcher *d, uint8_t *out)
{
	uint32_t parts[6];

	memcpy(parts, d->plan->fingerprint, sizeof(parts));
	parts[2] = (uint32_t)(d->listing.head->hash ^ d->listing.head->hash >> 32);
	memcpy(out, parts, sizeof(parts));
}

static bool has_filter(const struct pl_step_list *list)
{
	for (int i = 0; i < list->n; i++) {
		if (strcmp(list->step[i].op->name, "filter") == 0)
			return true;
		for (int k = 0; k < list->step[i].n_lists; k++)
			if (has_filter(&list->step[i].list[k]))
				return true;
	}
	return false;
}

static int64_t batches_per_epoch(const struct dispatcher *d)
{
	struct pl_premain p = {.steps = (struct pl_steps *)(uintptr_t)&d->flow.pre_steps,
		.scratch = (struct pl_scratch *)(uintptr_t)&d->flow.scratch};
	const struct pl_layout *l = &d->plan->layout;
	uint64_t left = UINT64_MAX;

	for (int i = 0; i < d->plan->pre.n; i++)
		if (!d->plan->pre.step[i].op->order)
			return -1;
	if (has_filter(&d->plan->worker))
		return -1;
	if (d->flow.n_before > 0 || (d->plan->batch_at < 0 && d->plan->post.n > 0) ||
		d->plan->on_error == PL_ON_ERROR_SKIP)
		return -1;
	if (pl_premain_open(&p, d->plan, &d->listing, 0, NULL) == 0)
		left = pl_premain_left(&p);
	pl_premain_close(&p);
	if (left == UINT64_MAX)
		return -1;
	return (int64_t)((left + (l->drop_last ? 0 : (uint64_t)l->batch_size - 1)) /
			 (uint64_t)l->batch_size);
}

static void welcome(struct dispatcher *d, struct pl_session *s, const struct pl_token *at)
{
	struct pl_wire_welcome *w = &d->flow.wire.welcome;
	const struct pl_arena *a = &d->flow.arena;

	memset(w, 0, sizeof(*w));
	d->flow.wire.kind = PL_WIRE_WELCOME;
	w->version = PL_PROTOCOL_VERSION;
	w->arena_bytes = a->bytes;
	w->birth = d->birth->number;
	fill_fields(d, w);
	fill_fingerprint(d, w->fingerprint);
	w->classes_offset = a->names_offset;
	w->classes_bytes = a->names_bytes;
	w->n_classes = d->listing.head->n_classes;
	w->batch_size = d->plan->layout.has_batch ? (uint64_t)d->plan->layout.batch_size : 0;
	w->epochs = d->plan->epochs;
	w->token_bytes = pl_token_pack(at, w->token);
	w->prefetch = (uint32_t)d->plan->post_prefetch;
	snprintf(w->pipeline, sizeof(w->pipeline), "%s", d->plan->name);
	w->records = (int64_t)d->listing.head->n_records;
	w->batches_per_epoch = batches_per_epoch(d);
	w->daemon_pid = d->birth->supervisor_pid;
	w->dispatcher_pid = (uint32_t)getpid();
	w->generations_offset = a->generations_offset;
	w->n_slots = a->n_slots;
	pl_session_send(s, &d->flow.wire, d->birth->arena_fd);
}

/* 0, or -EINVAL with err naming the part of the pipeline that isn't what the token was made with.
 */
static int check_fingerprint(struct dispatcher *d, const struct pl_token *t, struct pl_err *err)
{
	static const char *const part[] = {"the seed", "the source's declaration",
		"the source's records", "pre_main", "workers", "post_main"};
	uint8_t mine[PL_FINGERPRINT_BYTES];
	char differs[256] = "";

	fill_fingerprint(d, mine);
	for (size_t i = 0; i < PL_ARRAY_LEN(part); i++)
		if (memcmp(mine + i * 4, t->fingerprint + i * 4, 4)) {
			size_t at = strlen(differs);

			snprintf(differs + at, sizeof(differs) - at, "%s%s", at ? ", " : "",
				part[i]);
		}
	if (!differs[0])
		return 0;
	return pl_err_set(err, -EINVAL,
		"this position is of another pipeline: what differs from the token's is %s (the "
		"listing has %llu records now)",
		differs, (unsigned long long)d->listing.head->n_records);
}

static int read_position(struct dispatcher *d, const struct pl_wire_open *open, struct pl_token *t,
	struct pl_err *err)
{
	int r;

	memset(t, 0, sizeof(*t));
	fill_fingerprint(d, t->fingerprint);
	if (open->token_bytes == 0) {
		t->at.epoch = open->epoch > 0 ? (uint64_t)open->epoch : 0;
		return 0;
	}
	r = pl_token_unpack(t, open->token, open->token_bytes, err);
	if (r == 0)
		r = check_fingerprint(d, t, err);
	if (r == 0 && t->mode != PL_PRIVATE)
		r = pl_err_set(
			err, -EINVAL, "this position is of a group, not of a private stream");
	return r;
}

static int on_open(struct pl_session *s, const struct pl_wire_open *open)
{
	struct dispatcher *d = s->owner;
	struct pl_err err = {0};
	struct pl_token token;
	int r = 0;

	if (open->mode != PL_PRIVATE)
		r = pl_err_set(&err, -EOPNOTSUPP,
			"mode split, share and broadcast are not in this release: open the "
			"pipeline privately");
	if (r == 0 && d->plan->max_clients > 0 && (int64_t)d->n_sessions > d->plan->max_clients)
		r = pl_err_set(&err, -EUSERS, "serve.clients: %lld are connected already",
			(long long)d->plan->max_clients);
	if (r == 0)
		r = read_position(d, open, &token, &err);
	if (r == 0)
		r = pl_stream_open(&s->stream, &d->flow, s, &token, &err);
	if (r < 0) {
		pl_session_fail(s, -r, 1, "%s", err.text);
		return r;
	}
	pl_log(PL_LOG_INFO, "client opened pid=%u uid=%u name=%s", s->pid, s->uid, s->name);
	welcome(d, s, &token);
	return 0;
}

/* Sessions: the rest of their life */

static void on_next(struct pl_session *s)
{
	go_on(s->owner);
}

static void on_released(struct pl_session *s, uint32_t slot)
{
	struct dispatcher *d = s->owner;

	pl_slot_release(&d->flow.slots, slot, s->stream ? &s->stream->quota : NULL);
}

static void on_describe(struct pl_session *s, const struct pl_wire_describe *q)
{
	struct dispatcher *d = s->owner;
	struct pl_wire *w = &d->flow.wire;
	const struct pl_source_use *source = &d->plan->source;
	size_t used = 0;

	w->kind = PL_WIRE_DESCRIBED;
	w->described.n = 0;
	for (int i = 0; i < q->n && used + 2 < sizeof(w->described.text); i++) {
		char *text = w->described.text + used;

		text[0] = '\0';
		if (q->index[i] < d->listing.head->n_records)
			source->op->describe(source->params, &d->listing, q->index[i], text,
				pl_min_u64(4000, sizeof(w->described.text) - used));
		used += strlen(text) + 1;
		w->described.name[i] = text;
		w->described.source[i] = (char *)(uintptr_t)source->name;
		w->described.n++;
	}
	pl_session_send(s, w, -1);
}

static void on_why(struct pl_session *s, char *text, size_t n)
{
	pl_stream_why(s->stream, text, n);
}

static void tell_clients(struct dispatcher *d)
{
	d->flow.progress->n_clients = d->n_sessions;
	tell(d, &(struct pl_control){.kind = PL_CONTROL_CLIENTS, .serial = d->n_sessions});
}

static void on_left(struct pl_session *s)
{
	struct dispatcher *d = s->owner;

	sd_event_source_set_enabled(d->cleaner, SD_EVENT_ONESHOT);
}

/* Streams of leaving clients and ended sessions go here, when no callback holds them any more. */
static int on_clean(sd_event_source *source, void *context)
{
	struct dispatcher *d = context;
	struct pl_session **at = &d->sessions;

	while (*at) {
		struct pl_session *s = *at;

		if (s->state >= PL_SESSION_LEAVING) {
			pl_stream_close(s->stream);
			s->stream = NULL;
		}
		if (s->state != PL_SESSION_ENDED) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		if (d->flow.tracing == s)
			d->flow.tracing = NULL;
		pl_session_free(s);
		d->n_sessions--;
	}
	tell_clients(d);
	go_on(d);
	if (d->is_leaving && d->n_sessions == 0)
		sd_event_exit(d->loop, EXIT_SUCCESS);
	return 0;
}

static const struct pl_session_events session_events = {
	.open = on_open,
	.next = on_next,
	.released = on_released,
	.describe = on_describe,
	.why = on_why,
	.left = on_left,
};

/* The supervisor's word */

static void on_client(struct dispatcher *d, const struct pl_control *c, int *fd)
{
	struct pl_session *s;

	if (*fd < 0)
		return;
	if (pl_session_create(&s, d->loop, pl_steal_fd(fd), &session_events, d) < 0) {
		pl_log(PL_LOG_WARNING, "client dropped pid=%u reason=\"no memory\"", c->pid);
		tell_clients(d);
		return;
	}
	s->next = d->sessions;
	d->sessions = s;
	d->n_sessions++;
	tell_clients(d);
}

static void on_born(struct dispatcher *d, const struct pl_control *c, int *fd)
{
	pl_hand_born(&d->flow, c->worker, c->generation, c->pid);
}

static void on_reaped(struct dispatcher *d, const struct pl_control *c, int *fd)
{
	if (c->worker < PL_WORKERS_MAX)
		pl_hand_reaped(&d->flow, &(struct pl_death){c->worker, c->generation, c->status,
						 c->shard, c->record});
}

static void on_ping(struct dispatcher *d, const struct pl_control *c, int *fd)
{
	d->flow.progress->heartbeat = c->serial;
	tell(d, &(struct pl_control){.kind = PL_CONTROL_PONG, .serial = c->serial});
}

static void on_stop(struct dispatcher *d, const struct pl_control *c, int *fd)
{
	for (struct pl_session *s = d->sessions; s; s = s->next)
		if (pl_session_is_open(s))
			pl_session_fail(s, ECONNRESET, 69, "%s",
				c->text[0] ? c->text : "the daemon is stopping");
	sd_event_exit(d->loop, EXIT_SUCCESS);
}

static void on_renew(struct dispatcher *d, const struct pl_control *c, int *fd)
{
	d->is_leaving = true;
	if (d->n_sessions == 0)
		sd_event_exit(d->loop, EXIT_SUCCESS);
}

static const struct {
	enum pl_control_kind kind;
	void (*handle)(struct dispatcher *d, const struct pl_control *c, int *fd);
} control_handlers[] = {
	{PL_CONTROL_CLIENT, on_client},
	{PL_CONTROL_BORN, on_born},
	{PL_CONTROL_REAPED, on_reaped},
	{PL_CONTROL_PING, on_ping},
	{PL_CONTROL_STOP, on_stop},
	{PL_CONTROL_RENEW, on_renew},
};

static int on_control(sd_event_source *source, int socket, uint32_t events, void *context)
{
	struct dispatcher *d = context;
	struct pl_control c;

	for (int i = 0; i < CONTROLS_A_TURN; i++) {
		PL_AUTO_CLOSE int fd = -1;
		int r = pl_control_receive(socket, &c, &fd);

		if (r == -EAGAIN)
			break;
		if (r == -EPROTO) { /* its descriptor found no room: that client alone is lost */
			pl_log(PL_LOG_WARNING,
				"client dropped reason=\"out of descriptors: raise LimitNOFILE\"");
			tell_clients(d);
			continue;
		}
		if (r != 0)
			return sd_event_exit(d->loop, EXIT_FAILURE);
		for (size_t k = 0; k < PL_ARRAY_LEN(control_handlers); k++)
			if (control_handlers[k].kind == c.kind)
				control_handlers[k].handle(d, &c, &fd);
	}
	go_on(d);
	return 0;
}

/* The workers' results */

/* Of one of ours: its shard can't be taken from it any more, a replacement does it again. Others
 * are counted. */
static void on_bad_message(struct dispatcher *d, const struct pl_zmessage *m)
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
	struct dispatcher *d = context;

	for (int i = 0; i < RESULTS_A_TURN; i++) {
		struct pl_zmessage m;

		if (pl_zsock_receive(&d->z, &m, false) < 0)
			break;
		if (!pl_hand_message(&d->flow, m.worker, m.generation, m.pid, m.data, m.size))
			on_bad_message(d, &m);
		pl_zsock_message_close(&m);
	}
	go_on(d);
}

static int send_to_worker(
	struct pl_flow *f, uint32_t worker, uint32_t generation, const void *bytes, size_t n)
{
	struct dispatcher *d = f->owner;

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

static int start(struct dispatcher *d, struct pl_err *err)
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
		r = sd_event_add_defer(d->loop, &d->cleaner, on_clean, d);
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
	static struct dispatcher d;
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
	tell(&d, &(struct pl_control){.kind = PL_CONTROL_HELLO});
	return sd_event_loop(d.loop) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
