/* daemon/clients.c - the dispatcher's clients: welcomed, told, and let go. */
#include "daemon/dispatcher.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/sys/log.h"

static void fill_fields(struct pl_dispatcher *d, struct pl_wire_welcome *w)
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

static void fill_fingerprint(struct pl_dispatcher *d, uint8_t *out)
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

static int64_t batches_per_epoch(struct pl_dispatcher *d)
{
	struct pl_premain p = {0};
	const struct pl_layout *l = &d->plan->layout;
	uint64_t left = UINT64_MAX;

	for (int i = 0; i < d->plan->pre.n; i++)
		if (!pl_step_is_order(&d->plan->pre.step[i]))
			return -1;
	if (has_filter(&d->plan->worker))
		return -1;
	if (d->flow.n_before > 0 || (d->plan->batch_at < 0 && d->plan->post.n > 0) ||
		d->plan->on_error == PL_ON_ERROR_SKIP)
		return -1;
	if (pl_flow_premain(&d->flow, &p, 0, NULL) == 0)
		left = pl_premain_left(&p);
	pl_premain_close(&p);
	if (left == UINT64_MAX)
		return -1;
	return (int64_t)((left + (l->drop_last ? 0 : (uint64_t)l->batch_size - 1)) /
			 (uint64_t)l->batch_size);
}

static void welcome(struct pl_dispatcher *d, struct pl_session *s, const struct pl_token *at)
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
	w->records = (int64_t)pl_source_epoch(d->plan->source.op, &d->listing);
	w->batches_per_epoch = batches_per_epoch(d);
	w->daemon_pid = d->birth->supervisor_pid;
	w->dispatcher_pid = (uint32_t)getpid();
	w->generations_offset = a->generations_offset;
	w->n_slots = a->n_slots;
	pl_session_send(s, &d->flow.wire, d->birth->arena_fd);
}

/* 0, or -EINVAL with err naming the part of the pipeline that isn't what the token was made with.
 */
static int check_fingerprint(struct pl_dispatcher *d, const struct pl_token *t, struct pl_err *err)
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

static int read_position(struct pl_dispatcher *d, const struct pl_wire_open *open,
	struct pl_token *t, struct pl_err *err)
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
	struct pl_dispatcher *d = s->owner;
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
	pl_dispatcher_go_on(s->owner);
}

static void on_released(struct pl_session *s, uint32_t slot)
{
	struct pl_dispatcher *d = s->owner;

	pl_slot_release(&d->flow.slots, slot, s->stream ? &s->stream->quota : NULL);
}

static void on_describe(struct pl_session *s, const struct pl_wire_describe *q)
{
	struct pl_dispatcher *d = s->owner;
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

void pl_clients_tell(struct pl_dispatcher *d)
{
	d->flow.progress->n_clients = d->n_sessions;
	pl_dispatcher_tell(
		d, &(struct pl_control){.kind = PL_CONTROL_CLIENTS, .serial = d->n_sessions});
}

static void on_left(struct pl_session *s)
{
	struct pl_dispatcher *d = s->owner;

	sd_event_source_set_enabled(d->cleaner, SD_EVENT_ONESHOT);
}

/* Streams of leaving clients and ended sessions go here, when no callback holds them any more. */
int pl_clients_clean(sd_event_source *source, void *context)
{
	struct pl_dispatcher *d = context;
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
	pl_clients_tell(d);
	pl_dispatcher_go_on(d);
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

void pl_clients_add(struct pl_dispatcher *d, const struct pl_control *c, int *fd)
{
	struct pl_session *s;

	if (*fd < 0)
		return;
	if (pl_session_create(&s, d->loop, pl_steal_fd(fd), &session_events, d) < 0) {
		pl_log(PL_LOG_WARNING, "client dropped pid=%u reason=\"no memory\"", c->pid);
		pl_clients_tell(d);
		return;
	}
	s->next = d->sessions;
	d->sessions = s;
	d->n_sessions++;
	pl_clients_tell(d);
}

void pl_clients_stop(struct pl_dispatcher *d, const char *text)
{
	for (struct pl_session *s = d->sessions; s; s = s->next)
		if (pl_session_is_open(s))
			pl_session_fail(s, ECONNRESET, 69, "%s", text);
}
