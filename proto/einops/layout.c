/* proto/einops/layout.c - where each axis lies in the input and in the result. */
#include "proto/einops/plan.h"

/* Where an axis lies: bytes between its elements, or tensors of the list. */
struct place {
	int64_t stride;
	int64_t step;
};

struct places {
	struct place axis[PL_EINOPS_AXES_MAX];
	struct place ellipsis[PL_RANK_ALL];
};

/* The place of dimension d of the input; the list, if there is one, is dimension 0. */
static struct place place_of_dim(const struct subject *s, const struct pl_tensor *t, int d)
{
	int listed = s->rank - t->rank;

	if (d < listed)
		return (struct place){0, 1};
	return (struct place){s->shape[d] > 1 ? t->stride[d - listed] : 0, 0};
}

static void find_places(struct places *out, const struct pl_einops_pattern *p,
	const struct lengths *l, const struct subject *s, const struct pl_tensor *t)
{
	const struct side *left = &p->sides[0];
	int at = 0;

	for (uint32_t i = 0; i < left->n; i++) {
		const struct dim *d = side_dim(p, left, i);
		struct place place;

		if (left->ellipsis == (int)i) {
			for (int k = 0; k < l->ellipsis_n; k++)
				out->ellipsis[k] = place_of_dim(s, t, at + k);
			at += l->ellipsis_n;
			continue;
		}
		place = place_of_dim(s, t, at++);
		for (uint32_t k = d->n; k-- > 0;) {
			uint32_t axis = p->items[d->first + k];

			out->axis[axis] = place;
			place.stride = mul_wrapping(place.stride, l->length[axis]);
			place.step = mul_wrapping(place.step, l->length[axis]);
		}
	}
}

static void add_loop(struct nest *nest, int64_t n, struct place place)
{
	nest->loop[nest->n++] = (struct loop){.n = n, .in = place.stride, .step = place.step};
}

/* Adds the loop or loops (ellipsis) of one axis. */
static void add_axis(struct nest *nest, const struct pl_einops_pattern *p, uint32_t axis,
	const struct lengths *l, const struct places *places, const struct subject *s)
{
	const struct axis *a = &p->axes[axis];

	if (a->kind != AXIS_ELLIPSIS) {
		add_loop(nest, l->length[axis],
			a->is_left ? places->axis[axis] : (struct place){0, 0});
		return;
	}
	for (int k = 0; k < l->ellipsis_n; k++)
		add_loop(nest, s->shape[l->ellipsis_first + k], places->ellipsis[k]);
}

void pl_layout_init(struct layout *out, const struct pl_einops_pattern *p, const struct lengths *l,
	const struct subject *s, const struct pl_tensor *t)
{
	struct places places;
	const struct side *sides = p->sides;
	int64_t stride = out->unit;

	find_places(&places, p, l, s, t);
	out->kept.n = 0;
	out->reduced.n = 0;
	for (uint32_t i = 0; i < sides[1].n; i++) {
		const struct dim *d = side_dim(p, &sides[1], i);

		for (uint32_t k = 0; k < d->n; k++)
			add_axis(&out->kept, p, p->items[d->first + k], l, &places, s);
	}
	for (uint32_t i = 0; i < p->n_axes; i++)
		if (pl_is_reduced(p, l, i))
			add_axis(&out->reduced, p, i, l, &places, s);
	for (int i = out->kept.n - 1; i >= 0; i--) {
		out->kept.loop[i].out = stride;
		stride = mul_wrapping(stride, out->kept.loop[i].n);
	}
}

/* One dimension of the result out of the loops [*at, ...) that make it up; false if they are not
 * one run. */
static bool merge_dim(int64_t *stride, const struct nest *kept, int *at, int64_t length)
{
	int64_t have = 1;
	bool is_first = true;
	int64_t inner = 0;

	for (; have < length || (*at >= 0 && kept->loop[*at].n == 1); (*at)--) {
		const struct loop *l;

		if (*at < 0)
			return false;
		l = &kept->loop[*at];
		if (l->n == 1)
			continue;
		if (!is_first && l->in != mul_wrapping(inner, have))
			return false;
		if (is_first)
			inner = l->in;
		is_first = false;
		have *= l->n;
	}
	*stride = inner;
	return true;
}

bool pl_layout_view(
	int64_t stride[PL_RANK_MAX], const struct layout *layout, const struct pl_tensor *result)
{
	int at = layout->kept.n - 1;
	int64_t dense = layout->unit;

	for (int d = result->rank - 1; d >= 0; d--) {
		if (result->shape[d] == 0) {
			memcpy(stride, result->stride, sizeof(result->stride));
			return true;
		}
	}
	for (int d = result->rank - 1; d >= 0; d--) {
		if (!merge_dim(&stride[d], &layout->kept, &at, result->shape[d]))
			return false;
		if (result->shape[d] == 1)
			stride[d] = dense;
		dense = mul_wrapping(dense, result->shape[d]);
	}
	return true;
}
