/* daemon/plan/dump_json.c - a plan as JSON, for tools. */
#include <errno.h>
#include <jansson.h>

#include "daemon/plan/describe.h"

static json_t *type_json(const struct pl_type *type)
{
	json_t *shape = json_array();
	json_t *object = json_object();

	for (int d = 0; d < type->rank; d++)
		json_array_append_new(
			shape, type->shape[d] < 0 ? json_null() : json_integer(type->shape[d]));
	json_object_set_new(object, "kind", json_string(pl_kind_name(type->kind)));
	json_object_set_new(object, "dtype", json_string(pl_dtype_name(type->dtype)));
	json_object_set_new(object, "shape", shape);
	return object;
}

static json_t *source_json(const struct pl_plan *plan)
{
	const struct pl_source_use *use = &plan->source;
	json_t *fields = json_array();
	json_t *object = json_object();

	for (int i = 0; i < use->n_fields; i++) {
		json_t *field = type_json(&use->declared[i].type);

		json_object_set_new(field, "name", json_string(use->declared[i].name));
		json_object_set_new(field, "is_read", json_boolean(use->field[i] >= 0));
		json_array_append_new(fields, field);
	}
	json_object_set_new(object, "kind", json_string(use->op->name));
	json_object_set_new(object, "name", json_string(use->name));
	json_object_set_new(object, "fields", fields);
	return object;
}

static json_t *list_json(const struct pl_plan *plan, const struct pl_step_list *list,
	const struct pl_dump_live *live);

static json_t *pairs_json(const struct pl_plan *plan, const struct pl_step *step)
{
	json_t *pairs = json_array();

	for (int k = 0; k < step->n; k++) {
		json_t *pair = type_json(&step->type[k]);

		json_object_set_new(pair, "in", json_string(plan->field_name[step->in[k]]));
		json_object_set_new(pair, "out", json_string(plan->field_name[step->out[k]]));
		json_object_set_new(pair, "writes_row", json_boolean(step->writes_row[k]));
		json_array_append_new(pairs, pair);
	}
	return pairs;
}

static json_t *step_json(
	const struct pl_plan *plan, const struct pl_step *step, const struct pl_dump_live *live)
{
	json_t *object = json_object();
	char value[200];

	json_object_set_new(object, "id", json_integer(step->id));
	json_object_set_new(object, "name", json_string(step->op->name));
	if (pl_describe_value(step, value, sizeof(value))[0])
		json_object_set_new(object, "value", json_string(value));
	json_object_set_new(object, "line", json_integer(step->at.line));
	json_object_set_new(object, "p", json_real(step->p));
	if (step->pass.n > 1) /* all steps of a pass have the id of its first */
		json_object_set_new(object, "pass", json_integer(step->id - step->pass.at + 1));
	if (step->view[0])
		json_object_set_new(object, "view", json_string(step->view));
	json_object_set_new(object, "fields", pairs_json(plan, step));
	if (live) {
		json_object_set_new(
			object, "per_second", json_real(pl_describe_rate(live, step->id)));
		json_object_set_new(
			object, "share", json_real(pl_describe_share(plan, live, step->id)));
	}
	if (step->n_lists > 0) {
		json_t *lists = json_array();

		for (int i = 0; i < step->n_lists; i++) {
			json_t *inner = json_object();

			json_object_set_new(inner, "weight", json_real(step->list[i].weight));
			json_object_set_new(inner, "steps", list_json(plan, &step->list[i], live));
			json_array_append_new(lists, inner);
		}
		json_object_set_new(object, "lists", lists);
	}
	return object;
}

static json_t *list_json(const struct pl_plan *plan, const struct pl_step_list *list,
	const struct pl_dump_live *live)
{
	json_t *steps = json_array();

	for (int i = 0; i < list->n; i++)
		json_array_append_new(steps, step_json(plan, &list->step[i], live));
	return steps;
}

