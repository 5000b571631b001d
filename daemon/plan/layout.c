/* daemon/plan/layout.c - where every field lies in slot and cell, within the budget. */
#include <inttypes.h>
#include <stdio.h>

#include "daemon/plan/build.h"
#include "daemon/plan/format.h"

/*
 * Slot: rows of the fixed fields, values and offsets of the ragged ones, record indices, rooms for
 * steps after batch; every part on a line of the cache. Cell: one sample's delivered fields. All
 * sums are checked: a product that doesn't fit is more than any budget.
 */
#define LAYOUT_ALIGN     64
#define LAYOUT_PAGE      4096
#define SLOTS_MIN        2
#define SLOTS_WANTED     16
#define CELLS_MIN        4  /* to make holes good */
#define CELLS_MIN_NEEDED 16 /* when every sample goes through one */
#define CELLS_WANTED     64
#define MEMORY_MIN       ((uint64_t)64 << 20)
#define RAGGED_OF_MEMORY                                                                           \
	8                  /* the ragged fields of one slot take at most this part of the memory   \
			    */
#define TEXT_WEIGHT      1 /* of the ragged room, against OTHER_WEIGHT for other fields */
#define OTHER_WEIGHT     8
#define LAYOUT_TOO_LARGE ((uint64_t)1 << 48) /* pl_format_bytes says "over" from here on */

static uint64_t saturating_mul(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_mul_overflow(a, b, &r) || r > LAYOUT_TOO_LARGE ? LAYOUT_TOO_LARGE : r;
}

/* Puts `bytes` at the end of *total: returns where. */
static uint64_t append(uint64_t *total, uint64_t bytes)
{
	uint64_t at = *total;

	*total = pl_min_u64(at + pl_align_up(pl_min_u64(bytes, LAYOUT_TOO_LARGE), LAYOUT_ALIGN),
		LAYOUT_TOO_LARGE);
	return at;
}

/* Bytes of one value; of one step along axis 0 for a ragged one. */
static uint64_t row_bytes(const struct pl_delivery *d, uint64_t sample_max)
{
	struct pl_type type = d->type;
	int64_t bytes;

	if (d->form == PL_FORM_SINGLE)
		return sample_max;
	if (d->form == PL_FORM_RAGGED)
		type.shape[0] = 1;
	bytes = pl_type_bytes_of(&type);
	return bytes < 0 ? LAYOUT_TOO_LARGE : (uint64_t)bytes;
}

static uint64_t ragged_weight(const struct pl_delivery *d)
{
	if (d->form != PL_FORM_RAGGED)
		return 0;
	return d->type.kind == PL_KIND_TEXT ? TEXT_WEIGHT : OTHER_WEIGHT;
}

/* All ragged fields of a slot share `room` bytes. */
static void lay_slot_rows(struct pl_plan *plan, uint64_t room)
{
	struct pl_layout *l = &plan->layout;
	uint64_t size = (uint64_t)l->batch_size;
	uint64_t weights = 0;

	l->slot_bytes = 0;
	for (int i = 0; i < l->n_deliveries; i++)
		weights += ragged_weight(&l->delivery[i]);
	for (int i = 0; i < l->n_deliveries; i++) {
		struct pl_delivery *d = &l->delivery[i];

		d->row_bytes = row_bytes(d, (uint64_t)plan->sample_max);
		d->slot_bytes = saturating_mul(d->row_bytes, size);
		if (d->form == PL_FORM_RAGGED) {
			d->slot_bytes = pl_max_u64(room / weights * ragged_weight(d), LAYOUT_PAGE);
			d->slot_bytes = pl_align_up(d->slot_bytes, LAYOUT_ALIGN);
			d->offsets_offset = append(&l->slot_bytes, (size + 1) * sizeof(int64_t));
		}
		d->slot_offset = append(&l->slot_bytes, d->slot_bytes);
	}
	l->index_offset = append(&l->slot_bytes, size * sizeof(uint64_t));
}

/* Of a result of post-main: a length that isn't known is the batch's axis, or, without batch,
 * anything up to sample_max. */
static uint64_t result_bytes(const struct pl_plan *plan, const struct pl_type *type)
{
	struct pl_type full = *type;
	int64_t bytes;

	if (plan->layout.has_batch && full.rank > 0 && full.shape[0] < 0)
		full.shape[0] = plan->layout.batch_size;
	bytes = pl_type_bytes_of(&full);
	if (bytes >= 0)
		return (uint64_t)bytes;
	return plan->layout.has_batch ? 0 : (uint64_t)plan->sample_max;
}

/* Steps after batch (all, without one) write beside what they read: each pair has room of its own.
 */
static void lay_post_rooms(struct pl_plan *plan)
{
	struct pl_layout *l = &plan->layout;

	for (int i = plan->batch_at + 1; i < plan->post.n; i++) {
		const struct pl_step *step = &plan->post.step[i];

		if (!step->op->run || strcmp(step->op->class_, "debug") == 0)
			continue;
		for (int k = 0; k < step->n; k++) {
			struct pl_post_room *room = &plan->post_room[step->id][k];

			room->bytes = pl_align_up(result_bytes(plan, &step->type[k]), LAYOUT_ALIGN);
			room->offset = append(&l->slot_bytes, room->bytes);
		}
	}
	l->slot_bytes = pl_align_up(pl_max_u64(l->slot_bytes, 1), LAYOUT_PAGE);
}

