/* tests/unit/test_plan_read.c - pipeline texts to plans: settings, fields, structure, draws. */
#include "tests/unit/plan_harness.h"

#define DECODED "source: {files: {path: photos, label: folder}}\nworkers:\n  - decode_image\n"

TestSuite(plan_read, .init = enter_new_folder);

Test(plan_read, defaults_of_every_setting)
{
	struct pl_plan *plan = good_plan("source: {range: 3}\nworkers: [trace: a]\n");

	cr_assert_str_eq(plan->name, "p");
	cr_assert_eq(plan->seed, 0);
	cr_assert_eq(plan->epochs, 1);
	cr_assert_eq(plan->memory, 64 << 20);
	cr_assert_eq(plan->sample_max, 4 << 20);
	cr_assert_eq(plan->worker_prefetch, 2);
	cr_assert_eq(plan->post_prefetch, 4);
	cr_assert_eq(plan->shard, 0);
	cr_assert_eq(plan->dispatch, PL_DISPATCH_ROUND_ROBIN);
	cr_assert_eq(plan->on_error, PL_ON_ERROR_FAIL);
	cr_assert_eq(plan->sample_timeout_ns, 60000000000);
	cr_assert_eq(plan->idle_timeout_ns, 60000000000);
	cr_assert_eq(plan->allow.n, 0);
	cr_assert_geq(plan->n_workers, 1);
	cr_assert_eq(plan->is_sequential, false);
	cr_assert_eq(plan->batch_at, -1);
	cr_assert_eq(plan->file[0], '/');
	pl_plan_destroy(plan);
}

Test(plan_read, every_setting)
{
	struct pl_plan *plan = good_plan(
		"version: 1\nname: a.b-c_d\nseed: 9\nepochs: forever\nmemory: 1.5GiB\nsample_max: "
		"2MiB\n"
		"populate: true\nshard: batch\ndispatch: strict\nroots: [/a, /b]\non_error: {skip: "
		"2.5%}\n"
		"source: {range: 3, name: numbers, weight: 2}\n"
		"workers: {count: 3, prefetch: 0, nice: 5, cpus: [0, 2], sample_timeout: 1.5min,\n"
		"  env: {OMP_NUM_THREADS: 1}, steps: [trace: a]}\n"
		"post_main: {prefetch: 1, steps: [batch: 5]}\n"
		"serve: {allow: [joe, \"@gpu\"], start: eager, idle_timeout: 2h, clients: 7}\n");

	cr_assert_str_eq(plan->name, "a.b-c_d");
	cr_assert_eq(plan->epochs, 0);
	cr_assert_eq(plan->memory, (int64_t)3 << 29);
	cr_assert_eq(plan->populate, true);
	cr_assert_eq(plan->shard, 5, "a batch");
	cr_assert_eq(plan->dispatch, PL_DISPATCH_STRICT);
	cr_assert_eq(plan->roots.n, 2);
	cr_assert_eq(plan->on_error, PL_ON_ERROR_SKIP);
	cr_assert_float_eq(plan->skip_share, 0.025, 1e-12);
	cr_assert_eq(plan->skip_count, -1);
	cr_assert_str_eq(plan->source.name, "numbers");
	cr_assert_eq(plan->n_workers, 3);
	cr_assert_eq(plan->worker_prefetch, 0);
	cr_assert_eq(plan->nice, 5);
	cr_assert_eq(plan->cpus.n, 2);
	cr_assert_eq(plan->sample_timeout_ns, 90000000000);
	cr_assert_str_eq(plan->env_name[0], "OMP_NUM_THREADS");
	cr_assert_str_eq(plan->env_value[0], "1");
	cr_assert_eq(plan->post_prefetch, 1);
	cr_assert_eq(plan->allow.n, 2);
	cr_assert_eq(plan->starts_eagerly, true);
	cr_assert_eq(plan->idle_timeout_ns, 7200000000000);
	cr_assert_eq(plan->max_clients, 7);
	pl_plan_destroy(plan);
}

