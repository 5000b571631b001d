/* tests/unit/test_plan_layout.c - where fields lie in a slot and in a cell, and the budget. */
#include "tests/unit/plan_harness.h"

#define PHOTOS                                                                                     \
	"source: {files: {path: photos, label: folder}}\nworkers:\n  - decode_image\n"             \
	"  - random_resized_crop: 224\n  - normalize: imagenet\n"

TestSuite(plan_layout, .init = enter_new_folder);

static const struct pl_delivery *delivery_of(const struct pl_plan *plan, const char *name)
{
	for (int i = 0; i < plan->layout.n_deliveries; i++)
		if (strcmp(plan->field_name[plan->layout.delivery[i].field], name) == 0)
			return &plan->layout.delivery[i];
	cr_assert_fail("%s is not delivered", name);
	return NULL;
}

/* No two parts of a slot, and none of a cell, overlap; all are aligned and inside. */
static void check_disjoint(const struct pl_plan *plan)
{
	const struct pl_layout *l = &plan->layout;
	uint64_t begin[3 * PL_FIELDS_MAX];
	uint64_t end[3 * PL_FIELDS_MAX];
	int n = 0;

	for (int i = 0; i < l->n_deliveries; i++) {
		const struct pl_delivery *d = &l->delivery[i];

		begin[n] = d->slot_offset;
		end[n++] = d->slot_offset + d->slot_bytes;
		if (d->form == PL_FORM_RAGGED) {
			begin[n] = d->offsets_offset;
			end[n++] = d->offsets_offset + ((uint64_t)l->batch_size + 1) * 8;
		}
		cr_assert_leq(d->cell_offset + d->cell_bytes, l->cell_bytes);
		cr_assert_eq(d->cell_offset % 64, 0);
	}
	begin[n] = l->index_offset;
	end[n++] = l->index_offset + (uint64_t)l->batch_size * 8;
	for (int i = 0; i < n; i++) {
		cr_assert_eq(begin[i] % 64, 0);
		cr_assert_leq(end[i], l->slot_bytes);
		for (int k = 0; k < i; k++)
			cr_assert(end[k] <= begin[i] || end[i] <= begin[k]);
	}
	cr_assert_eq(l->slot_bytes % 4096, 0);
	cr_assert_eq(l->cell_bytes % 64, 0);
}

Test(plan_layout, fixed_fields_have_rows)
{
	struct pl_plan *plan = good_plan(
		"memory: 1GiB\n" PHOTOS "post_main: [batch: {size: 64, drop_last: true}]\n");
	const struct pl_delivery *image = delivery_of(plan, "image");

	cr_assert_eq(image->form, PL_FORM_FIXED);
	cr_assert_eq(image->row_bytes, 224 * 224 * 3 * 4);
	cr_assert_eq(image->slot_bytes, 64 * image->row_bytes);
	cr_assert_eq(image->cell_bytes, image->row_bytes);
	cr_assert_eq(delivery_of(plan, "label")->row_bytes, 8);
	cr_assert_eq(plan->layout.has_batch, true);
	cr_assert_eq(plan->layout.drop_last, true);
	cr_assert_eq(plan->layout.needs_cells, false);
	cr_assert_gt(plan->layout.cell_bytes, 0);
	check_disjoint(plan);
	pl_plan_destroy(plan);
}

Test(plan_layout, fields_of_varying_length_are_ragged_and_need_cells)
{
	struct pl_plan *plan = good_plan(
		"memory: 256MiB\nsample_max: 1MiB\nsource: {files: {path: photos, label: folder}}\n"
		"workers:\n  - select: [data, label, _key, _source]\n"
		"post_main: [batch: 8]\n");
	const struct pl_delivery *data = delivery_of(plan, "data");

	cr_assert_eq(data->form, PL_FORM_RAGGED);
	cr_assert_eq(data->row_bytes, 1);
	cr_assert_eq(data->cell_bytes, 1 << 20);
	cr_assert_gt(data->slot_bytes, delivery_of(plan, "_key")->slot_bytes);
	cr_assert_leq(data->slot_bytes, 8 << 20, "a batch of the largest samples");
	cr_assert_eq(plan->layout.needs_cells, true);
	check_disjoint(plan);
	pl_plan_destroy(plan);
}

