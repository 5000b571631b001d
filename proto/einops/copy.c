/* proto/einops/copy.c - chooses the tile that moves the data of a nest of loops. */
#include "proto/einops/plan.h"

#include <errno.h>

void pl_nest_simplify(struct nest *nest)
{
	int n = 0;

	for (int i = 0; i < nest->n; i++) {
		struct loop l = nest->loop[i];
		struct loop *last = n ? &nest->loop[n - 1] : NULL;

		if (l.n == 1)
			continue;
		if (last && last->out == mul_wrapping(l.out, l.n) &&
			last->in == mul_wrapping(l.in, l.n) &&
			last->step == mul_wrapping(l.step, l.n)) {
			l.n *= last->n;
			*last = l;
		} else {
			nest->loop[n++] = l;
		}
	}
	nest->n = n;
}

/* log2 of a unit that has kernels of its own, or -1. */
static int unit_index(int64_t unit)
{
	switch (unit) {
	case 1:
		return 0;
	case 2:
		return 1;
	case 4:
		return 2;
	case 8:
		return 3;
	default:
		return -1;
	}
}

static struct loop take_loop(struct nest *nest, int i)
{
	struct loop l = nest->loop[i];

	memmove(&nest->loop[i], &nest->loop[i + 1], (size_t)(nest->n - i - 1) * sizeof(l));
	nest->n--;
	return l;
}

static void set_tile(struct pl_tile *t, int level, struct loop l)
{
	t->n[level] = l.n;
	t->out[level] = l.out;
	t->in[level] = l.in;
}

/* The loop along which the input is dense, if the output is dense along the innermost one and the
 * input isn't. */
static int find_crossing(const struct nest *nest, int64_t unit)
{
	const struct loop *inner = &nest->loop[nest->n - 1];

	if (inner->out != unit || inner->in == unit)
		return -1;
	for (int i = nest->n - 2; i >= 0; i--)
		if (nest->loop[i].in == unit)
			return i;
	return -1;
}

/* The kernel for a crossing of loop 1 (dense input) and loop 2 (dense output). */
static pl_tile_fn choose_crossing(const struct pl_kernels *k, const struct pl_tile *t, int index)
{
	if (t->n[2] <= 4 && t->out[1] == t->n[2] * t->unit && k->join[t->n[2] - 2][index])
		return k->join[t->n[2] - 2][index];
	if (t->n[1] <= 4 && t->in[2] == t->n[1] * t->unit && k->split[t->n[1] - 2][index])
		return k->split[t->n[1] - 2][index];
	return k->transpose[index];
}

/* Takes up to three loops out of the nest into the tile, and returns the kernel. */
static pl_tile_fn choose_tile(struct pl_tile *t, struct nest *nest)
{
	const struct pl_kernels *k = pl_kernels_get();
	int index = unit_index(t->unit);
	int crossing = nest->n > 1 && index >= 0 ? find_crossing(nest, t->unit) : -1;
	int level = 2;

	if (crossing >= 0) {
		set_tile(t, 2, take_loop(nest, nest->n - 1));
		set_tile(t, 1, take_loop(nest, crossing));
		level = 0;
	}
	for (; level >= 0 && nest->n > 0; level--)
		set_tile(t, level, take_loop(nest, nest->n - 1));
	if (crossing >= 0)
		return choose_crossing(k, t, index);
	return index >= 0 ? k->strided[index] : k->runs;
}

int pl_copy_init(struct copy *c, struct nest *nest, size_t size)
{
	const struct loop once = {.n = 1};

	pl_nest_simplify(nest);
	c->tile.unit = (int64_t)size;
	if (nest->n) {
		const struct loop *inner = &nest->loop[nest->n - 1];

		if (inner->out == c->tile.unit && inner->in == c->tile.unit)
			c->tile.unit *= take_loop(nest, nest->n - 1).n;
	}
	for (int i = 0; i < 3; i++)
		set_tile(&c->tile, i, once);
	c->run = choose_tile(&c->tile, nest);
	c->n_outer = nest->n;
	c->outer = NULL;
	if (nest->n == 0)
		return 0;
	c->outer = malloc((size_t)nest->n * sizeof(*c->outer));
	if (!c->outer)
		return -ENOMEM;
	memcpy(c->outer, nest->loop, (size_t)nest->n * sizeof(*c->outer));
	return 0;
}

void pl_copy_finish(struct copy *c)
{
	free(c->outer);
	c->outer = NULL;
}

void pl_copy_run(const struct copy *c, char *out, const char *in)
{
	int64_t at[PL_LOOPS_MAX];
	int d;

	memset(at, 0, (size_t)c->n_outer * sizeof(*at));
	do {
		c->run(out, in, &c->tile);
		for (d = c->n_outer - 1; d >= 0; d--) {
			const struct loop *l = &c->outer[d];

			out += l->out;
			in += l->in;
			if (++at[d] < l->n)
				break;
			out -= l->out * l->n;
			in -= l->in * l->n;
			at[d] = 0;
		}
	} while (d >= 0);
}
