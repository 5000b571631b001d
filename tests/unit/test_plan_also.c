/* tests/unit/test_plan_also.c - fields of a step beyond its own: those its parameters name, and
 * those it writes beside its result. */
#include "tests/unit/plan_harness.h"

#define SOUNDS "source: {files: {path: \"sounds/*.wav\", label: folder}}\nworkers:\n"

static struct plan_reading read_sounds(const char *steps)
{
	char text[1024];

	enter_new_folder();
	cr_assert_eq(mkdir("sounds", 0755), 0);
	write_text("sounds/a.wav", "");
	snprintf(text, sizeof(text), SOUNDS "%s", steps);
	return plan_of(text);
}

static const struct pl_result_field *result(const struct pl_plan *plan, const char *name)
{
	for (int i = 0; i < plan->n_results; i++)
		if (strcmp(plan->result[i].name, name) == 0)
			return &plan->result[i];
	return NULL;
}

Test(plan_also, a_field_that_is_only_read_stays)
{
	struct plan_reading r = read_sounds("  - decode_audio: {start: label, mono: true}\n"
					    "  - crop_audio: 100\n");
	char text[256];

	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_expect_eq(r.n_warnings, 0, "%s", r.messages);
	cr_assert_eq(r.plan->worker.step[0].n_own, 1);
	cr_assert_eq(r.plan->worker.step[0].n, 3);
	cr_expect(r.plan->worker.step[0].only_reads[2] && !r.plan->worker.step[0].only_reads[1]);
	cr_expect_null(result(r.plan, "data"), "decode_audio consumes it");
	cr_assert_not_null(result(r.plan, "rate"));
	cr_assert_not_null(result(r.plan, "label"));
	cr_expect_str_eq(pl_type_format(text, sizeof(text), &result(r.plan, "audio")->type),
		"audio f32 [100, 1]");
	cr_expect_str_eq(
		pl_type_format(text, sizeof(text), &result(r.plan, "rate")->type), "scalar i64");
	plan_end(&r);
}

/* That it is read is a use: it isn't left unread by the source. `rate` is a by-product, and no
 * loss. */
Test(plan_also, reading_is_a_use)
{
	struct plan_reading r = read_sounds("  - decode_audio: {duration: label}\n"
					    "  - select: [audio]\n");

	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_expect_eq(r.n_warnings, 0, "%s", r.messages);
	cr_expect_geq(r.plan->source.field[1], 0, "the source reads the label");
	plan_end(&r);
}

Test(plan_also, a_name_that_is_no_field)
{
	struct plan_reading r = read_sounds("  - decode_audio: {start: lable}\n");

	cr_expect_null(r.plan);
	cr_expect(strstr(r.messages,
			  "p.yaml:3:27: error: step 'decode_audio': no field 'lable' here (did you "
			  "mean 'label'?)"),
		"%s", r.messages);
	plan_end(&r);
}

Test(plan_also, a_field_of_another_type)
{
	struct plan_reading r = read_sounds("  - decode_audio: {start: _key}\n");

	cr_expect_null(r.plan);
	cr_expect(strstr(r.messages, "start: field '_key' is text u8 [?], not one number"), "%s",
		r.messages);
	plan_end(&r);
}

static struct plan_reading read_values(const char *steps)
{
	char text[1024];

	enter_new_folder();
	snprintf(text, sizeof(text), "source: {range: 4}\nworkers:\n%s", steps);
	return plan_of(text);
}

Test(plan_also, joined_fields_end)
{
	struct plan_reading r =
		read_sounds("  - decode_audio: {start: label, mono: true}\n"
			    "  - crop_audio: 100\n"
			    "  - views: {into: {\"v_{1..3}\": [{crop_audio: 50}]}}\n"
			    "  - stack: {field: \"v_*\", to: all}\n");
	char text[256];

	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_expect_null(result(r.plan, "v_1"));
	cr_assert_not_null(result(r.plan, "all"));
	cr_expect_str_eq(pl_type_format(text, sizeof(text), &result(r.plan, "all")->type),
		"tensor f32 [3, 50, 1]");
	cr_expect_eq(r.n_warnings, 0, "%s", r.messages);
	plan_end(&r);
}

