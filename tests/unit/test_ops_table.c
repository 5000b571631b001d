/* tests/unit/test_ops_table.c - the tables of steps and sources are complete. */
#include <criterion/criterion.h>

#include "daemon/kit/source.h"

Test(ops_table, steps_are_sorted)
{
	for (size_t i = 1; i < pl_n_ops; i++)
		cr_expect(strcmp(pl_ops[i - 1]->name, pl_ops[i]->name) < 0, "%s before %s",
			pl_ops[i - 1]->name, pl_ops[i]->name);
}

Test(ops_table, sources_are_sorted)
{
	for (size_t i = 1; i < pl_n_sources; i++)
		cr_expect(strcmp(pl_sources[i - 1]->name, pl_sources[i]->name) < 0);
}

/* Words beside numbers, or the words of a choice. */
static bool may_have_words(enum pl_param_kind kind)
{
	return kind == PL_PARAM_CHOICE || kind == PL_PARAM_INT || kind == PL_PARAM_BYTES ||
	       kind == PL_PARAM_DURATION;
}

static void check_params(const char *name, const struct pl_param *p, size_t size)
{
	int n_obvious = 0;

	for (const struct pl_param *a = p; a && a->key; a++) {
		bool is_planners = a->kind == PL_PARAM_STEPS || a->kind == PL_PARAM_BRANCHES;

		n_obvious += a->is_obvious;
		cr_expect(a->help && *a->help, "%s.%s has no help", name, a->key);
		cr_expect(is_planners || a->offset < size, "%s.%s lies outside", name, a->key);
		cr_expect(a->min <= a->max, "%s.%s has no range", name, a->key);
		cr_expect(a->choices ? may_have_words(a->kind) : a->kind != PL_PARAM_CHOICE,
			"%s.%s", name, a->key);
		for (const struct pl_param *b = p; b < a; b++)
			cr_expect(strcmp(a->key, b->key), "%s.%s is there twice", name, a->key);
	}
	cr_expect(n_obvious <= 1, "%s has %d obvious parameters", name, n_obvious);
}

static void check_help(const char *name, const char *help)
{
	cr_expect(help && *help && !strchr(help, '\n'), "%s has no help", name);
	cr_expect(help[strlen(help) - 1] != '.', "the help of %s has a final stop", name);
}

Test(ops_table, every_step_declares_what_the_planner_asks)
{
	for (size_t i = 0; i < pl_n_ops; i++) {
		const struct pl_op *op = pl_ops[i];
		bool runs = op->run || op->order || op->flags & PL_OP_STRUCTURE;

		cr_expect_eq(op->abi, PL_OP_ABI, "%s", op->name);
		cr_expect_eq(op->size, sizeof(*op), "%s", op->name);
		check_help(op->name, op->help);
		check_params(op->name, op->params, op->params_size);
		cr_expect(op->class_ && *op->class_, "%s has no class", op->name);
		cr_expect(op->version >= 1 && op->stages, "%s", op->name);
		cr_expect(runs || op->infer, "%s does nothing", op->name);
		cr_expect(!op->order == !op->at, "%s", op->name);
		cr_expect(!!(op->flags & PL_OP_WHOLE) == !!op->whole_reason, "%s", op->name);
		cr_expect(op->flags & PL_OP_NO_FIELD ? !op->takes : !!op->takes, "%s", op->name);
		cr_expect(!(op->flags & PL_OP_WHOLE) || !(op->stages & PL_STAGE_WORKER), "%s",
			op->name);
	}
}

Test(ops_table, every_source_declares_what_the_planner_asks)
{
	for (size_t i = 0; i < pl_n_sources; i++) {
		const struct pl_source_op *s = pl_sources[i];

		cr_expect_eq(s->abi, PL_SOURCE_ABI, "%s", s->name);
		cr_expect_eq(s->size, sizeof(*s), "%s", s->name);
		check_help(s->name, s->help);
		check_params(s->name, s->params, s->params_size);
		cr_expect(s->version >= 1, "%s", s->name);
		cr_expect(s->fields && s->list && s->read && s->describe, "%s", s->name);
		cr_expect(!s->open == !s->close, "%s", s->name);
	}
}
