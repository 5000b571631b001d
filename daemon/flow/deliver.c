/* daemon/flow/deliver.c - brings a finished sample's fields to their row or cell. */
#include "daemon/flow/deliver.h"

#include <errno.h>

int pl_arena_cut_for(struct pl_arena *a, void *base, const struct pl_plan *plan,
	const struct pl_listing *listing, struct pl_err *err)
{
	size_t names = 0;

	if (listing->head->n_classes)
		pl_listing_section_at(listing, 0, &names);
	return pl_arena_cut(a, base,
		&(struct pl_arena_need){
			.bytes = (uint64_t)plan->memory,
			.slot_bytes = plan->layout.slot_bytes,
			.cell_bytes = plan->layout.cell_bytes,
			.needs_cells = plan->layout.needs_cells,
			.names_bytes = names,
		},
		err);
}

char *pl_target_at(const struct pl_target *t, const struct pl_delivery *d)
{
	switch (d->form) {
	case PL_FORM_FIXED:
		return t->slot ? t->slot + d->slot_offset + t->row * d->row_bytes
			       : t->cell + d->cell_offset;
	case PL_FORM_SINGLE:
		return t->slot ? t->slot + d->slot_offset : t->cell + d->cell_offset;
	case PL_FORM_RAGGED:
		break;
	}
	return t->cell + d->cell_offset;
}

/* Bytes there are for a value that isn't fixed. */
static size_t varying_room(const struct pl_delivery *d)
{
	return d->form == PL_FORM_SINGLE ? d->row_bytes : d->cell_bytes;
}

void pl_deliver_prepare(
	const struct pl_layout *layout, const struct pl_target *target, struct pl_sample *sample)
{
	for (int i = 0; i < layout->n_deliveries; i++) {
		const struct pl_delivery *d = &layout->delivery[i];
		struct pl_tensor *row = &sample->row[d->field];

		if (d->form != PL_FORM_FIXED) {
			row->data = NULL;
			sample->room[d->field] =
				(struct pl_room){pl_target_at(target, d), varying_room(d)};
			continue;
		}
		if (row->dtype == 0 &&
			pl_tensor_init(row, NULL, d->type.dtype, d->type.rank, d->type.shape) < 0)
			continue;
		row->data = pl_target_at(target, d);
	}
}

static int wrong_type(const struct pl_plan *plan, const struct pl_delivery *d,
	const struct pl_tensor *value, struct pl_err *err)
{
	char want[160], have[160];

	return pl_err_set(err, -EINVAL, "field '%s' came out as %s %s where the plan has %s %s",
		plan->field_name[d->field], pl_dtype_name(value->dtype),
		pl_shape_format(have, sizeof(have), value->rank, value->shape),
		pl_dtype_name(d->type.dtype),
		pl_shape_format(want, sizeof(want), d->type.rank, d->type.shape));
}

static bool is_as_planned(const struct pl_delivery *d, const struct pl_tensor *value)
{
	if (value->dtype != d->type.dtype || value->rank != d->type.rank)
		return false;
	for (int i = 0; i < value->rank; i++)
		if (d->type.shape[i] >= 0 && d->type.shape[i] != value->shape[i])
			return false;
	return true;
}

static int too_large(
	const struct pl_plan *plan, const struct pl_delivery *d, int64_t bytes, struct pl_err *err)
{
	return pl_err_set(err, -EMSGSIZE,
		"field '%s' takes %lld bytes of this sample, more than the %llu there is room for: "
		"raise sample_max",
		plan->field_name[d->field], (long long)bytes, (unsigned long long)varying_room(d));
}

/* By way of scratch: a strided value may lie in the very room it goes to. */
static int copy_apart(
	const struct pl_tensor *to, const struct pl_tensor *value, struct pl_scratch *scratch)
{
	struct pl_tensor apart = *to;
	int r;

	apart.data = pl_scratch_alloc(scratch, (size_t)pl_tensor_bytes(to));
	if (!apart.data)
		return -ENOMEM;
	r = pl_tensor_copy(&apart, value);
	return r < 0 ? r : pl_tensor_copy(to, &apart);
}

static int deliver_one(const struct pl_plan *plan, const struct pl_delivery *d,
	const struct pl_sample *sample, const struct pl_target *target, struct pl_err *err)
{
	const struct pl_tensor *value = &sample->value[d->field];
	char *to = pl_target_at(target, d);
	struct pl_tensor there;
	int64_t bytes;

	if (!is_as_planned(d, value))
		return wrong_type(plan, d, value, err);
	if (value->data == to)
		return 0;
	bytes = pl_tensor_bytes(value);
	if (d->form != PL_FORM_FIXED && (uint64_t)bytes > varying_room(d))
		return too_large(plan, d, bytes, err);
	if (pl_tensor_is_contiguous(value)) {
		if (bytes) /* it may be a part of what was read into the room: they can overlap */
			memmove(to, value->data, (size_t)bytes);
		return 0;
	}
	if (pl_tensor_init(&there, to, value->dtype, value->rank, value->shape) < 0)
		return wrong_type(plan, d, value, err);
	if (d->form != PL_FORM_FIXED)
		return copy_apart(&there, value, sample->scratch);
	return pl_tensor_copy(&there, value);
}

int pl_deliver_sample(const struct pl_plan *plan, const struct pl_target *target,
	const struct pl_sample *sample, int64_t *shapes, struct pl_err *err)
{
	for (int i = 0; i < plan->layout.n_deliveries; i++) {
		const struct pl_delivery *d = &plan->layout.delivery[i];
		const struct pl_tensor *value = &sample->value[d->field];
		int r = deliver_one(plan, d, sample, target, err);

		if (r < 0)
			return r;
		if (d->form == PL_FORM_FIXED)
			continue;
		shapes[0] = value->rank;
		memcpy(shapes + 1, value->shape, sizeof(value->shape));
		shapes += PL_SHAPE_WORDS;
	}
	return 0;
}

int pl_deliver_n_varying(const struct pl_layout *layout)
{
	int n = 0;

	for (int i = 0; i < layout->n_deliveries; i++)
		n += layout->delivery[i].form != PL_FORM_FIXED;
	return n;
}