Test(plan_layout, the_ragged_fields_of_a_slot_take_at_most_an_eighth)
{
	struct pl_plan *plan = good_plan("memory: 128MiB\nsource: {files: photos}\nworkers: "
					 "[trace: a]\npost_main: [batch: 64]\n");

	cr_assert_leq(plan->layout.slot_bytes, (16 << 20) + 8192);
	check_disjoint(plan);
	pl_plan_destroy(plan);
}

Test(plan_layout, without_batch_a_sample_is_its_own_batch)
{
	struct pl_plan *plan = good_plan(
		"source: {files: {path: photos, label: folder}}\nworkers: [decode_image]\n");

	cr_assert_eq(delivery_of(plan, "image")->form, PL_FORM_SINGLE);
	cr_assert_eq(delivery_of(plan, "image")->row_bytes, 4 << 20);
	cr_assert_eq(delivery_of(plan, "label")->form, PL_FORM_FIXED);
	cr_assert_eq(plan->layout.batch_size, 1);
	cr_assert_eq(plan->layout.has_batch, false);
	check_disjoint(plan);
	pl_plan_destroy(plan);
}

Test(plan_layout, a_step_before_batch_sends_every_sample_through_a_cell)
{
	struct pl_plan *plan = good_plan(
		"source: {range: 9}\nworkers: [trace: a]\npost_main: [{take: 5}, {batch: 2}]\n");

	cr_assert_eq(plan->layout.needs_cells, true);
	cr_assert_eq(plan->batch_at, 1);
	pl_plan_destroy(plan);
}

Test(plan_layout, steps_after_batch_have_rooms)
{
	struct pl_plan *plan =
		good_plan("memory: 1GiB\n" PHOTOS "post_main:\n  - batch: 32\n"
			  "  - rearrange: {field: image, pattern: \"b h w c -> b c h w\"}\n"
			  "  - cast: {field: image, to: small, dtype: f16}\n  - trace: {field: "
			  "label, label: x}\n");
	const struct pl_step *step = &plan->post.step[1];
	struct pl_post_room *rearranged = &plan->post_room[step[0].id][0];
	struct pl_post_room *cast = &plan->post_room[step[1].id][0];

	cr_assert_eq(rearranged->bytes, 32 * 224 * 224 * 3 * 4);
	cr_assert_eq(cast->bytes, rearranged->bytes / 2);
	cr_assert_geq(cast->offset, rearranged->offset + rearranged->bytes);
	cr_assert_leq(cast->offset + cast->bytes, plan->layout.slot_bytes);
	cr_assert_eq(plan->post_room[step[2].id][0].bytes, 0);
	cr_assert_str_eq(type_after(plan, &step[0], "image"), "tensor f32 [?, 3, 224, 224]");
	cr_assert_eq(plan->n_results, 3);
	cr_assert_eq(plan->result[1].type.rank, 3, "without the batch axis");
	cr_assert_eq(plan->result[1].type.shape[0], 3);
	pl_plan_destroy(plan);
}

Test(plan_layout, the_batch_axis_is_known_when_no_batch_is_short)
{
	struct pl_plan *plan = good_plan("source: {range: 9}\nworkers: [trace: a]\n"
					 "post_main:\n  - batch: {size: 4, drop_last: true}\n  - "
					 "cast: {field: value, dtype: f32}\n");

	cr_assert_str_eq(type_after(plan, &plan->post.step[1], "value"), "scalar f32 [4]");
	pl_plan_destroy(plan);
}

Test(plan_layout, what_post_main_drops_is_not_delivered)
{
	struct pl_plan *plan = good_plan("source: {files: {path: photos, label: folder}}\nworkers: "
					 "[trace: {field: label, label: a}]\n"
					 "post_main: [{batch: 2}, {select: label}]\n");

	cr_assert_eq(plan->layout.n_deliveries, 1);
	cr_assert_eq(plan->source.field[0], -1);
	pl_plan_destroy(plan);
}

Test(plan_layout, memory_auto_holds_two_batches_at_least)
{
	struct pl_plan *plan = good_plan(PHOTOS "post_main: [batch: 8]\n");

	cr_assert_geq(
		plan->memory, (int64_t)(2 * plan->layout.slot_bytes + 4 * plan->layout.cell_bytes));
	cr_assert_eq(plan->memory % 4096, 0);
	pl_plan_destroy(plan);
}
