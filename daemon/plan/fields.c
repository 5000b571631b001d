/* daemon/plan/fields.c - which fields a step takes and writes: by name, by pattern, or by kind. */
#include <fnmatch.h>
#include <stdio.h>

#include "daemon/plan/build.h"
#include "daemon/plan/suggest.h"

#define STANDING 3 /* _index, _key, _source */

int pl_field_number(struct pl_build *b, const char *name)
{
	struct pl_plan *plan = b->plan;

	for (int i = 0; i < plan->n_fields; i++)
		if (strcmp(plan->field_name[i], name) == 0)
			return i;
	if (plan->n_fields == PL_FIELDS_MAX)
		return -1;
	plan->field_name[plan->n_fields] = name;
	return plan->n_fields++;
}

bool pl_field_is_standing(const struct pl_build *b, int field)
{
	return field >= b->standing && field < b->standing + STANDING;
}

static struct pl_view *view_of(struct pl_build *b, const struct pl_step *step)
{
	for (int i = 0; step->view[0] && i < b->n_views; i++)
		if (strcmp(b->view[i].name, step->view) == 0)
			return &b->view[i];
	return NULL;
}

/* What a step calls the field: in a view, the name that it was copied from. NULL: it can't see the
 * field. */
static const char *seen_as(const struct pl_view *view, const char *name, int field)
{
	if (!view)
		return name;
	for (int i = 0; i < view->n; i++)
		if (view->field[i] == field)
			return view->alias[i];
	return NULL;
}

/* Fields that a step at this place can name, those of every sample only when `with_standing`. */
struct field_scope {
	const struct pl_build *b;
	const struct pl_view *view;
	bool has_standing;
};

static const char *scope_name(const struct field_scope *s, int field)
{
	const struct pl_build *b = s->b;

	if (!b->state.is_live[field] || (!s->has_standing && pl_field_is_standing(b, field)))
		return NULL;
	return seen_as(s->view, b->plan->field_name[field], field);
}

static void live_names(const struct field_scope *s, struct pl_names *names)
{
	for (int i = 0; i < s->b->plan->n_fields; i++) {
		const char *name = scope_name(s, i);

		if (name)
			pl_names_add(names, name);
	}
}

/* The taken fields while they are collected. */
struct taken {
	struct pl_step *step;
	const char *stem[PL_PAIRS_MAX]; /* what the '*' of a pattern stood for */
	int n_stem[PL_PAIRS_MAX];
	bool is_ok;
};

static void take(struct pl_build *b, struct taken *t, int field)
{
	struct pl_step *step = t->step;

	for (int i = 0; i < step->n; i++)
		if (step->in[i] == field)
			return;
	if (step->n == PL_PAIRS_MAX) {
		if (t->is_ok)
			pl_diag_error(b->diag, step->at, "step '%s': more than %d fields",
				step->op->name, PL_PAIRS_MAX);
		t->is_ok = false;
		return;
	}
	t->stem[step->n] = "";
	step->in[step->n++] = field;
}

void pl_field_missing(
	struct pl_build *b, const struct pl_step *step, struct pl_place at, const char *name)
{
	struct field_scope shown = {b, view_of(b, step), false};
	struct pl_names names = {0};
	char hint[800];

	if (b->state.is_poisoned)
		return;
	live_names(&shown, &names);
	pl_diag_error(b->diag, at, "step '%s': no field '%s' here%s", step->op->name, name,
		names.n ? pl_names_hint(&names, name, hint, sizeof(hint)) : "");
}

int pl_field_seen(struct pl_build *b, const struct pl_step *step, const char *name)
{
	struct field_scope scope = {b, view_of(b, step), true};

	for (int i = 0; i < b->plan->n_fields; i++) {
		const char *seen = scope_name(&scope, i);

		if (seen && (strcmp(name, seen) == 0 || strcmp(name, b->plan->field_name[i]) == 0))
			return i;
	}
	return -1;
}

