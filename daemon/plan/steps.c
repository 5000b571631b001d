/* daemon/plan/steps.c - nodes to steps: which step, where it may stand, its parameters. */
#include "daemon/kit/registry.h"
#include "daemon/plan/build.h"
#include "daemon/plan/names.h"
#include "daemon/plan/params.h"

static const char *const common_keys[] = {"field", "to", "p", "draw"};

const char *pl_stage_name(enum pl_stage stage)
{
	switch (stage) {
	case PL_STAGE_PRE:
		return "dispatcher (before the workers)";
	case PL_STAGE_WORKER:
		return "worker";
	case PL_STAGE_POST:
		return "dispatcher (after the workers)";
	}
	return "?";
}

static const char *stage_key(enum pl_stage stage)
{
	return stage == PL_STAGE_PRE      ? "pre_main"
	       : stage == PL_STAGE_WORKER ? "workers"
					  : "post_main";
}

const char *pl_step_prefix(struct pl_build *b, const char *name)
{
	const char *text = pl_pool_format(b->pool, "step '%s': ", name);

	return text ? text : "";
}

const struct pl_node *pl_stage_steps(const struct pl_node *root, const char *stage)
{
	const struct pl_node *node = pl_node_find(root, stage);

	return node && node->kind == PL_NODE_MAP ? pl_node_find(node, "steps") : node;
}

/* A definition that nobody uses may hold steps of a later release. */
static void unknown_step(
	struct pl_build *b, const struct pl_node *name, const struct pl_steps_at *at)
{
	const char *later = pl_names_later_step(name->text);
	struct pl_registry registry = pl_registry();
	struct pl_names names = {0};
	char quoted[80];
	char hint[1200];

	pl_err_quote(quoted, sizeof(quoted), name->text);
	if (later && at->stage == 0)
		return;
	if (later) {
		pl_diag_error(b->diag, name->at, "step '%s' is %s", quoted, later);
		return;
	}
	for (size_t i = 0; i < registry.n_ops; i++)
		pl_names_add(&names, registry.op[i]->name);
	pl_names_add(&names, "use");
	pl_names_add(&names, "include");
	pl_diag_error(b->diag, name->at, "unknown step '%s'%s", quoted,
		pl_names_hint(&names, name->text, hint, sizeof(hint)));
}

/* The stages of a step, for "it belongs in ...". */
static const char *belongs(unsigned stages, char out[64])
{
	int n = 0;

	out[0] = '\0';
	for (unsigned s = PL_STAGE_PRE; s <= PL_STAGE_POST; s *= 2)
		if (stages & s)
			n += snprintf(
				out + n, 64 - (size_t)n, "%s%s", n ? " or " : "", stage_key(s));
	return out;
}

static bool check_stage(struct pl_build *b, const struct pl_op *op, const struct pl_node *name,
	const struct pl_steps_at *at)
{
	const char *later;
	char stages[64];

	if (at->stage == 0 || op->stages & at->stage)
		return true;
	later = pl_names_later_param(op->name, stage_key(at->stage));
	if (later) {
		pl_diag_error(b->diag, name->at, "step '%s' in %s is %s", op->name,
			stage_key(at->stage), later);
		return false;
	}
	belongs(op->stages, stages);
	if (at->stage == PL_STAGE_WORKER && op->flags & PL_OP_WHOLE)
		pl_diag_error(b->diag, name->at,
			"step '%s' can't run in workers: %s, and each worker sees only its own "
			"part; it "
			"belongs in %s",
			op->name,
			op->whole_reason ? op->whole_reason : "it must see the whole stream",
			stages);
	else
		pl_diag_error(b->diag, name->at, "step '%s' can't run in %s: it belongs in %s",
			op->name, stage_key(at->stage), stages);
	return false;
}

/* What may be given beside the step's own parameters. */
static struct pl_names allowed_keys(const struct pl_op *op)
{
	bool takes_fields = !(op->flags & PL_OP_NO_FIELD);
	bool is_worker = op->stages & PL_STAGE_WORKER;
	struct pl_names names = {0};

	if (takes_fields)
		pl_names_add(&names, "field");
	if (takes_fields && strcmp(op->class_, "debug") != 0 && !(op->flags & PL_OP_STRUCTURE))
		pl_names_add(&names, "to");
	if (is_worker && strcmp(op->name, "views") != 0) {
		pl_names_add(&names, "p");
		pl_names_add(&names, "draw");
	}
	return names;
}

