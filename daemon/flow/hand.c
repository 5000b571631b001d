/* daemon/flow/hand.c - the workers as the dispatcher sees them: births, results, deaths and blame.
 */
#include "daemon/flow/flow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

/* SEMANTICS C9: a record is left alone after two deaths that are surely its own, or five kills by
 * somebody else. */
#define BLAME_SURE     5
#define BLAME_KILL     2
#define BLAME_LIMIT    10
#define AVERAGE_WEIGHT 8

void pl_hand_born(struct pl_flow *f, uint32_t worker, uint32_t generation, uint32_t pid)
{
	struct pl_hand *h = &f->hand[worker];

	if (worker >= PL_WORKERS_MAX)
		return;
	if (worker >= f->n_workers)
		f->n_workers = worker + 1;
	h->generation = generation;
	h->pid = pid;
	h->is_ready = h->hello_generation == generation && h->hello_pid == pid;
}

/* A hello may overtake the supervisor's word that the worker was born. */
static bool on_hello(struct pl_flow *f, const struct pl_hello_message *m, uint32_t pid)
{
	struct pl_hand *h = &f->hand[m->worker];

	if (pid && m->pid != pid)
		return false;
	h->hello_generation = m->generation;
	h->hello_pid = m->pid;
	if (h->generation == m->generation && h->pid == m->pid)
		h->is_ready = true;
	return true;
}

static struct pl_shard *take_out(struct pl_hand *h, uint64_t id)
{
	for (struct pl_shard **at = &h->out; *at; at = &(*at)->sibling)
		if ((*at)->id == id) {
			struct pl_shard *s = *at;

			*at = s->sibling;
			s->sibling = NULL;
			h->n_out--;
			return s;
		}
	return NULL;
}

static const struct pl_shard *find_out(const struct pl_hand *h, uint64_t id)
{
	const struct pl_shard *s = h->out;

	while (s && s->id != id)
		s = s->sibling;
	return s;
}

/* Every text's head and bytes lie inside. */
static bool are_texts_whole(const char *texts, size_t n, uint32_t n_texts)
{
	struct pl_reader r = {texts, n};

	for (uint32_t i = 0; i < n_texts; i++) {
		const struct pl_result_text *head = pl_reader_take(&r, sizeof(*head));

		if (!head || !pl_reader_take(&r, pl_align_up(head->n, 8)))
			return false;
	}
	return r.left == 0;
}

/* The lengths of one delivered value are what the plan allows, and it fits where it lies. */
static bool is_shape_sane(const struct pl_delivery *d, const int64_t *shape)
{
	size_t bytes = pl_dtype_size(d->type.dtype);

	if (shape[0] != d->type.rank)
		return false;
	for (int i = 0; i < d->type.rank; i++) {
		int64_t n = shape[1 + i];

		if (n < 0 || (d->type.shape[i] >= 0 && d->type.shape[i] != n) ||
			!pl_size_mul(bytes, (size_t)n, &bytes))
			return false;
	}
	return bytes <= (d->form == PL_FORM_SINGLE ? d->row_bytes : d->cell_bytes);
}

/* Workers read hostile files: what they say of lengths is checked before anything is done by it. */
static bool are_shapes_sane(const struct pl_flow *f, const struct pl_shard *s,
	const uint8_t *outcome, const int64_t *shape)
{
	const struct pl_layout *l = &f->plan->layout;

	for (uint32_t i = 0; f->n_varying && i < s->n; i++)
		for (int k = 0; k < l->n_deliveries; k++) {
			if (l->delivery[k].form == PL_FORM_FIXED)
				continue;
			if ((!outcome || outcome[i] == PL_OUTCOME_GOOD) &&
				!is_shape_sane(&l->delivery[k], shape))
				return false;
			shape += PL_SHAPE_WORDS;
		}
	return true;
}

struct parsed {
	const struct pl_result_message *head;
	const uint8_t *outcome;
	const char *rest; /* shapes and texts */
	size_t rest_bytes;
	size_t shapes_bytes;
};

static bool parse_result(const struct pl_flow *f, const struct pl_shard *s, const void *bytes,
	size_t n, struct parsed *p)
{
	struct pl_reader r = {bytes, n};

	memset(p, 0, sizeof(*p));
	p->head = pl_reader_take(&r, sizeof(*p->head));
	if (!p->head || p->head->n != s->n || p->head->has_shapes != (f->n_varying > 0))
		return false;
	if (!p->head->all_good && !(p->outcome = pl_reader_take(&r, pl_align_up(s->n, 8))))
		return false;
	for (uint32_t i = 0; p->outcome && i < s->n; i++)
		if (p->outcome[i] > PL_OUTCOME_SKIPPED)
			return false;
	p->rest = r.at;
	p->rest_bytes = r.left;
	p->shapes_bytes = (size_t)s->n * (size_t)f->n_varying * PL_SHAPE_WORDS * sizeof(int64_t);
	return r.left >= p->shapes_bytes &&
	       are_shapes_sane(f, s, p->outcome, (const int64_t *)(const void *)p->rest) &&
	       are_texts_whole(r.at + p->shapes_bytes, r.left - p->shapes_bytes, p->head->n_texts);
}

