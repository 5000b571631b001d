/* daemon/plan/deliver.c - which fields reach the client, and who writes them where. */
#include "daemon/kit/batch.h"
#include "daemon/plan/build.h"
#include "daemon/plan/settings.h"

/* _index, _key and _source are delivered only when a select named them. */
static bool is_result(const struct pl_build *b, int field)
{
	if (!b->state.is_live[field])
		return false;
	return !pl_field_is_standing(b, field) || b->state.chosen >> field & 1;
}

static struct pl_type without_batch_axis(const struct pl_type *batched)
{
	struct pl_type type = *batched;

	type.rank--;
	memmove(&type.shape[0], &type.shape[1], (size_t)type.rank * sizeof(type.shape[0]));
	return type;
}

static void add_results(struct pl_build *b)
{
	struct pl_plan *plan = b->plan;
	bool has_batch = plan->batch_at >= 0;

	for (int f = 0; f < plan->n_fields; f++) {
		struct pl_result_field *r = &plan->result[plan->n_results];

		if (!is_result(b, f))
			continue;
		r->field = f;
		r->name = plan->field_name[f];
		r->type = b->state.type[f];
		if (has_batch && !(b->state.ragged >> f & 1))
			r->type = without_batch_axis(&b->state.type[f]);
		r->form =
			b->state.ragged >> f & 1 ? PL_FORM_RAGGED : pl_form_of(&r->type, has_batch);
		b->used |= (uint64_t)1 << f;
		plan->n_results++;
	}
}

static void add_deliveries(struct pl_build *b)
{
	struct pl_plan *plan = b->plan;
	struct pl_layout *layout = &plan->layout;

	for (int f = 0; f < plan->n_fields; f++) {
		struct pl_delivery *d = &layout->delivery[layout->n_deliveries];

		if (!b->worker_end.is_live[f] || !(is_result(b, f) || b->used_in_post >> f & 1))
			continue;
		d->field = f;
		d->type = b->worker_end.type[f];
		d->form = pl_form_of(&d->type, plan->batch_at >= 0);
		layout->n_deliveries++;
	}
}

/* The last step that writes a delivered field for every sample writes it into the batch; where
 * there is none, the source. */
static void mark_rows(struct pl_build *b)
{
	const struct pl_layout *layout = &b->plan->layout;

	for (int i = 0; i < layout->n_deliveries; i++) {
		int field = layout->delivery[i].field;
		int writer = b->worker_end.row_writer[field];

		if (b->worker_end.writer[field] < 0)
			b->plan->source.rows |= (uint64_t)1 << field;
		for (int k = 0; k < b->plan->worker.n; k++) {
			struct pl_step *step = &b->plan->worker.step[k];

			for (int pair = 0; step->id == writer && pair < step->n; pair++)
				if (step->out[pair] == field)
					step->writes_row[pair] = true;
		}
	}
}

/* Fields that nobody uses aren't read by the source; _index, _key and _source exist where used. */
static void drop_unused(struct pl_build *b)
{
	struct pl_plan *plan = b->plan;
	int *const standing[] = {&plan->index_field, &plan->key_field, &plan->source_field};

	for (int i = 0; i < plan->source.n_fields; i++)
		if (!(b->used >> plan->source.field[i] & 1))
			plan->source.field[i] = -1;
	for (int i = 0; i < 3; i++)
		*standing[i] = b->used >> (b->standing + i) & 1 ? b->standing + i : -1;
}

/* Once short batches can come, the batch axis is unknown at load. */
static void open_batch_axis(struct pl_build *b)
{
	struct pl_plan *plan = b->plan;
	const struct pl_batch_params *batch;

	if (plan->batch_at < 0)
		return;
	batch = plan->post.step[plan->batch_at].params;
	if (plan->shard == PL_PARAM_WORD(PL_SHARD_BATCH))
		plan->shard = batch->size;
	plan->layout.has_batch = true;
	plan->layout.drop_last = batch->drop_last;
	plan->layout.batch_size = batch->size;
	for (int i = plan->batch_at + 1; i < plan->post.n && !batch->drop_last; i++)
		for (int k = 0; k < plan->post.step[i].n; k++)
			if (!(b->state.ragged >> plan->post.step[i].out[k] & 1))
				plan->post.step[i].type[k].shape[0] = -1;
}

bool pl_deliver(struct pl_build *b)
{
	b->plan->layout.batch_size = 1;
	add_results(b);
	add_deliveries(b);
	if (b->plan->n_results == 0) {
		pl_diag_error(
			b->diag, b->root->at, "no field reaches the client: everything is dropped");
		return false;
	}
	mark_rows(b);
	drop_unused(b);
	open_batch_axis(b);
	if (b->plan->shard < 0)
		b->plan->shard = b->plan->shard == PL_PARAM_WORD(PL_SHARD_BATCH);
	return true;
}
