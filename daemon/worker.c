/* daemon/worker.c - a worker: receives shards, reads and steps their records into rows and cells,
 * reports what became of them. */
#include "daemon/worker.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/flow/deliver.h"
#include "daemon/sys/log.h"

/* What one sample may take while it is decoded and transformed. */
#define SCRATCH_MAX  (2ull << 30)
#define NAME_MAX_LEN 1024

/* One shard as it came, with its lists where the message has them. */
struct order {
	const struct pl_shard_message *head;
	const uint64_t *index;
	const uint32_t *cell;
	const uint8_t *skip;
};

static uint64_t index_of(const struct order *o, uint32_t i)
{
	return o->index ? o->index[i] : o->head->first + i;
}

/* Appends bytes and zeros up to a multiple of 8. 0 or -1. */
static int append_padded(struct pl_message *m, const void *bytes, size_t n)
{
	static const char zeros[8];

	return pl_message_append(m, bytes, n) || pl_message_append(m, zeros, (8 - n % 8) % 8) ? -1
											      : 0;
}

static void add_text(struct pl_worker *w, const struct pl_result_text *head, const char *text)
{
	if (pl_message_append(&w->texts, head, sizeof(*head)) == 0 &&
		append_padded(&w->texts, text, head->n) == 0)
		w->n_texts++;
}

static void on_trace(void *context, const char *label, const char *value)
{
	struct pl_worker *w = context;
	struct pl_result_text head = {.record = w->at, .is_trace = 1};
	char line[1024];
	int n = snprintf(line, sizeof(line), "%s %s %d", label, value, (int)getpid());

	head.n = (uint32_t)pl_min_u64((uint64_t)n, sizeof(line) - 1);
	add_text(w, &head, line);
}

/* "photos/x.jpg: step 'decode_image' (train.yaml:14:9): truncated JPEG": place, step, reason. */
static void report_bad(
	struct pl_worker *w, uint32_t record, const struct pl_step *step, const struct pl_err *err)
{
	const char *slash = strrchr(w->plan->file, '/');
	char quoted[NAME_MAX_LEN], line[4096];
	struct pl_result_text head = {
		.record = record,
		.step = (uint16_t)(step ? step->id : PL_TEXT_STEP_READ),
		.code = (uint32_t)-err->code,
	};
	int n;

	pl_record_quote(w->plan, &w->listing, w->sample.where.key.index, quoted, sizeof(quoted));
	if (step)
		n = snprintf(line, sizeof(line), "%s: step '%s' (%s:%d:%d): %s", quoted,
			step->op->name, slash ? slash + 1 : w->plan->file, step->at.line,
			step->at.column, err->text);
	else
		n = snprintf(line, sizeof(line), "%s: %s", quoted, err->text);
	head.n = (uint32_t)pl_min_u64((uint64_t)n, sizeof(line) - 1);
	add_text(w, &head, line);
}

static int run_record(struct pl_worker *w, const struct pl_target *target, int64_t *shapes,
	const struct pl_step **failed, struct pl_err *err)
{
	const struct pl_source_use *source = &w->plan->source;
	struct pl_sample *sample = &w->sample;
	char name[NAME_MAX_LEN];
	int r;

	sample->where.name = "";
	if (w->plan->key_field >= 0) {
		pl_source_key(source->op, source->params, &w->listing, sample->where.key.index,
			name, sizeof(name));
		sample->where.name = name;
	}
	pl_deliver_prepare(&w->plan->layout, target, sample);
	r = source->op->read(source->params, w->source_state, &w->listing, sample->where.key.index,
		source->field, false, sample, err);
	if (r < 0)
		return r;
	pl_steps_identify(w->plan, sample);
	r = pl_steps_run(&w->steps, &w->plan->worker, sample, failed, err);
	if (r != 0)
		return r;
	*failed = NULL;
	return pl_deliver_sample(w->plan, target, sample, shapes, err);
}

static enum pl_outcome do_record(
	struct pl_worker *w, const struct order *o, uint32_t i, const struct pl_target *target)
{
	const struct pl_step *failed = NULL;
	struct pl_err err = {0};
	int r;