static void lay_cell(struct pl_plan *plan)
{
	struct pl_layout *l = &plan->layout;

	l->cell_bytes = 0;
	for (int i = 0; i < l->n_deliveries; i++) {
		struct pl_delivery *d = &l->delivery[i];

		d->cell_bytes =
			d->form == PL_FORM_FIXED ? d->row_bytes : (uint64_t)plan->sample_max;
		d->cell_offset = append(&l->cell_bytes, d->cell_bytes);
		l->needs_cells |= d->form == PL_FORM_RAGGED;
	}
	l->needs_cells |= plan->batch_at > 0;
	l->cell_bytes = pl_align_up(pl_max_u64(l->cell_bytes, 1), LAYOUT_ALIGN);
}

static void lay_out(struct pl_plan *plan, uint64_t ragged_room)
{
	uint64_t size = (uint64_t)plan->layout.batch_size;
	uint64_t most = saturating_mul(size, (uint64_t)plan->sample_max);

	lay_slot_rows(plan, pl_min_u64(most, ragged_room));
	lay_post_rooms(plan);
	lay_cell(plan);
}

static int64_t resolve_memory(struct pl_plan *plan)
{
	uint64_t limit = (uint64_t)pl_memory_limit();
	uint64_t wanted;

	lay_out(plan, limit / RAGGED_OF_MEMORY);
	wanted = saturating_mul(plan->layout.slot_bytes, SLOTS_WANTED) +
		 saturating_mul(plan->layout.cell_bytes, CELLS_WANTED);
	wanted = pl_min_u64(pl_max_u64(wanted, MEMORY_MIN), limit);
	return (int64_t)(wanted / LAYOUT_PAGE * LAYOUT_PAGE);
}

/* "image f32 [3, 224, 224] = 588.0 KiB and label i64 [] = 8 B": what makes a batch so large. */
static void describe_batch(const struct pl_plan *plan, char *out, size_t n)
{
	const struct pl_layout *l = &plan->layout;
	const struct pl_delivery *largest = &l->delivery[0];
	char shape[200];
	char bytes[32];

	for (int i = 1; i < l->n_deliveries; i++)
		if (l->delivery[i].slot_bytes > largest->slot_bytes)
			largest = &l->delivery[i];
	pl_shape_format(shape, sizeof(shape), largest->type.rank, largest->type.shape);
	pl_format_bytes(bytes, sizeof(bytes), largest->row_bytes);
	if (largest->form == PL_FORM_FIXED)
		snprintf(out, n, "batch size = %" PRId64 " and %s %s %s = %s", l->batch_size,
			plan->field_name[largest->field], pl_dtype_name(largest->type.dtype), shape,
			bytes);
	else
		snprintf(out, n, "the length of %s isn't known at load and sample_max = %s",
			plan->field_name[largest->field],
			pl_format_bytes(bytes, sizeof(bytes), (uint64_t)plan->sample_max));
}

static bool check_budget(struct pl_build *b)
{
	const struct pl_plan *plan = b->plan;
	const struct pl_layout *l = &plan->layout;
	uint64_t n_cells = l->needs_cells ? CELLS_MIN_NEEDED : CELLS_MIN;
	uint64_t slots = saturating_mul(l->slot_bytes, SLOTS_MIN);
	uint64_t cells = saturating_mul(l->cell_bytes, n_cells);
	char text[6][32];
	char reason[400];

	if (slots + cells <= (uint64_t)plan->memory)
		return true;
	describe_batch(plan, reason, sizeof(reason));
	pl_format_bytes(text[0], sizeof(text[0]), (uint64_t)plan->memory);
	pl_format_bytes(text[1], sizeof(text[1]), l->slot_bytes);
	pl_format_bytes(text[2], sizeof(text[2]), slots);
	pl_format_bytes(text[3], sizeof(text[3]), cells);
	pl_format_bytes(text[4], sizeof(text[4]), slots + cells);
	pl_diag_error(b->diag, b->memory ? b->memory->at : b->root->at,
		"memory: %s%s is too small: one batch takes %s, because %s; at least 2 batches "
		"(%s) and %" PRIu64 " samples under way (%s) are needed: %s",
		b->memory ? "" : "auto = ", text[0], text[1], reason, text[2], n_cells, text[3],
		text[4]);
	return false;
}

bool pl_layout(struct pl_build *b, const struct pl_resolved *resolved)
{
	struct pl_plan *plan = b->plan;

	if (resolved->memory > 0)
		plan->memory = resolved->memory;
	else if (plan->memory == 0)
		plan->memory = resolve_memory(plan);
	lay_out(plan, (uint64_t)plan->memory / RAGGED_OF_MEMORY);
	return check_budget(b);
}
