/* daemon/kit/pass.c - adjacent steps said as moves, so that one pass over the data makes them all.
 */
#include "daemon/kit/pass.h"

/* An affine move takes its values to f32 itself. */
static bool is_idle_cast(const struct pl_course *c)
{
	const struct pl_move *last = c->n_changes ? c->change[c->n_changes - 1] : NULL;

	return last && last->kind == PL_MOVE_CAST && last->dtype == PL_F32;
}

static void compose_change(struct pl_course *c, const struct pl_move *move, const int *order)
{
	if (move->kind == PL_MOVE_AFFINE && is_idle_cast(c))
		c->n_changes--;
	c->change[c->n_changes++] = move;
	c->dtype = move->kind == PL_MOVE_CAST ? move->dtype : PL_F32;
	memcpy(c->laid, order, sizeof(c->laid));
}

static bool compose_order(const struct pl_course *c, const struct pl_move *move, int *order)
{
	int before[PL_RANK_MAX];

	if (move->rank != c->rank)
		return false;
	memcpy(before, order, sizeof(before));
	for (int i = 0; i < c->rank; i++)
		order[i] = before[move->axis[i]];
	return true;
}

static bool compose_move(struct pl_course *c, const struct pl_move *move, int *order)
{
	int last = c->rank - 1;

	switch (move->kind) {
	case PL_MOVE_ORDER:
		return compose_order(c, move, order);
	case PL_MOVE_CAST:
		if (move->dtype != c->dtype)
			compose_change(c, move, order);
		return true;
	case PL_MOVE_AFFINE:
		if (move->n_channels > 1 && (last < 0 || order[last] != last))
			return false;
		compose_change(c, move, order);
		return true;
	}
	return false;
}

/* The pixels stay in their order, wherever their channels go. */
static bool is_pixel_order(const int *order, int rank)
{
	int before = -1;

	for (int i = 0; i < rank; i++) {
		if (order[i] == rank - 1)
			continue;
		if (order[i] < before)
			return false;
		before = order[i];
	}
	return true;
}

bool pl_pass_compose(const struct pl_pass *pass, enum pl_dtype dtype, int rank, bool is_row,
	struct pl_course *out)
{
	int order[PL_RANK_MAX];

	*out = (struct pl_course){.dtype = dtype, .rank = rank, .is_shown_as_laid = true};
	for (int i = 0; i < PL_RANK_MAX; i++)
		order[i] = out->laid[i] = i;
	for (int i = 0; i < pass->n; i++)
		if (!compose_move(out, &pass->move[i], order))
			return false;
	if (!is_pixel_order(order, rank))
		return false;
	if (is_row)
		memcpy(out->laid, order, sizeof(out->laid));
	for (int i = 0; i < rank; i++) {
		int k = 0;

		while (out->laid[k] != order[i])
			k++;
		out->shown[i] = k;
		out->is_shown_as_laid &= k == i;
	}
	return true;
}