	w->sample.where.key.index = index_of(o, i);
	atomic_store_explicit(&w->progress->step, PL_TEXT_STEP_READ, memory_order_relaxed);
	atomic_store_explicit(&w->progress->since_ns, pl_now_coarse_ns(), memory_order_relaxed);
	/* last: whoever sees this record sees its own beginning */
	atomic_store_explicit(
		&w->progress->record, w->sample.where.key.index, memory_order_release);
	pl_steps_begin(&w->steps);
	w->at = i;
	pl_scratch_reset(&w->scratch);
	r = run_record(w, target, w->shapes + (size_t)i * (size_t)w->n_varying * PL_SHAPE_WORDS,
		&failed, &err);
	w->progress->samples++;
	if (r < 0)
		report_bad(w, i, failed, &err);
	return r < 0 ? PL_OUTCOME_BAD : r == PL_OP_DROP ? PL_OUTCOME_DROPPED : PL_OUTCOME_GOOD;
}

static void do_shard(struct pl_worker *w, const struct order *o)
{
	const struct pl_shard_message *m = o->head;
	uint32_t extent = 0, within = 0;

	w->sample.where.key.seed = m->seed;
	w->sample.where.key.epoch = m->epoch;
	w->steps.trace = m->wants_trace ? on_trace : NULL;
	for (uint32_t i = 0; i < m->n; i++) {
		struct pl_target target = {0};

		if (m->n_extents) {
			const struct pl_extent *e = &m->extent[extent];

			target.slot = pl_arena_slot(&w->arena, e->slot);
			target.row = e->row + within;
			if (++within == e->n) {
				within = 0;
				extent++;
			}
		}
		if (o->cell && o->cell[i] != PL_NO_CELL)
			target.cell = pl_arena_cell(&w->arena, o->cell[i]);
		w->outcome[i] =
			o->skip && o->skip[i] ? PL_OUTCOME_SKIPPED : do_record(w, o, i, &target);
	}
	atomic_store_explicit(&w->progress->record, PL_PROGRESS_IDLE, memory_order_relaxed);
}

static int send_result(struct pl_worker *w, const struct order *o, uint64_t busy_ns)
{
	uint32_t n = o->head->n;
	struct pl_result_message head = {
		.kind = PL_MESSAGE_RESULT,
		.worker = w->number,
		.generation = w->generation,
		.n = n,
		.shard = o->head->shard,
		.busy_ns = busy_ns,
		.n_texts = w->n_texts,
		.all_good = true,
		.has_shapes = w->n_varying > 0,
	};

	for (uint32_t i = 0; i < n && head.all_good; i++)
		head.all_good = w->outcome[i] == PL_OUTCOME_GOOD;
	w->result.used = 0;
	if (pl_message_append(&w->result, &head, sizeof(head)))
		return -ENOMEM;
	if (!head.all_good && append_padded(&w->result, w->outcome, n))
		return -ENOMEM;
	if (head.has_shapes &&
		pl_message_append(&w->result, w->shapes,
			(size_t)n * (size_t)w->n_varying * PL_SHAPE_WORDS * sizeof(int64_t)))
		return -ENOMEM;
	if (pl_message_append(&w->result, w->texts.data, w->texts.used))
		return -ENOMEM;
	return pl_zsock_send(&w->z, w->result.data, w->result.used);
}

/* The dispatcher is trusted no more than needed: whatever doesn't fit ends this worker, which is
 * then reborn. */
static bool parse_order(const struct pl_worker *w, const struct pl_zmessage *m, struct order *o)
{
	struct pl_reader r = {m->data, m->size};
	uint64_t rows = 0;

	memset(o, 0, sizeof(*o));
	o->head = pl_reader_take(&r, sizeof(*o->head));
	if (!o->head || o->head->kind != PL_MESSAGE_SHARD || o->head->n == 0 ||
		o->head->n > PL_SHARD_MAX || o->head->n_extents > PL_EXTENTS_MAX)
		return false;
	for (uint32_t i = 0; i < o->head->n_extents; i++) {
		const struct pl_extent *e = &o->head->extent[i];

		if (e->slot >= w->arena.n_slots || e->n == 0 ||
			(uint64_t)e->row + e->n > (uint64_t)w->plan->layout.batch_size)
			return false;
		rows += e->n;
	}
	if (o->head->n_extents ? rows != o->head->n : !o->head->has_cells)
		return false;
	if (o->head->index_form == PL_INDEX_LIST &&
		!(o->index = pl_reader_take(&r, o->head->n * sizeof(uint64_t))))
		return false;
	if (o->head->has_cells && !(o->cell = pl_reader_take(&r, o->head->n * sizeof(uint32_t))))
		return false;
	if (o->head->has_skips && !(o->skip = pl_reader_take(&r, o->head->n)))
		return false;
	for (uint32_t i = 0; i < o->head->n; i++)
		if (index_of(o, i) >= w->listing.head->n_records ||
			(o->cell && o->cell[i] >= w->arena.n_cells && o->cell[i] != PL_NO_CELL))
			return false;
	return true;
}