Test(plan_read, the_file_gives_the_name)
{
	struct plan_reading r;

	write_text("my photos.v2.yaml", "source: {range: 3}\nworkers: [trace: a]\n");
	r = plan_read("my photos.v2.yaml");
	cr_assert_str_eq(r.plan->name, "my_photos.v2");
	plan_end(&r);
}

Test(plan_read, kinds_follow_the_steps)
{
	struct pl_plan *plan =
		good_plan(DECODED "  - resize: 256\n  - center_crop: [200, 100]\n"
				  "  - normalize: imagenet\n  - rearrange: \"h w c -> c h w\"\n");
	const struct pl_step *step = plan->worker.step;

	cr_assert_str_eq(type_after(plan, &step[0], "image"), "image u8 [?, ?, 3]");
	cr_assert_str_eq(type_after(plan, &step[2], "image"), "image u8 [200, 100, 3]");
	cr_assert_str_eq(type_after(plan, &step[3], "image"), "image f32 [200, 100, 3]");
	cr_assert_str_eq(type_after(plan, &step[4], "image"), "tensor f32 [3, 200, 100]");
	cr_assert_eq(step[0].ends, (uint64_t)1 << field_named(plan, "data"));
	cr_assert_eq(step[4].writes_row[0], true);
	cr_assert_eq(step[3].writes_row[0], false);
	pl_plan_destroy(plan);
}

Test(plan_read, unused_fields_are_not_read)
{
	struct pl_plan *plan = good_plan("source: {files: {path: photos, label: folder}}\n"
					 "workers:\n  - select: [label, _index]\n");

	cr_assert_eq(plan->source.n_fields, 2);
	cr_assert_eq(plan->source.field[0], -1, "data");
	cr_assert_geq(plan->source.field[1], 0, "label");
	cr_assert_geq(plan->index_field, 0);
	cr_assert_eq(plan->key_field, -1);
	cr_assert_eq(plan->source_field, -1);
	cr_assert_eq(plan->n_results, 2);
	pl_plan_destroy(plan);
}

Test(plan_read, standing_fields_serve_a_filter_without_being_delivered)
{
	struct pl_plan *plan =
		good_plan("source: {range: 9}\npre_main:\n  - filter: \"_index % 2 == 0\"\n"
			  "workers: [trace: a]\n");

	cr_assert_geq(plan->index_field, 0);
	cr_assert_eq(plan->n_results, 1);
	cr_assert_str_eq(plan->result[0].name, "value");
	pl_plan_destroy(plan);
}

Test(plan_read, patterns_and_names_of_outputs)
{
	struct pl_plan *plan = good_plan("source: {range: 9}\nworkers:\n"
					 "  - cast: {field: value, to: x_a, dtype: f32}\n"
					 "  - cast: {field: value, to: x_b, dtype: f64}\n"
					 "  - cast: {field: \"x_*\", to: \"*_half\", dtype: f16}\n"
					 "  - cast: {field: [x_a, x_b], to: [p, q], dtype: i8}\n");

	cr_assert_str_eq(type_after(plan, &plan->worker.step[2], "a_half"), "scalar f16");
	cr_assert_str_eq(type_after(plan, &plan->worker.step[2], "b_half"), "scalar f16");
	cr_assert_str_eq(type_after(plan, &plan->worker.step[3], "q"), "scalar i8");
	cr_assert_eq(plan->n_results, 7);
	pl_plan_destroy(plan);
}

Test(plan_read, views_have_fields_and_draws_of_their_own)
{
	struct pl_plan *plan = good_plan(DECODED
		"  - views:\n      into:\n        v_{1..2}: [{random_resized_crop: 32}, "
		"random_flip]\n"
		"        plain: [{center_crop: {field: image, size: 16}}]\n"
		"  - random_flip\n  - rearrange: {field: \"v_*\", pattern: \"h w c -> c h w\"}\n");
	const struct pl_step *step = plan->worker.step;

	cr_assert_eq(plan->worker.n, 9);
	cr_assert_eq(step[1].n, 3);
	cr_assert_str_eq(plan->field_name[step[1].out[2]], "plain");
	cr_assert(step[1].ends >> field_named(plan, "image") & 1);
	cr_assert_str_eq(step[2].view, "v_1");
	cr_assert_str_eq(step[4].view, "v_2");
	cr_assert_eq(step[2].n, 1);
	cr_assert_neq(step[2].place, step[4].place);
	cr_assert_eq(step[4].place, pl_rng_place("random_resized_crop", 0, "v_2"));
	cr_assert_str_eq(type_after(plan, &step[6], "plain"), "image u8 [16, 16, 3]");
	cr_assert_str_eq(step[7].view, "");
	cr_assert_eq(step[7].n, 3, "a step behind views works on all of them");
	cr_assert_eq(step[8].n, 2);
	pl_plan_destroy(plan);
}