/* The stem is what a single '*' of the pattern stands for in the name. */
static void note_stem(struct taken *t, const char *pattern, const char *name)
{
	size_t head = strcspn(pattern, "*");
	size_t tail = pattern[head] ? strlen(pattern + head + 1) : 0;
	int i = t->step->n - 1;

	if (pattern[head] != '*' || strlen(name) < head + tail)
		return;
	t->stem[i] = name + head;
	t->n_stem[i] = (int)(strlen(name) - head - tail);
}

static void take_named(struct pl_build *b, struct taken *t, const struct pl_node *name)
{
	struct field_scope scope = {b, view_of(b, t->step), true};
	bool is_pattern = name->kind == PL_NODE_TEXT && strpbrk(name->text, "*?[");
	bool is_found = false;

	if (name->kind != PL_NODE_TEXT) {
		if (name->kind != PL_NODE_BAD)
			pl_diag_error(b->diag, name->at,
				"step '%s': field must be a name, a pattern or a list of them",
				t->step->op->name);
		t->is_ok = false;
		return;
	}
	scope.has_standing = !is_pattern;
	for (int i = 0; i < b->plan->n_fields; i++) {
		const char *seen = scope_name(&scope, i);

		if (!seen ||
			(is_pattern ? fnmatch(name->text, seen, 0) != 0
				    : strcmp(name->text, seen) != 0 &&
						strcmp(name->text, b->plan->field_name[i]) != 0))
			continue;
		take(b, t, i);
		if (is_pattern)
			note_stem(t, name->text, seen);
		is_found = true;
	}
	if (!is_found) {
		pl_field_missing(b, t->step, name->at, name->text);
		t->is_ok = false;
	}
}

static const char *kinds_text(unsigned kinds, char *out, size_t n)
{
	struct pl_names names = {0};

	for (int kind = 1; kind < PL_KIND_END; kind++)
		if (kinds & PL_KIND_BIT(kind))
			pl_names_add(&names, pl_kind_name((enum pl_kind)kind));
	return pl_names_join(&names, out, n);
}

/* "data (bytes u8 [?]), label (scalar i64)". */
static const char *live_text(const struct field_scope *s, char *out, size_t n)
{
	size_t at = 0;

	snprintf(out, n, "none");
	for (int i = 0; i < s->b->plan->n_fields && at < n; i++) {
		const char *name = scope_name(s, i);
		char type[256];

		if (name)
			at += (size_t)snprintf(out + at, n - at, "%s%s (%s)", at ? ", " : "", name,
				pl_type_format(type, sizeof(type), &s->b->state.type[i]));
	}
	return out;
}

static bool tell_none(
	struct pl_build *b, const struct pl_step *step, const struct field_scope *scope)
{
	char kinds[200];
	char live[900];

	if (!b->state.is_poisoned)
		pl_diag_error(b->diag, step->at,
			"step '%s' takes fields of kind %s, but there are none here; fields: %s",
			step->op->name, kinds_text(step->op->takes, kinds, sizeof(kinds)),
			live_text(scope, live, sizeof(live)));
	return false;
}

static bool tell_several(struct pl_build *b, const struct pl_step *step)
{
	struct pl_names names = {0};
	char list[600];

	if (b->state.is_poisoned)
		return false;
	for (int i = 0; i < step->n; i++)
		pl_names_add(&names, b->plan->field_name[step->in[i]]);
	pl_diag_error(b->diag, step->at,
		"step '%s' takes one field, but there are %s: say which by 'field:'",
		step->op->name, pl_names_join(&names, list, sizeof(list)));
	return false;
}

/* Without `field:` a step takes all fields of its kinds; one that only shows values takes the
 * first. */
static bool take_by_kind(struct pl_build *b, struct taken *t)
{
	struct pl_step *step = t->step;
	struct field_scope scope = {b, view_of(b, step), false};
	bool is_debug = strcmp(step->op->class_, "debug") == 0;
	unsigned takes = step->op->takes;

	if (strcmp(step->op->name, "views") == 0)
		takes |= PL_KINDS_GEOMETRY;
	for (int i = 0; i < b->plan->n_fields && !(is_debug && step->n > 0); i++)
		if (scope_name(&scope, i) && takes & PL_KIND_BIT(b->state.type[i].kind))
			take(b, t, i);
	if (step->n == 0 && !is_debug)
		return tell_none(b, step, &scope);
	if (step->n > 1 && step->op->flags & PL_OP_ONE_FIELD)
		return tell_several(b, step);
	return t->is_ok;
}