/* `step: value` sets the obvious parameter. A map is the parameters, unless the obvious one takes a
 * map and no key is known. */
static bool is_obvious_value(const struct pl_op *op, const struct pl_node *args)
{
	const struct pl_param *obvious = pl_params_obvious(op->params);

	if (args->kind != PL_NODE_MAP)
		return true;
	if (!obvious || (obvious->kind != PL_PARAM_MAP && obvious->kind != PL_PARAM_TABLE &&
				obvious->kind != PL_PARAM_BRANCHES))
		return false;
	for (int i = 0; i < args->n; i++) {
		if (pl_params_find(op->params, args->key[i]->text))
			return false;
		for (size_t k = 0; k < PL_ARRAY_LEN(common_keys); k++)
			if (strcmp(args->key[i]->text, common_keys[k]) == 0)
				return false;
	}
	return true;
}

static bool read_common(struct pl_build *b, struct pl_step *step, const struct pl_node *args)
{
	struct pl_step_note *note = &b->note[step->id];

	note->field = pl_node_find(args, "field");
	note->to = pl_node_find(args, "to");
	return pl_draws_read_p(b, step, pl_node_find(args, "p")) &&
	       pl_draws_read(b, step, pl_node_find(args, "draw"));
}

/* Fills step->params from `step`, `step: value` or `step: {...}`. */
static bool read_params(struct pl_build *b, struct pl_step *step, const struct pl_node *args)
{
	const struct pl_op *op = step->op;
	const struct pl_node *name = b->note[step->id].name;
	struct pl_convert c = {
		b->pool, b->diag, pl_step_prefix(b, op->name), op->name, name->at, b->plan->dir};
	const struct pl_param *obvious = pl_params_obvious(op->params);
	struct pl_names others = allowed_keys(op);
	struct pl_node *wrapped;

	step->params = pl_pool_alloc(b->pool, op->params_size);
	if (!step->params)
		return false;
	if (!args || !is_obvious_value(op, args)) {
		bool is_ok = pl_params_fill(&c, op->params, args, &others, step->params);

		return read_common(b, step, args) & is_ok;
	}
	if (args->kind == PL_NODE_BAD)
		return false;
	if (!obvious) {
		pl_diag_error(b->diag, args->at,
			op->params || others.n ? "step '%s' takes no single value: write its "
						 "parameters as {key: value}"
					       : "step '%s' takes no parameters",
			op->name);
		return false;
	}
	wrapped = pl_node_branch(b->pool, PL_NODE_MAP, args->at, 1);
	if (!wrapped)
		return false;
	wrapped->key[0] = pl_node_text(b->pool, args->at, obvious->key, strlen(obvious->key));
	wrapped->item[0] = (struct pl_node *)args;
	b->note[step->id].args = wrapped;
	return wrapped->key[0] && pl_params_fill(&c, op->params, wrapped, &others, step->params);
}

/* Parameters that don't fit together. */
static bool run_check(struct pl_build *b, struct pl_step *step)
{
	struct pl_err err = {0};

	if (!step->op->check || step->op->check(step->params, &err) == 0)
		return true;
	pl_step_tell(b, step, &err);
	return false;
}

static bool fill_step(struct pl_build *b, struct pl_step *step, const struct pl_steps_at *at)
{
	struct pl_step_note *note = &b->note[step->id];
	bool is_ok = read_params(b, step, note->args);

	if (!pl_draws_place(b, step))
		return false;
	if (is_ok)
		is_ok = run_check(b, step);
	if (step->op->flags & PL_OP_STRUCTURE)
		is_ok &= pl_structure_parse(b, step, at);
	return is_ok;
}

