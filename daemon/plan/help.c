/* daemon/plan/help.c - all steps, or sources, with their parameters, from their declarations. */
#include <jansson.h>

#include "daemon/kit/registry.h"
#include "daemon/plan/describe.h"
#include "daemon/plan/dump.h"
#include "daemon/plan/params.h"
#include "daemon/plan/settings.h"

/* What steps and sources have in common here. */
struct entry {
	const char *name;
	const char *help;
	const struct pl_param *params;
	const struct pl_op *op; /* NULL: a source */
};

static struct entry op_entry(size_t i)
{
	const struct pl_op *op = pl_registry().op[i];

	return (struct entry){op->name, op->help, op->params, op};
}

static struct entry source_entry(size_t i)
{
	const struct pl_source_op *op = pl_registry().source[i];

	return (struct entry){op->name, op->help, op->params, NULL};
}

static const char *range_text(const struct pl_param *p, char *out, size_t n)
{
	double scale = p->kind == PL_PARAM_DURATION ? 1e-9 : 1;

	out[0] = '\0';
	if (p->min == 0 && p->max == 0)
		return out;
	if (p->max < p->min || p->max >= 9e15)
		snprintf(out, n, ", >= %.15g", p->min * scale);
	else
		snprintf(out, n, ", %.15g .. %.15g", p->min * scale, p->max * scale);
	return out;
}

static void print_param(FILE *out, const struct pl_param *p)
{
	char expected[300];
	char range[100];
	char label[160];

	if (!p->def)
		snprintf(label, sizeof(label), "%s%s", p->key, p->is_obvious ? " *" : "");
	else
		snprintf(
			label, sizeof(label), "%s=%s%s", p->key, p->def, p->is_obvious ? " *" : "");
	fprintf(out, "    %-26s %s%s%s\n", label, pl_params_expected(p, expected, sizeof(expected)),
		range_text(p, range, sizeof(range)), p->def ? "" : " (required)");
	fprintf(out, "    %-26s %s\n", "", p->help ? p->help : "");
}

static void print_entry(FILE *out, const struct entry *e)
{
	bool is_first = true;

	fputs(e->name, out);
	if (e->op) {
		fputs(" (", out);
		for (unsigned s = PL_STAGE_PRE; s <= PL_STAGE_POST; s *= 2) {
			if (!(e->op->stages & s))
				continue;
			fprintf(out, "%s%s", is_first ? "" : ", ",
				pl_describe_stage((enum pl_stage)s));
			is_first = false;
		}
		fputc(')', out);
	}
	fprintf(out, ": %s\n", e->help);
	if (e->op && e->op->default_p > 0)
		fprintf(out, "    %-26s probability that it runs for a sample\n",
			e->op->default_p == 0.5 ? "p=0.5" : "p");
	for (const struct pl_param *p = e->params; p && p->key; p++)
		print_param(out, p);
}

static json_t *words_json(const char *const *words)
{
	json_t *array = json_array();

	for (; words && *words; words++)
		json_array_append_new(array, json_string(*words));
	return array;
}

static json_t *param_json(const struct pl_param *p)
{
	json_t *object = json_object();
	char expected[300];

	json_object_set_new(object, "key", json_string(p->key));
	json_object_set_new(
		object, "expects", json_string(pl_params_expected(p, expected, sizeof(expected))));
	json_object_set_new(object, "required", json_boolean(!p->def));
	if (p->def && p->def[0])
		json_object_set_new(object, "default", json_string(p->def));
	if (p->min != 0 || p->max != 0) {
		json_object_set_new(object, "min", json_real(p->min));
		if (p->max >= p->min)
			json_object_set_new(object, "max", json_real(p->max));
	}
	if (p->unit)
		json_object_set_new(object, "unit", json_string(p->unit));
	if (p->choices)
		json_object_set_new(object, "choices", words_json(p->choices));
	json_object_set_new(object, "obvious", json_boolean(p->is_obvious));
	json_object_set_new(object, "help", json_string(p->help ? p->help : ""));
	return object;
}

static json_t *entry_json(const struct entry *e)
{
	json_t *object = json_object();
	json_t *params = json_array();
	json_t *stages = json_array();

	for (const struct pl_param *p = e->params; p && p->key; p++)
		json_array_append_new(params, param_json(p));
	for (unsigned s = PL_STAGE_PRE; e->op && s <= PL_STAGE_POST; s *= 2)
		if (e->op->stages & s)
			json_array_append_new(
				stages, json_string(pl_describe_stage((enum pl_stage)s)));
	json_object_set_new(object, "name", json_string(e->name));
	json_object_set_new(object, "help", json_string(e->help));
	json_object_set_new(object, "params", params);
	if (!e->op) {
		json_decref(stages);
		return object;
	}
	json_object_set_new(object, "class", json_string(e->op->class_));
	json_object_set_new(object, "version", json_integer(e->op->version));
	json_object_set_new(object, "stages", stages);
	json_object_set_new(object, "random", json_boolean(e->op->flags & PL_OP_RANDOM));
	json_object_set_new(object, "p", json_real(e->op->default_p > 0 ? e->op->default_p : 1));
	return object;
}

static void dump_entries(FILE *out, size_t n, struct entry (*at)(size_t i), bool is_json)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++) {
		struct entry e = at(i);

		if (is_json)
			json_array_append_new(array, entry_json(&e));
		else
			print_entry(out, &e);
	}
	if (is_json) {
		json_dumpf(array, out, JSON_INDENT(2));
		fputc('\n', out);
	}
	json_decref(array);
}

void pl_dump_ops(FILE *out, bool is_json)
{
	dump_entries(out, pl_registry().n_ops, op_entry, is_json);
	if (!is_json)
		fputs("every step that takes fields: field=by kind, to=in place; in workers p=1, "
		      "draw=one for all fields\n"
		      "use, include: a list of steps defined elsewhere in the file, or in another "
		      "file\n"
		      "* may be given as the step's only value\n",
			out);
}

void pl_dump_sources(FILE *out, bool is_json)
{
	dump_entries(out, pl_registry().n_sources, source_entry, is_json);
	if (is_json)
		return;
	fputs("every source:\n", out);
	for (const struct pl_param *p = pl_settings_source; p->key; p++)
		print_param(out, p);
	fputs("* may be given as the source's only value\n", out);
}
