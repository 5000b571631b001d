/* daemon/plan/structure.c - the steps that hold lists of steps: group, one_of and views. */
#include <stdio.h>

#include "daemon/plan/build.h"
#include "daemon/plan/scalar.h"

/*
 * `views` is spelled out: its own step copies fields, and the steps of each view follow it in the
 * same list, each with the view's name. So the runner knows nothing of views, and a view's draws
 * are its own by that name.
 */

static bool parse_group(struct pl_build *b, struct pl_step *step, const struct pl_steps_at *at)
{
	const struct pl_node *steps = pl_node_find(b->note[step->id].args, "steps");

	if (!steps)
		return false;
	step->list = pl_pool_array(b->pool, 1, sizeof(*step->list));
	if (!step->list)
		return false;
	step->n_lists = 1;
	step->list[0].weight = 1;
	return pl_steps_parse(b, steps, at, &step->list[0]);
}

/* A branch: its list of steps, or {weight: w, steps: [...]}. NULL: told. */
static const struct pl_node *branch_steps(
	struct pl_build *b, const struct pl_node *branch, double *weight)
{
	const struct pl_node *given = pl_node_find(branch, "weight");
	struct pl_err err = {0};

	*weight = 1;
	if (branch->kind == PL_NODE_LIST || branch->kind == PL_NODE_BAD)
		return branch;
	for (int i = 0; i < branch->n; i++) {
		const char *key = branch->key[i]->text;

		if (strcmp(key, "weight") == 0 || strcmp(key, "steps") == 0)
			continue;
		pl_diag_error(b->diag, branch->key[i]->at,
			"step 'one_of': unknown key '%s' (valid: weight, steps)", key);
		return NULL;
	}
	if (given && (given->kind != PL_NODE_TEXT ||
			     pl_scalar_float(given->text, weight, &err) < 0 || *weight <= 0)) {
		pl_diag_error(b->diag, given->at, "step 'one_of': weight must be a number above 0");
		return NULL;
	}
	if (!pl_node_find(branch, "steps"))
		pl_diag_error(b->diag, branch->at, "step 'one_of': 'steps' is missing");
	return pl_node_find(branch, "steps");
}

static bool parse_one_of(struct pl_build *b, struct pl_step *step, const struct pl_steps_at *at)
{
	const struct pl_node *of = pl_node_find(b->note[step->id].args, "of");
	bool is_ok = true;

	if (!of || of->kind != PL_NODE_LIST || of->n == 0) {
		if (of && of->kind != PL_NODE_BAD)
			pl_diag_error(b->diag, of->at,
				"step 'one_of' needs a list of branches, each a list of steps");
		return false;
	}
	step->list = pl_pool_array(b->pool, (size_t)of->n, sizeof(*step->list));
	if (!step->list)
		return false;
	step->n_lists = of->n;
	for (int i = 0; i < of->n; i++) {
		const struct pl_node *steps = branch_steps(b, of->item[i], &step->list[i].weight);

		is_ok &= steps && pl_steps_parse(b, steps, at, &step->list[i]);
	}
	return is_ok;
}

/* `name_{a..b}` taken apart. */
struct view_range {
	int n_head;
	const char *tail;
	int64_t first;
	int64_t last;
	int width; /* digits, when the first one is 0 */
};

/* False: not of that form, or more than PL_VIEWS_MAX. Without braces one view, first = last = 0 and
 * tail NULL. */
static bool view_range_parse(const char *key, struct view_range *r)
{
	const char *open = strchr(key, '{');
	char text[2][24];
	int n = 0;

	*r = (struct view_range){.n_head = (int)strcspn(key, "{")};
	if (!open)
		return true;
	if (sscanf(open, "{%20[0-9]..%20[0-9]}%n", text[0], text[1], &n) != 2 || n == 0)
		return false;
	r->tail = open + n;
	if (strpbrk(r->tail, "{}") || pl_scalar_int(text[0], &r->first, NULL) < 0 ||
		pl_scalar_int(text[1], &r->last, NULL) < 0)
		return false;
	r->width = text[0][0] == '0' ? (int)strlen(text[0]) : 1;
	return r->first <= r->last && r->last - r->first < PL_VIEWS_MAX;
}