/* The name and the value of an item: `name`, or a map of one key. False: told. */
static bool split_item(struct pl_build *b, const struct pl_node *item, const struct pl_node **name,
	const struct pl_node **args)
{
	*name = item;
	*args = NULL;
	if (item->kind == PL_NODE_TEXT)
		return true;
	if (item->kind == PL_NODE_MAP && item->n == 1) {
		*name = item->key[0];
		*args = item->item[0];
		return true;
	}
	if (item->kind == PL_NODE_MAP && item->n > 1)
		pl_diag_error(b->diag, item->key[1]->at,
			"a step is one name; '%s' beside '%s' is another: indent it further if it "
			"is a "
			"parameter, begin it with '- ' if it is a step",
			item->key[1]->text, item->key[0]->text);
	else if (item->kind != PL_NODE_BAD)
		pl_diag_error(b->diag, item->at,
			"a step is 'name', 'name: value' or 'name: {key: value}', not %s",
			item->kind == PL_NODE_MAP ? "an empty map" : "a list");
	return false;
}

static const struct pl_op *find_op(
	struct pl_build *b, const struct pl_node *name, const struct pl_steps_at *at)
{
	const struct pl_op *op = pl_op_find(name->text);

	if (!op) {
		unknown_step(b, name, at);
		return NULL;
	}
	if (op->abi != PL_OP_ABI || op->size != sizeof(*op)) {
		pl_diag_error(
			b->diag, name->at, "step '%s' was built for another version", op->name);
		return NULL;
	}
	return check_stage(b, op, name, at) ? op : NULL;
}

/* Stands where no step could be made of an item, so that the check knows that something is missing.
 */
static const struct pl_op lost_op = {.name = "?", .class_ = "tensor"};

/* A new step at the end of the list, in file order; NULL: too many, told. */
static struct pl_step *add_step(struct pl_build *b, const struct pl_node *item,
	const struct pl_steps_at *at, struct pl_step_list *out)
{
	struct pl_step *step = &out->step[out->n];

	if (b->plan->n_steps == PL_STEPS_MAX) {
		pl_diag_error(
			b->diag, item->at, "more than %d steps in one pipeline", PL_STEPS_MAX);
		return NULL;
	}
	step->id = b->plan->n_steps++;
	step->view = at->view;
	step->op = &lost_op;
	step->at = item->at;
	b->note[step->id] =
		(struct pl_step_note){.name = item, .stage = at->stage, .is_failed = true};
	out->n++;
	return step;
}

/* Appends the item's step, and a view's own steps after it. */
static bool parse_item(struct pl_build *b, const struct pl_node *item, const struct pl_steps_at *at,
	struct pl_step_list *out)
{
	struct pl_step *step = add_step(b, item, at, out);
	struct pl_step_note *note;
	const struct pl_op *op;

	if (!step)
		return false;
	note = &b->note[step->id];
	if (!split_item(b, item, &note->name, &note->args))
		return false;
	op = find_op(b, note->name, at);
	if (!op)
		return false;
	step->op = op;
	step->at = note->name->at;
	step->p = op->default_p > 0 ? op->default_p : 1;
	note->is_failed = !fill_step(b, step, at);
	if (strcmp(op->name, "views") == 0 && note->into) {
		note->first_view = b->n_views;
		note->is_failed |= !pl_views_parse(b, note->into, out);
		note->n_views = b->n_views - note->first_view;
	}
	return !note->is_failed;
}

/* Places that the list needs: one a step, and the steps of views. */
static int count_steps(const struct pl_node *list)
{
	int n = 0;

	for (int i = 0; i < list->n; i++) {
		const struct pl_node *views = pl_node_find(list->item[i], "views");
		const struct pl_node *into = pl_node_find(views, "into");

		n += 1 + (views ? pl_views_count(into ? into : views) : 0);
	}
	return n;
}

bool pl_steps_parse(struct pl_build *b, const struct pl_node *list, const struct pl_steps_at *at,
	struct pl_step_list *out)
{
	bool is_ok = true;
	int n;

	if (list->kind != PL_NODE_LIST) {
		if (list->kind != PL_NODE_BAD)
			pl_diag_error(b->diag, list->at, "a list of steps is expected here, not %s",
				pl_node_kind_name(list));
		return false;
	}
	n = count_steps(list);
	if (n > PL_STEPS_MAX) {
		pl_diag_error(
			b->diag, list->at, "more than %d steps in one pipeline", PL_STEPS_MAX);
		return false;
	}
	out->step = pl_pool_array(b->pool, (size_t)n, sizeof(*out->step));
	if (!out->step)
		return false;
	for (int i = 0; i < list->n; i++)
		is_ok &= parse_item(b, list->item[i], at, out);
	return is_ok;
}