static int serve_shard(struct pl_worker *w, const struct pl_zmessage *m)
{
	uint64_t began = pl_now_ns(), busy;
	struct order o;

	if (!parse_order(w, m, &o)) {
		pl_log(PL_LOG_ERROR, "malformed shard bytes=%zu", m->size);
		return -EBADMSG;
	}
	atomic_store_explicit(&w->progress->shard, o.head->shard, memory_order_relaxed);
	w->texts.used = 0;
	w->n_texts = 0;
	do_shard(w, &o);
	busy = pl_now_ns() - began;
	w->progress->busy_ns += busy;
	atomic_store_explicit(&w->progress->shard, PL_PROGRESS_IDLE, memory_order_relaxed);
	return send_result(w, &o, busy);
}

static int load(struct pl_worker *w, struct pl_err *err)
{
	const struct pl_birth *b = w->birth;
	const struct pl_source_use *source;
	int r;

	w->plan = pl_plan_load(b->plan_fd, err);
	if (!w->plan)
		return -EINVAL;
	source = &w->plan->source;
	r = pl_listing_map(&w->listing, b->listing_fd, err);
	if (r == 0)
		r = pl_arena_cut_for(&w->arena, b->arena, w->plan, &w->listing, err);
	if (r == 0 && source->op->open)
		r = source->op->open(source->params, &w->listing, &w->source_state, err);
	if (r < 0)
		return r;
	w->steps.plan = w->plan;
	w->steps.ns = w->progress->step_ns;
	w->steps.count = w->progress->step_count;
	w->steps.now = &w->progress->step;
	w->steps.trace_context = w;
	return pl_steps_prepare(&w->steps, &w->plan->worker, err);
}

static int prepare(struct pl_worker *w, struct pl_err *err)
{
	int r = load(w, err);

	if (r < 0)
		return r;
	pl_scratch_init(&w->scratch, SCRATCH_MAX);
	w->sample.scratch = &w->scratch;
	w->sample.where.source = w->plan->source.name;
	w->sample.source_rows = w->plan->source.rows;
	w->n_varying = pl_deliver_n_varying(&w->plan->layout);
	w->shapes = calloc((size_t)PL_SHARD_MAX * (size_t)(w->n_varying ? w->n_varying : 1),
		PL_SHAPE_WORDS * sizeof(int64_t));
	if (!w->shapes)
		return pl_err_set(err, -ENOMEM, "out of memory");
	return pl_zsock_connect(&w->z, w->birth->endpoint, w->number, w->generation, err);
}

int pl_worker_run(const struct pl_birth *birth, uint32_t number, uint32_t generation)
{
	static struct pl_worker w;
	struct pl_hello_message hello = {PL_MESSAGE_HELLO, number, generation, (uint32_t)getpid()};
	struct pl_err err = {0};
	int r;

	pl_log_role("worker %s/%u", birth->name, number);
	w.birth = birth;
	w.number = number;
	w.generation = generation;
	w.progress = &birth->progress->worker[number];
	w.progress->record = PL_PROGRESS_IDLE;
	w.progress->shard = PL_PROGRESS_IDLE;
	w.progress->generation = generation;
	w.progress->pid = hello.pid;
	r = prepare(&w, &err);
	if (r == 0)
		r = pl_zsock_send(&w.z, &hello, sizeof(hello));
	if (r < 0) {
		pl_log(PL_LOG_ERROR, "can't start error=\"%s\"", err.text);
		return EXIT_FAILURE;
	}
	for (;;) {
		struct pl_zmessage m;

		r = pl_zsock_receive(&w.z, &m, true);
		if (r == 0) {
			r = serve_shard(&w, &m);
			pl_zsock_message_close(&m);
		}
		if (r < 0) {
			pl_log(PL_LOG_ERROR, "ends errno=%d", -r);
			return EXIT_FAILURE;
		}
	}
}