static json_t *stage_json(
	const struct pl_plan *plan, enum pl_stage stage, const struct pl_dump_live *live)
{
	bool is_worker = stage == PL_STAGE_WORKER;
	const struct pl_step_list *list = is_worker               ? &plan->worker
					  : stage == PL_STAGE_PRE ? &plan->pre
								  : &plan->post;
	json_t *object = json_object();
	json_t *pids = json_array();

	if (live && !is_worker)
		json_array_append_new(pids, json_integer(live->dispatcher_pid));
	for (int i = 0; live && is_worker && i < live->n_workers; i++)
		json_array_append_new(pids, json_integer(live->worker_pid[i]));
	json_object_set_new(object, "stage", json_string(pl_describe_stage(stage)));
	json_object_set_new(object, "process", json_string(pl_stage_name(stage)));
	json_object_set_new(object, "processes", json_integer(is_worker ? plan->n_workers : 1));
	json_object_set_new(object, "pids", pids);
	json_object_set_new(object, "steps", list_json(plan, list, live));
	return object;
}

static json_t *results_json(const struct pl_plan *plan)
{
	static const char *const form[] = {"fixed", "ragged", "single"};
	json_t *results = json_array();

	for (int i = 0; i < plan->n_results; i++) {
		const struct pl_result_field *r = &plan->result[i];
		const struct pl_delivery *d = pl_describe_delivery(plan, r->field);
		struct pl_type type = pl_describe_result(plan, r);
		json_t *field = type_json(&type);
		char way[200] = "made by a step after batch";

		if (d)
			pl_describe_way(plan, d, way, sizeof(way));
		json_object_set_new(field, "name", json_string(r->name));
		json_object_set_new(field, "form", json_string(form[r->form]));
		json_object_set_new(
			field, "zero_copy", json_boolean(d && pl_describe_is_zero_copy(plan, d)));
		json_object_set_new(field, "way", json_string(way));
		json_array_append_new(results, field);
	}
	return results;
}

static json_t *memory_json(const struct pl_plan *plan)
{
	json_t *object = json_object();

	json_object_set_new(object, "bytes", json_integer(plan->memory));
	json_object_set_new(
		object, "batch_bytes", json_integer((json_int_t)plan->layout.slot_bytes));
	json_object_set_new(
		object, "cell_bytes", json_integer((json_int_t)plan->layout.cell_bytes));
	json_object_set_new(object, "needs_cells", json_boolean(plan->layout.needs_cells));
	return object;
}

int pl_dump_json(FILE *out, const struct pl_plan *plan, const struct pl_dump_live *live)
{
	json_t *root = json_object();
	json_t *stages = json_array();
	int rc;

	json_object_set_new(root, "name", json_string(plan->name));
	json_object_set_new(root, "file", json_string(plan->file));
	json_object_set_new(root, "fuse", json_string(plan->fuses ? "on" : "off"));
	json_object_set_new(root, "is_sequential", json_boolean(plan->is_sequential));
	json_object_set_new(
		root, "epochs", plan->epochs ? json_integer(plan->epochs) : json_string("forever"));
	json_object_set_new(root, "seed", json_integer((json_int_t)plan->seed));
	json_object_set_new(root, "memory", memory_json(plan));
	json_object_set_new(root, "source", source_json(plan));
	for (unsigned stage = PL_STAGE_PRE; stage <= PL_STAGE_POST; stage *= 2)
		json_array_append_new(stages, stage_json(plan, (enum pl_stage)stage, live));
	json_object_set_new(root, "stages", stages);
	json_object_set_new(root, "batch_size",
		plan->layout.has_batch ? json_integer(plan->layout.batch_size) : json_null());
	json_object_set_new(root, "drop_last", json_boolean(plan->layout.drop_last));
	json_object_set_new(root, "results", results_json(plan));
	rc = root ? json_dumpf(root, out, JSON_INDENT(2)) : -1;
	fputc('\n', out);
	json_decref(root);
	return rc < 0 ? -ENOMEM : 0;
}