static bool is_field_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n > 0 && n < PL_NAME_MAX && !name[n] && name[0] != '_' &&
	       (name[0] < '0' || name[0] > '9');
}

/* The i-th name under `to:`; NULL: told. */
static const char *given_output(struct pl_build *b, const struct taken *t, int i)
{
	const struct pl_node *to = b->note[t->step->id].to;
	const struct pl_node *at = to->kind == PL_NODE_LIST ? (i < to->n ? to->item[i] : NULL) : to;
	const char *star = at && at->kind == PL_NODE_TEXT ? strchr(at->text, '*') : NULL;
	const char *name = at && at->kind == PL_NODE_TEXT ? at->text : "";

	if (star && t->n_stem[i] >= 0 && t->stem[i])
		name = pl_pool_format(b->pool, "%.*s%.*s%s", (int)(star - at->text), at->text,
			t->n_stem[i], t->stem[i], star + 1);
	if (to->kind == PL_NODE_LIST && to->n != t->step->n) {
		pl_diag_error(b->diag, to->at, "step '%s': 'to' has %d names for %d fields",
			t->step->op->name, to->n, t->step->n);
		return NULL;
	}
	if (name && is_field_name(name))
		return name;
	if (to->kind != PL_NODE_BAD)
		pl_diag_error(b->diag, to->at,
			"step '%s': to: '%s' is no name for a field: letters, digits and '_', not "
			"beginning with '_'",
			t->step->op->name, name ? name : "");
	return NULL;
}

/* The field of that name in the step's view, or a new one; -1: told. */
int pl_field_output(struct pl_build *b, const struct pl_step *step, const char *name)
{
	struct pl_view *view = view_of(b, step);
	int field;

	for (int i = 0; view && i < view->n; i++)
		if (strcmp(view->alias[i], name) == 0 ||
			strcmp(b->plan->field_name[view->field[i]], name) == 0)
			return view->field[i];
	if (view && view->n == PL_PAIRS_MAX) {
		pl_diag_error(b->diag, step->at, "view '%s' has more than %d fields", view->name,
			PL_PAIRS_MAX);
		return -1;
	}
	field = pl_field_number(
		b, view ? pl_pool_format(b->pool, "%s_%s", view->name, name) : name);
	if (field < 0) {
		pl_diag_error(
			b->diag, step->at, "more than %d fields in one pipeline", PL_FIELDS_MAX);
		return -1;
	}
	if (view) {
		view->alias[view->n] = name;
		view->field[view->n++] = field;
	}
	return field;
}

static const char *default_output(const struct pl_build *b, const struct pl_step *step, int i)
{
	if (step->op->output)
		return step->op->output(step->params, b->state.type[step->in[i]].kind);
	return step->op->to;
}

static bool name_output(struct pl_build *b, struct taken *t, int i)
{
	struct pl_step *step = t->step;
	const char *name =
		b->note[step->id].to ? given_output(b, t, i) : default_output(b, step, i);

	step->out[i] = step->in[i];
	if (!name)
		return !b->note[step->id].to;
	step->out[i] = pl_field_output(b, step, name);
	for (int k = 0; k < i; k++) {
		if (step->out[i] < 0 || step->out[k] != step->out[i])
			continue;
		pl_diag_error(b->diag, step->at,
			"step '%s': fields '%s' and '%s' would both be written to '%s': give their "
			"names by 'to:'",
			step->op->name, b->plan->field_name[step->in[k]],
			b->plan->field_name[step->in[i]], name);
		return false;
	}
	return step->out[i] >= 0;
}