Test(plan_read, occurrences_count_by_name_and_nothing_else)
{
	struct pl_plan *plain =
		good_plan(DECODED "  - random_flip\n  - random_flip: {axis: vertical}\n");
	struct pl_plan *other = good_plan(
		"define:\n  flips: [random_flip, {trace: x}, {random_flip: {axis: vertical}}]\n"
		"  unused: [random_flip]\n" DECODED "  - trace: y\n  - use: flips\n");

	cr_assert_eq(plain->worker.step[1].place, pl_rng_place("random_flip", 0, ""));
	cr_assert_eq(plain->worker.step[2].place, pl_rng_place("random_flip", 1, ""));
	cr_assert_eq(other->worker.step[2].place, plain->worker.step[1].place);
	cr_assert_eq(other->worker.step[4].place, plain->worker.step[2].place);
	cr_assert_eq(other->worker.step[4].p_place, plain->worker.step[2].p_place);
	pl_plan_destroy(plain);
	pl_plan_destroy(other);
}

Test(plan_read, draw_shares_between_steps_or_splits_by_field)
{
	struct pl_plan *plan =
		good_plan(DECODED "  - random_flip: {draw: one}\n  - random_flip: {draw: one}\n"
				  "  - random_flip: {draw: each}\n");
	const struct pl_step *step = plan->worker.step;

	cr_assert_eq(step[1].place, step[2].place);
	cr_assert_eq(step[1].p_place, step[2].p_place);
	cr_assert_neq(step[1].place, step[1].p_place);
	cr_assert_eq(step[3].draws_each, true);
	cr_assert_neq(step[3].place, step[1].place);
	pl_plan_destroy(plan);
}

Test(plan_read, groups_and_branches_nest)
{
	struct pl_plan *plan =
		good_plan("define: {flip: [random_flip]}\n" DECODED
			  "  - group: {steps: [{use: flip}, {group: [{use: flip}]}], p: 3/4}\n"
			  "  - one_of:\n      - {weight: 2, steps: [{use: flip}]}\n      - "
			  "random_flip: {p: 1}\n"
			  "      - []\n");
	const struct pl_step *group = &plan->worker.step[1];
	const struct pl_step *one_of = &plan->worker.step[2];

	cr_assert_float_eq(group->p, 0.75, 1e-12);
	cr_assert_eq(group->n_lists, 1);
	cr_assert_eq(group->list[0].n, 2);
	cr_assert_eq(group->list[0].step[1].list[0].n, 1);
	cr_assert_eq(one_of->n_lists, 3);
	cr_assert_float_eq(one_of->list[0].weight, 2, 0);
	cr_assert_float_eq(one_of->list[1].step[0].p, 1, 0);
	cr_assert_eq(one_of->list[2].n, 0);
	cr_assert_eq(plan->n_steps, 8);
	pl_plan_destroy(plan);
}

Test(plan_read, no_step_writes_the_row_when_the_last_one_may_not_run)
{
	struct pl_plan *plan = good_plan(DECODED "  - center_crop: 8\n  - random_flip: {p: 0.5}\n");

	for (int i = 0; i < plan->worker.n; i++)
		for (int k = 0; k < plan->worker.step[i].n; k++)
			cr_assert_eq(plan->worker.step[i].writes_row[k], false);
	pl_plan_destroy(plan);
	plan = good_plan(DECODED "  - center_crop: 8\n  - group: [normalize: imagenet]\n");
	cr_assert_eq(plan->worker.step[1].writes_row[0], false);
	pl_plan_destroy(plan);
	plan = good_plan(DECODED "  - center_crop: 8\n  - trace: {field: image, label: x}\n");
	cr_assert_eq(plan->worker.step[1].writes_row[0], true, "a trace only looks");
	pl_plan_destroy(plan);
}

