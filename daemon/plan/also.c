/* daemon/plan/also.c - the fields of a step beyond its own: named by a parameter, written beside
 * its result, linked with a field it changes. */
#include "daemon/plan/build.h"

static bool is_taken(const struct pl_step *step, int field)
{
	for (int i = 0; i < step->n; i++)
		if (step->in[i] == field && step->out[i] == field)
			return true;
	return false;
}

static bool add(struct pl_build *b, struct pl_step *step, int in, int out, bool only_reads)
{
	if (step->n == PL_PAIRS_MAX) {
		pl_diag_error(b->diag, step->at, "step '%s': more than %d fields", step->op->name,
			PL_PAIRS_MAX);
		return false;
	}
	step->in[step->n] = in;
	step->out[step->n] = out;
	step->only_reads[step->n++] = only_reads;
	return true;
}

/* Where the file names it: the parameter that holds the name, else the step. */
static struct pl_place place_of(
	const struct pl_build *b, const struct pl_step *step, const char *name)
{
	const struct pl_node *args = b->note[step->id].args;

	for (int i = 0; args && args->kind == PL_NODE_MAP && i < args->n; i++) {
		const struct pl_node *value = args->item[i];

		if (value->kind == PL_NODE_TEXT && strcmp(value->text, name) == 0)
			return value->at;
		for (int k = 0; value->kind == PL_NODE_LIST && k < value->n; k++)
			if (value->item[k]->kind == PL_NODE_TEXT &&
				strcmp(value->item[k]->text, name) == 0)
				return value->item[k]->at;
	}
	return step->at;
}

static int first_of(struct pl_build *b, const struct pl_step *step, enum pl_kind kind)
{
	for (int f = 0; f < b->plan->n_fields; f++)
		if (b->state.is_live[f] && b->state.type[f].kind == kind &&
			pl_field_seen(b, step, b->plan->field_name[f]) == f)
			return f;
	return -1;
}

static bool add_picture(struct pl_build *b, struct pl_step *step)
{
	static const enum pl_kind kinds[] = {PL_KIND_IMAGE, PL_KIND_VIDEO, PL_KIND_MASK};

	for (size_t k = 0; k < PL_ARRAY_LEN(kinds); k++) {
		int field = first_of(b, step, kinds[k]);

		if (field >= 0)
			return add(b, step, field, field, true);
	}
	if (!b->state.is_poisoned)
		pl_diag_error(b->diag, step->at,
			"step '%s' needs the size of a picture, but there is none here (put "
			"decode_image before it)",
			step->op->name);
	return false;
}

static bool add_named(struct pl_build *b, struct pl_step *step, const struct pl_also *also)
{
	int field;

	if (also->use == PL_ALSO_WRITES) {
		field = pl_field_output(b, step, also->name);
		return field >= 0 && add(b, step, step->in[0], field, false);
	}
	field = pl_field_seen(b, step, also->name);
	if (field < 0) {
		pl_field_missing(b, step, place_of(b, step, also->name), also->name);
		return false;
	}
	if (also->use == PL_ALSO_CHANGES && is_taken(step, field)) {
		pl_diag_error(b->diag, place_of(b, step, also->name),
			"step '%s': field '%s' is named twice", step->op->name, also->name);
		return false;
	}
	return add(b, step, field, field, also->use == PL_ALSO_READS);
}

static bool add_linked(struct pl_build *b, struct pl_step *step)
{
	int n_own = step->n_own;

	for (int i = 0; i < n_own; i++) {
		int link = b->state.type[step->in[i]].link;

		for (int f = 0; link && f < b->plan->n_fields; f++) {
			const char *name = b->plan->field_name[f];

			if (!b->state.is_live[f] || b->state.type[f].link != link ||
				is_taken(step, f) || pl_field_seen(b, step, name) != f)
				continue;
			if (!add(b, step, f, f, false))
				return false;
		}
	}
	return true;
}

bool pl_also_resolve(struct pl_build *b, struct pl_step *step)
{
	struct pl_also also[PL_ALSO_MAX];
	int n = step->op->also ? step->op->also(step->params, also) : 0;

	for (int i = 0; i < n; i++)
		if (!(also[i].name ? add_named(b, step, &also[i]) : add_picture(b, step)))
			return false;
	return !(step->op->flags & PL_OP_LINKED) || add_linked(b, step);
}
