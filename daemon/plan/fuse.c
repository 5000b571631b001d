/* daemon/plan/fuse.c - which adjacent worker steps run as one pass over their field. */
#include "daemon/kit/pass.h"
#include "daemon/plan/build.h"

/*
 * A pass is a run of steps on the same fields, each after the first in place, that always run and
 * can say what they do as a move; at least one of them must change values, for an order of axes
 * alone is often only a view. The walk carries the types of all fields.
 */
struct fusing {
	struct pl_type type[PL_FIELDS_MAX];
};

static bool is_sure(const struct pl_step *step)
{
	return step->op->move && step->p >= 1 && step->n > 0;
}

static bool follows(const struct pl_step *step, const struct pl_step *before)
{
	if (!is_sure(step) || step->n != before->n)
		return false;
	for (int i = 0; i < step->n; i++)
		if (step->in[i] != before->out[i] || step->out[i] != step->in[i])
			return false;
	return true;
}

/* Whether the moves so far are one pass for every field of the first step. */
static bool is_one_pass(
	const struct fusing *f, const struct pl_pass *pass, const struct pl_step *first, bool *does)
{
	struct pl_course course;

	*does = true;
	for (int i = 0; i < first->n; i++) {
		const struct pl_type *type = &f->type[first->in[i]];

		if (!pl_pass_compose(pass, type->dtype, type->rank, false, &course))
			return false;
		*does &= course.n_changes > 0;
	}
	return true;
}

/* Steps from i on that are one pass; 1: none. */
static int pass_length(const struct fusing *f, const struct pl_step_list *list, int i)
{
	const struct pl_step *first = &list->step[i];
	struct pl_pass pass = {0};
	int n = 0;
	int longest = 1;
	bool does;

	while (i + n < list->n && n < PL_PASS_MOVES_MAX) {
		const struct pl_step *step = &list->step[i + n];

		if (n ? !follows(step, step - 1) : !is_sure(step))
			break;
		if (!step->op->move(step->params, &pass.move[n]))
			break;
		pass.n = ++n;
		if (!is_one_pass(f, &pass, first, &does))
			break;
		if (does)
			longest = n;
	}
	return longest;
}

static void take_types(struct fusing *f, const struct pl_step *step)
{
	for (int i = 0; i < step->n; i++)
		f->type[step->out[i]] = step->type[i];
}

static void fuse_list(struct fusing *f, struct pl_step_list *list)
{
	for (int i = 0; i < list->n;) {
		int n = pass_length(f, list, i);

		for (int k = 0; k < n; k++) {
			struct pl_step *step = &list->step[i + k];

			if (n > 1)
				step->pass = (struct pl_step_pass){n, k + 1};
			for (int inner = 0; inner < step->n_lists; inner++)
				fuse_list(f, &step->list[inner]);
			take_types(f, step);
		}
		i += n;
	}
}

void pl_fuse(struct pl_plan *plan)
{
	struct fusing f;

	if (!plan->fuses)
		return;
	memcpy(f.type, plan->source_type, sizeof(f.type));
	fuse_list(&f, &plan->worker);
}
