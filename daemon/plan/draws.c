/* daemon/plan/draws.c - a step's p and draw: how often it runs, and which draws it shares. */
#include "daemon/plan/build.h"
#include "daemon/plan/scalar.h"

bool pl_draws_read_p(struct pl_build *b, struct pl_step *step, const struct pl_node *node)
{
	struct pl_err err = {0};
	double p = 0;

	if (!node)
		return true;
	if (node->kind != PL_NODE_TEXT) {
		if (node->kind != PL_NODE_BAD)
			pl_diag_error(b->diag, node->at,
				"step '%s': p must be a number from 0 to 1, not %s", step->op->name,
				pl_node_kind_name(node));
		return false;
	}
	if (pl_scalar_float(node->text, &p, &err) < 0) {
		pl_diag_error(b->diag, node->at, "step '%s': p %s", step->op->name, err.text);
		return false;
	}
	if (p < 0 || p > 1) {
		pl_diag_error(b->diag, node->at,
			"step '%s': p is a probability from 0 to 1, not %g", step->op->name, p);
		return false;
	}
	step->p = p;
	return true;
}

bool pl_draws_read(struct pl_build *b, struct pl_step *step, const struct pl_node *node)
{
	struct pl_step_note *note = &b->note[step->id];
	bool is_each;

	if (!node)
		return true;
	if (node->kind != PL_NODE_TEXT || !node->text[0]) {
		if (node->kind != PL_NODE_BAD)
			pl_diag_error(b->diag, node->at,
				"step '%s': draw must be each, or a name of your own",
				step->op->name);
		return false;
	}
	is_each = strcmp(node->text, "each") == 0;
	if (!(step->op->flags & PL_OP_RANDOM) && (is_each || step->p == 1)) {
		pl_diag_error(b->diag, node->at,
			"step '%s' draws no random numbers: draw has no meaning here",
			step->op->name);
		return false;
	}
	step->draws_each = is_each;
	note->draw = is_each ? NULL : node->text;
	return true;
}

static uint32_t count_occurrence(struct pl_build *b, const char *name, const char *view)
{
	for (int i = 0; i < b->n_seen; i++)
		if (strcmp(b->seen[i].name, name) == 0 && strcmp(b->seen[i].view, view) == 0)
			return b->seen[i].n++;
	b->seen[b->n_seen].name = name;
	b->seen[b->n_seen].view = view;
	b->seen[b->n_seen++].n = 1;
	return 0;
}

/* A name under `draw:` stands for one draw in each view; its prefix keeps it apart from the names
 * of steps. */
bool pl_draws_place(struct pl_build *b, struct pl_step *step)
{
	const char *shared = b->note[step->id].draw;
	uint32_t occurrence = count_occurrence(b, step->op->name, step->view);
	const char *name = shared ? pl_pool_format(b->pool, "draw:%s", shared) : step->op->name;
	const char *p_name = name ? pl_pool_format(b->pool, "p:%s", name) : NULL;

	if (!p_name)
		return false;
	if (shared)
		occurrence = 0;
	step->place = pl_rng_place(name, occurrence, step->view);
	step->p_place = pl_rng_place(p_name, occurrence, step->view);
	return true;
}