/* All inputs become one field. */
static bool join_outputs(struct pl_build *b, struct taken *t)
{
	struct pl_step *step = t->step;
	const struct pl_node *to = b->note[step->id].to;

	if (!to || to->kind != PL_NODE_TEXT) {
		if (!to || to->kind != PL_NODE_BAD)
			pl_diag_error(b->diag, to ? to->at : step->at,
				"step '%s': to: must say the one field that %d fields become",
				step->op->name, step->n);
		return false;
	}
	for (int i = 1; i < step->n; i++) {
		step->out[i] = step->in[i];
		step->only_reads[i] = true;
	}
	if (!name_output(b, t, 0))
		return false;
	for (int i = 0; i < step->n; i++)
		if (step->in[i] != step->out[0])
			step->ends |= (uint64_t)1 << step->in[i];
	return true;
}

bool pl_fields_resolve(struct pl_build *b, struct pl_step *step)
{
	const struct pl_node *field = b->note[step->id].field;
	struct taken t = {.step = step, .is_ok = true};

	if (step->op->flags & PL_OP_NO_FIELD)
		return true;
	if (field && field->kind == PL_NODE_LIST) {
		for (int i = 0; i < field->n; i++)
			take_named(b, &t, field->item[i]);
		if (field->n == 0)
			pl_diag_error(b->diag, field->at, "step '%s': 'field' names none",
				step->op->name);
		t.is_ok &= field->n > 0;
	} else if (field) {
		take_named(b, &t, field);
	} else {
		t.is_ok = take_by_kind(b, &t);
	}
	if (step->op->flags & PL_OP_JOINS)
		t.is_ok = t.is_ok && join_outputs(b, &t);
	else
		for (int i = 0; t.is_ok && i < step->n; i++)
			t.is_ok = name_output(b, &t, i);
	step->n_own = step->n;
	t.is_ok = t.is_ok && pl_also_resolve(b, step);
	if (step->op->flags & PL_OP_CONSUMES)
		for (int i = 0; t.is_ok && i < step->n; i++)
			if (step->out[i] != step->in[i])
				step->ends |= (uint64_t)1 << step->in[i];
	return t.is_ok;
}

/* The field that carries the view's own name: the first image, video, mask or sound, else the first
 * of all. */
static int main_field(const struct pl_build *b, const int *in, int n)
{
	static const enum pl_kind order[] = {
		PL_KIND_IMAGE, PL_KIND_VIDEO, PL_KIND_AUDIO, PL_KIND_TENSOR, PL_KIND_MASK};

	for (size_t k = 0; k < PL_ARRAY_LEN(order); k++)
		for (int i = 0; i < n; i++)
			if (b->state.type[in[i]].kind == order[k])
				return in[i];
	return in[0];
}

static bool copy_to_view(
	struct pl_build *b, struct pl_step *step, struct pl_view *view, const int *from, int n)
{
	int first = main_field(b, from, n);

	for (int i = 0; i < n; i++) {
		const char *old = b->plan->field_name[from[i]];
		int to = pl_field_number(
			b, from[i] == first ? view->name
					    : pl_pool_format(b->pool, "%s_%s", view->name, old));

		if (to < 0 || step->n == PL_PAIRS_MAX) {
			pl_diag_error(b->diag, step->at,
				"step 'views': at most %d copies (views times fields) and %d "
				"fields in a pipeline",
				PL_PAIRS_MAX, PL_FIELDS_MAX);
			return false;
		}
		if (b->state.is_live[to]) {
			pl_diag_error(b->diag, step->at,
				"step 'views': a field '%s' exists already",
				b->plan->field_name[to]);
			return false;
		}
		step->in[step->n] = from[i];
		step->out[step->n++] = to;
		view->alias[view->n] = old;
		view->field[view->n++] = to;
	}
	return true;
}

bool pl_views_fields(struct pl_build *b, struct pl_step *step)
{
	const struct pl_step_note *note = &b->note[step->id];
	int from[PL_PAIRS_MAX];
	int n;

	if (!pl_fields_resolve(b, step))
		return false;
	n = step->n;
	memcpy(from, step->in, sizeof(from));
	step->n = 0;
	for (int i = 0; i < n; i++)
		step->ends |= (uint64_t)1 << from[i];
	for (int i = 0; i < note->n_views; i++)
		if (!copy_to_view(b, step, &b->view[note->first_view + i], from, n))
			return false;
	return true;
}