int pl_views_count(const struct pl_node *into)
{
	int64_t n = 0;

	for (int i = 0; into->kind == PL_NODE_MAP && i < into->n; i++) {
		struct view_range r;

		if (view_range_parse(into->key[i]->text, &r))
			n += (r.last - r.first + 1) * into->item[i]->n;
	}
	return n <= PL_STEPS_MAX ? (int)n : PL_STEPS_MAX + 1;
}

static bool is_view_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n > 0 && n < PL_NAME_MAX && !name[n] && name[0] != '_' &&
	       (name[0] < '0' || name[0] > '9');
}

static bool add_view(struct pl_build *b, const struct pl_node *key, const char *name)
{
	if (!name || !is_view_name(name)) {
		pl_diag_error(b->diag, key->at,
			"'%s' is no name for a view: letters, digits and '_', and {1..8} for eight "
			"of them",
			key->text);
		return false;
	}
	for (int i = 0; i < b->n_views; i++) {
		if (strcmp(b->view[i].name, name) != 0)
			continue;
		pl_diag_error(b->diag, key->at, "a view '%s' exists already", name);
		return false;
	}
	if (b->n_views == PL_VIEWS_MAX) {
		pl_diag_error(b->diag, key->at, "more than %d views", PL_VIEWS_MAX);
		return false;
	}
	b->view[b->n_views++] = (struct pl_view){.name = name};
	return true;
}

static bool parse_views(struct pl_build *b, struct pl_step *step, const struct pl_steps_at *at)
{
	struct pl_step_note *note = &b->note[step->id];
	const struct pl_node *into = pl_node_find(note->args, "into");

	if (at->depth > 0 || at->view[0]) {
		pl_diag_error(b->diag, note->name->at,
			"views can't stand inside group, one_of or other views");
		return false;
	}
	if (!into || into->kind == PL_NODE_BAD)
		return false;
	if (into->kind != PL_NODE_MAP || into->n == 0) {
		pl_diag_error(b->diag, into->at, "step 'views' needs a map of name: [steps]");
		return false;
	}
	note->into = into;
	return true;
}

static bool parse_one_view(struct pl_build *b, const struct pl_node *into, int i, const char *name,
	struct pl_step_list *out)
{
	struct pl_steps_at at = {.stage = b->note[out->step[out->n - 1].id].stage, .view = name};
	struct pl_step_list own = {0};
	bool is_ok = add_view(b, into->key[i], name);

	if (!is_ok)
		return false;
	is_ok = pl_steps_parse(b, into->item[i], &at, &own);
	if (own.n > 0)
		memcpy(&out->step[out->n], own.step, (size_t)own.n * sizeof(*own.step));
	out->n += own.n;
	return is_ok;
}

bool pl_views_parse(struct pl_build *b, const struct pl_node *into, struct pl_step_list *out)
{
	bool is_ok = true;

	for (int i = 0; i < into->n; i++) {
		const char *key = into->key[i]->text;
		struct view_range r;

		if (!view_range_parse(key, &r)) {
			is_ok = add_view(b, into->key[i], NULL);
			continue;
		}
		if (!r.tail)
			is_ok &= parse_one_view(b, into, i, key, out);
		for (int64_t k = r.first; r.tail && k <= r.last; k++)
			is_ok &= parse_one_view(b, into, i,
				pl_pool_format(b->pool, "%.*s%0*d%s", r.n_head, key, r.width,
					(int)k, r.tail),
				out);
	}
	return is_ok;
}

bool pl_structure_parse(struct pl_build *b, struct pl_step *step, const struct pl_steps_at *at)
{
	struct pl_steps_at inner = *at;

	inner.depth++;
	if (inner.depth > PL_NODE_DEPTH_MAX) {
		pl_diag_error(b->diag, step->at, "steps are nested too deeply");
		return false;
	}
	if (strcmp(step->op->name, "group") == 0)
		return parse_group(b, step, &inner);
	if (strcmp(step->op->name, "one_of") == 0)
		return parse_one_of(b, step, &inner);
	if (strcmp(step->op->name, "views") == 0)
		return parse_views(b, step, at);
	pl_diag_error(b->diag, step->at, "step '%s' is not in this build yet", step->op->name);
	return false;
}