Test(plan_read, params_fill_in_values)
{
	struct pl_setting settings[] = {{"dir", "/data"}, {"n", "8"}};
	struct plan_reading r;

	setenv("PLAN_TEST_SIZE", "12", 1);
	write_text("p.yaml",
		"params: {dir: photos, sub: $(dir)/x, n: 4, plain: $$(n)}\n"
		"source: {files: \"$(sub)/*.jpg\"}\nworkers:\n  - trace: $(plain) $(n)\n"
		"  - decode_image\n  - center_crop: $(PLAN_TEST_SIZE:-7)\n"
		"post_main: [batch: $(n)]\n");
	r = plan_read_with("p.yaml", settings, 2);
	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_str_eq(*(const char **)r.plan->source.params, "/data/x/*.jpg");
	cr_assert_str_eq(*(const char **)r.plan->worker.step[0].params, "$(n) 8");
	cr_assert_str_eq(
		type_after(r.plan, &r.plan->worker.step[2], "image"), "image u8 [12, 12, 3]");
	cr_assert_eq(r.plan->layout.batch_size, 8);
	plan_end(&r);
	unsetenv("PLAN_TEST_SIZE");
	r = plan_read_with("p.yaml", settings, 2);
	cr_assert_str_eq(
		type_after(r.plan, &r.plan->worker.step[2], "image"), "image u8 [7, 7, 3]");
	plan_end(&r);
}

Test(plan_read, a_param_can_not_change_the_structure)
{
	struct pl_setting setting = {"label", "a\n  - batch: 4 # {x: [y]}"};
	struct plan_reading r;

	write_text("p.yaml",
		"params: {label: x}\nsource: {range: 3}\nworkers:\n  - trace: $(label)\n");
	r = plan_read_with("p.yaml", &setting, 1);
	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_eq(r.plan->worker.n, 1);
	cr_assert_str_eq(*(const char **)r.plan->worker.step[0].params, setting.value);
	plan_end(&r);
}

Test(plan_read, included_lists_and_definitions)
{
	struct pl_plan *plan;

	cr_assert_eq(mkdir("sub", 0700), 0);
	write_text("sub/common.yaml",
		"version: 1\ninclude: [more.yaml]\ndefine: {one: [trace: one]}\n");
	write_text("sub/more.yaml", "define: {two: [{use: one}, {include: steps.yaml}]}\n");
	write_text("sub/steps.yaml", "- trace: three\n- trace: $(last)\n");
	plan = good_plan(
		"include: sub/common.yaml\nparams: {last: four}\nsource: {range: 3}\n"
		"pre_main: {steps: [use: two]}\nworkers:\n  - include: {file: sub/steps.yaml}\n"
		"  - use: {name: one}\n");
	cr_assert_eq(plan->pre.n, 3);
	cr_assert_eq(plan->worker.n, 3);
	cr_assert_str_eq(*(const char **)plan->worker.step[1].params, "four");
	cr_assert_str_eq(plan->text_name[plan->worker.step[1].at.file], "sub/steps.yaml");
	cr_assert_eq(plan->worker.step[1].at.line, 2);
	pl_plan_destroy(plan);
}

Test(plan_read, one_file_may_be_included_a_hundred_times)
{
	char text[8192] = "source: {range: 3}\nworkers:\n";
	struct pl_plan *plan;

	write_text("one.yaml", "- trace: one\n");
	for (int i = 0; i < 100; i++)
		strcat(text, "  - include: one.yaml\n");
	plan = good_plan(text);
	cr_assert_eq(plan->worker.n, 100);
	cr_assert_eq(plan->n_texts, 2);
	pl_plan_destroy(plan);
}