Test(plan_also, a_joined_field_may_have_the_name_of_one)
{
	struct plan_reading r = read_values("  - cast: {field: value, to: other, dtype: i64}\n"
					    "  - stack: {field: [value, other], to: other}\n");
	char text[256];

	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_eq(r.plan->n_results, 1);
	cr_expect_str_eq(r.plan->result[0].name, "other");
	cr_expect_str_eq(
		pl_type_format(text, sizeof(text), &r.plan->result[0].type), "tensor i64 [2]");
	plan_end(&r);
}

Test(plan_also, joining_needs_a_name)
{
	struct plan_reading r = read_values("  - cast: {field: value, to: other, dtype: i64}\n"
					    "  - stack: {field: [value, other]}\n");

	cr_expect_null(r.plan);
	cr_expect_not_null(strstr(r.messages, "to: must say the one field that 2 fields become"),
		"%s", r.messages);
	plan_end(&r);
}

Test(plan_also, stacking_behind_batch)
{
	struct plan_reading r =
		read_values("  - cast: {field: value, to: other, dtype: i64}\n"
			    "post_main:\n  - batch: 2\n"
			    "  - stack: {field: [value, other], to: both, axis: 1}\n");
	char text[256];

	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_expect_str_eq(
		pl_type_format(text, sizeof(text), &r.plan->result[0].type), "tensor i64 [2]");
	plan_end(&r);
	r = read_values("  - cast: {field: value, to: other, dtype: i64}\n"
			"post_main:\n  - batch: 2\n"
			"  - stack: {field: [value, other], to: both}\n");
	cr_expect_null(r.plan);
	cr_expect_not_null(
		strstr(r.messages, "axis 0 of every field is the batch"), "%s", r.messages);
	plan_end(&r);
}

static struct plan_reading read_rows(const char *steps)
{
	static const char head[] = "\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, "
				   "'shape': (2, 5, 4), }";
	char file[128 + 160];
	char text[1024];

	memset(file, ' ', 128);
	memset(file + 128, 0, 160);
	memcpy(file, head, sizeof(head) - 1);
	file[127] = '\n';
	enter_new_folder();
	write_bytes("rows.npy", file, sizeof(file));
	snprintf(text, sizeof(text),
		"source: {npy: rows.npy}\nworkers:\n  - cast: {field: data, to: extra, dtype: "
		"i64}\n"
		"  - boxes: {field: data, to: boxes, format: xyxy, with: [extra]}\n%s",
		steps);
	return plan_of(text);
}

Test(plan_also, linked_fields_go_together)
{
	struct plan_reading r = read_rows("  - filter_boxes\n");
	char text[256];

	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_eq(r.plan->worker.step[2].n, 2);
	cr_assert_eq(r.plan->worker.step[2].n_own, 1);
	cr_expect_str_eq(pl_type_format(text, sizeof(text), &result(r.plan, "boxes")->type),
		"boxes f32 [?, 4]");
	cr_expect_str_eq(pl_type_format(text, sizeof(text), &result(r.plan, "extra")->type),
		"tensor i64 [?, 4]");
	cr_expect_null(result(r.plan, "data"), "boxes consumes it");
	plan_end(&r);
}

/* The copies in two views are linked within each, not with each other. */
Test(plan_also, links_in_views)
{
	struct plan_reading r = read_rows(
		"  - views: {field: [boxes, extra], into: {\"v_{1..2}\": [{filter_boxes: {field: "
		"boxes}}]}}\n  - filter_boxes\n");
	const struct pl_step *step;

	cr_assert_not_null(r.plan, "%s", r.messages);
	step = &r.plan->worker.step[r.plan->worker.n - 1];
	cr_assert_eq(step->n_own, 2);
	cr_assert_eq(step->n, 4);
	cr_expect_eq(step->type[0].link, step->type[2].link);
	cr_expect_eq(step->type[1].link, step->type[3].link);
	cr_expect_neq(step->type[0].link, step->type[1].link);
	for (int i = 3; i < r.plan->worker.n - 1; i++)
		cr_expect_eq(r.plan->worker.step[i].n, 2, "within one view");
	plan_end(&r);
}

Test(plan_also, relative_units_need_a_picture)
{
	struct plan_reading r = read_rows("  - boxes: {field: extra, format: xywh, units: "
					  "relative}\n");

	cr_expect_null(r.plan);
	cr_expect_not_null(
		strstr(r.messages, "step 'boxes' needs the size of a picture, but there is none "
				   "here (put decode_image before it)"),
		"%s", r.messages);
	plan_end(&r);
}