/* Keeps what gather needs once it is this shard's turn. */
static int keep_result(struct pl_shard *s, const struct parsed *p)
{
	s->all_good = p->head->all_good;
	if (p->outcome)
		memcpy(s->outcome, p->outcome, s->n);
	if (p->rest_bytes > s->result_room) {
		char *more = realloc(s->result, p->rest_bytes);

		if (!more)
			return -ENOMEM;
		s->result = more;
		s->result_room = p->rest_bytes;
	}
	if (p->rest_bytes)
		memcpy(s->result, p->rest, p->rest_bytes);
	s->shapes = (const int64_t *)(const void *)s->result;
	s->texts = s->result + p->shapes_bytes;
	s->texts_bytes = p->rest_bytes - p->shapes_bytes;
	return 0;
}

static bool on_result(struct pl_flow *f, uint32_t worker, const void *bytes, size_t n)
{
	struct pl_hand *h = &f->hand[worker];
	const struct pl_result_message *head = bytes;
	const struct pl_shard *sent = find_out(h, head->shard);
	struct pl_shard *s;
	struct parsed p;

	if (!sent || !parse_result(f, sent, bytes, n, &p) ||
		keep_result((struct pl_shard *)(uintptr_t)sent, &p) < 0)
		return false;
	s = take_out(h, head->shard);
	s->state = PL_SHARD_BACK;
	h->heard_ns = pl_now_coarse_ns();
	f->ns_per_sample =
		f->ns_per_sample
			? (f->ns_per_sample * (AVERAGE_WEIGHT - 1) + p.head->busy_ns / s->n) /
					  AVERAGE_WEIGHT +
				  1
			: p.head->busy_ns / s->n + 1;
	if (s->stream)
		pl_gather(s->stream);
	else
		pl_shard_discard(f, s);
	return true;
}

bool pl_hand_message(struct pl_flow *f, uint32_t worker, uint32_t generation, uint32_t pid,
	const void *bytes, size_t n)
{
	const struct pl_hello_message *hello = bytes;
	const struct pl_result_message *result = bytes;

	if (worker >= PL_WORKERS_MAX || n < sizeof(uint32_t))
		return false;
	if (hello->kind == PL_MESSAGE_HELLO)
		return n == sizeof(*hello) && hello->worker == worker &&
		       hello->generation == generation && on_hello(f, hello, pid);
	if (hello->kind != PL_MESSAGE_RESULT || n < sizeof(*result))
		return false;
	if (generation != f->hand[worker].generation || !f->hand[worker].is_ready ||
		(pid && pid != f->hand[worker].pid))
		return true; /* an old life's result: its shard was dealt again */
	return on_result(f, worker, bytes, n);
}

static bool is_blaming(int status)
{
	switch (WTERMSIG(status)) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGABRT:
	case SIGSYS:
		return true;
	}
	return false;
}

static void leave_alone(
	struct pl_flow *f, struct pl_shard *s, uint32_t i, int signal, bool is_overdue)
{
	char text[256];

	if (pl_shard_flags(s, &s->skip) < 0)
		return;
	s->skip[i] = 1;
	if (is_overdue)
		snprintf(text, sizeof(text), "it took longer than sample_timeout (%.1f s), twice",
			(double)f->plan->sample_timeout_ns / 1e9);
	else
		snprintf(text, sizeof(text),
			"a worker died by signal %d (%s) again and again with this record in hand",
			signal, strsignal(signal));
	free(s->blame_text);
	s->blame_text = strdup(text);
}

/* The record that the dead worker had in hand takes the blame. */
static void blame(struct pl_flow *f, struct pl_shard *s, const struct pl_death *death)
{
	bool is_overdue = f->hand[death->worker].kill_asked == death->generation;

	if (!WIFSIGNALED(death->status) || pl_shard_flags(s, &s->blame) < 0)
		return;
	for (uint32_t i = s->gathered; i < s->n; i++) {
		if (pl_shard_index(s, i) != death->record || (s->skip && s->skip[i]))
			continue;
		s->blame[i] = (uint8_t)(s->blame[i] + (is_overdue || is_blaming(death->status)
								      ? BLAME_SURE
								      : BLAME_KILL));
		if (s->blame[i] >= BLAME_LIMIT)
			leave_alone(f, s, i, WTERMSIG(death->status), is_overdue);
		return;
	}
}

void pl_hand_reaped(struct pl_flow *f, const struct pl_death *death)
{
	struct pl_hand *h = &f->hand[death->worker];

	if (death->worker >= PL_WORKERS_MAX || death->generation != h->generation)
		return;
	h->is_ready = false;
	h->n_out = 0;
	while (h->out) {
		struct pl_shard *s = h->out;

		h->out = s->sibling;
		s->state = PL_SHARD_WAITING;
		if (!s->stream) {
			pl_shard_discard(f, s);
			continue;
		}
		if (death->shard == s->id)
			blame(f, s, death);
		s->sibling = h->again; /* out is newest first, so again ends oldest first */
		h->again = s;
	}
}

int pl_hand_overdue(struct pl_flow *f, uint64_t now)
{
	uint64_t most = (uint64_t)f->plan->sample_timeout_ns;

	for (uint32_t w = 0; most && w < f->n_workers; w++) {
		const struct pl_progress_worker *p = &f->progress->worker[w];
		struct pl_hand *h = &f->hand[w];
		uint64_t record = atomic_load_explicit(&p->record, memory_order_acquire),
			 since = p->since_ns;

		if (!h->is_ready || h->n_out == 0 || h->kill_asked == h->generation)
			continue;
		if (record == PL_PROGRESS_IDLE) /* stopped, or hung before its first sample */
			since = pl_max_u64(since, h->heard_ns);
		if (now > since && now - since > most) {
			h->kill_asked = h->generation;
			return (int)w;
		}
	}
	return -1;
}