Test(plan_read, a_definition_used_very_often_ends_in_an_error)
{
	struct plan_reading r =
		plan_of("define:\n  a: [{use: b}, {use: b}]\n  b: [{use: c}, {use: c}]\n"
			"  c: [{use: d}, {use: d}]\n  d: [{use: e}, {use: e}]\n"
			"  e: [{use: f}, {use: f}]\n  f: [{use: g}, {use: g}]\n"
			"  g: [{use: h}, {use: h}]\n  h: [{use: i}, {use: i}]\n"
			"  i: [{trace: x}, {trace: x}]\nsource: {range: 3}\nworkers: [use: a]\n");

	cr_assert_null(r.plan);
	cr_assert_not_null(
		strstr(r.messages, "more than 128 steps in one pipeline"), "%s", r.messages);
	plan_end(&r);
}

Test(plan_read, faults_of_several_parts_are_told_together)
{
	struct plan_reading r =
		plan_of("seed: x\nsource: {range: 0}\npre_main: [shufle]\nworkers:\n"
			"  - cast: f99\n  - randm: 3\npost_main: [batch: 0]\n");

	cr_assert_eq(r.n_errors, 6, "%s", r.messages);
	plan_end(&r);
}

Test(plan_read, a_failed_step_causes_no_further_errors)
{
	struct plan_reading r =
		plan_of("source: {files: photos}\nworkers:\n  - decode_imag\n  - center_crop: 8\n"
			"  - normalize: imagenet\n  - select: image\npost_main: [batch: 4]\n");

	cr_assert_eq(r.n_errors, 1, "%s", r.messages);
	plan_end(&r);
}

Test(plan_read, workers_none)
{
	struct plan_reading r = plan_of("source: {range: 3}\nworkers: none\n");

	cr_assert_not_null(r.plan);
	cr_assert_eq(r.n_warnings, 1);
	cr_assert_eq(r.plan->is_sequential, true);
	cr_assert_eq(r.plan->n_workers, 1);
	cr_assert_eq(r.plan->worker.n, 0);
	plan_end(&r);
}

Test(plan_read, list_values_are_a_column)
{
	struct pl_plan *plan = good_plan("source: {list: [1, -2, +3]}\nworkers: [trace: a]\n");

	cr_assert_eq(plan->source.declared[0].type.dtype, PL_I64);
	pl_plan_destroy(plan);
	plan = good_plan("source: {list: [1, 2.5]}\nworkers: [trace: a]\n");
	cr_assert_eq(plan->source.declared[0].type.dtype, PL_F64);
	pl_plan_destroy(plan);
	plan = good_plan("source: {list: [1, \"2\"]}\nworkers: [trace: a]\n");
	cr_assert_eq(plan->source.declared[0].type.kind, PL_KIND_TEXT);
	pl_plan_destroy(plan);
	plan = good_plan("source: {list: [1, 002]}\nworkers: [trace: a]\n");
	cr_assert_eq(plan->source.declared[0].type.kind, PL_KIND_TEXT);
	pl_plan_destroy(plan);
	plan = good_plan("source: {list: [no, 1/2, nan]}\nworkers: [trace: a]\n");
	cr_assert_eq(plan->source.declared[0].type.kind, PL_KIND_TEXT);
	pl_plan_destroy(plan);
}

/* Types are judged for a full batch and for a short one: each time from what came in. */
Test(plan_read, a_step_after_batch_may_change_the_rank_in_place)
{
	struct pl_plan *plan = good_plan(DECODED
		"  - resize: {size: 8}\n  - select: image\npost_main:\n  - batch: 4\n"
		"  - repeat: {field: image, pattern: \"b h w c -> b n h w c\", axes: {n: 2}}\n"
		"  - reduce: {field: image, pattern: \"b n h w c -> b c\", op: max}\n");

	cr_assert_str_eq(
		type_after(plan, &plan->post.step[1], "image"), "tensor u8 [?, 2, 8, 8, 3]");
	cr_assert_str_eq(type_after(plan, &plan->post.step[2], "image"), "tensor u8 [?, 3]");
	pl_plan_destroy(plan);
}
