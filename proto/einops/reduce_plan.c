/* proto/einops/reduce_plan.c - sorts the axes of a reduction and chooses the block. */
#include "proto/einops/reduce.h"

#include <errno.h>

/* A dimension while it is sorted. `index` is its place among the loops of a layout. */
struct dim_at {
	struct loop loop;
	int index;
	bool is_kept;
};

struct sorted {
	int n;
	struct dim_at dim[PL_LOOPS_MAX + PL_RANK_ALL];
};

/* Lengths of 1 are gone from both nests; neighbours are merged if no other input could disagree. */
static void layout_tidy(struct layout *l, bool may_merge)
{
	struct nest *nests[] = {&l->kept, &l->reduced};

	for (int i = 0; i < 2; i++) {
		int n = 0;

		if (may_merge) {
			pl_nest_simplify(nests[i]);
			continue;
		}
		for (int d = 0; d < nests[i]->n; d++)
			if (nests[i]->loop[d].n != 1)
				nests[i]->loop[n++] = nests[i]->loop[d];
		nests[i]->n = n;
	}
}

static uint64_t distance(const struct loop *l)
{
	uint64_t d = l->in < 0 ? 0 - (uint64_t)l->in : (uint64_t)l->in;

	return d ? d : UINT64_MAX;
}

/* Nearest elements first; loops over the list and repeated elements last. Stable. */
static void sort_dims(struct sorted *s, const struct layout *l)
{
	s->n = 0;
	for (int i = 0; i < l->kept.n + l->reduced.n; i++) {
		bool is_kept = i < l->kept.n;
		struct loop loop = is_kept ? l->kept.loop[l->kept.n - 1 - i]
					   : l->reduced.loop[l->reduced.n - 1 - (i - l->kept.n)];
		int at = s->n++;

		for (; at > 0 && distance(&s->dim[at - 1].loop) > distance(&loop); at--)
			s->dim[at] = s->dim[at - 1];
		s->dim[at] = (struct dim_at){loop, i, is_kept};
	}
}

/* The stride of that dimension in a tidied layout. */
static int64_t stride_of(const struct layout *l, const struct dim_at *d)
{
	if (d->is_kept)
		return l->kept.loop[l->kept.n - 1 - d->index].in;
	return l->reduced.loop[l->reduced.n - 1 - (d->index - l->kept.n)].in;
}

/* How many elements of dimension d still fit in the block; 0: leave it outside. */
static int64_t room_for(const struct reduce *r, const struct dim_at *d)
{
	int64_t widest = r->in_size > r->acc_size ? r->in_size : r->acc_size;
	int64_t room = PL_SCRATCH / widest / r->block;
	bool is_dense = d->loop.in == r->block * r->in_size;

	if (d->loop.step || (!is_dense && r->block >= 64))
		return 0;
	if (d->loop.n <= room)
		return d->loop.n;
	return room >= 2 ? room : 0;
}

static void add_inner(struct reduce *r, const struct dim_at *d, int64_t n)
{
	r->inner[r->n_inner++] = (struct inner){.n = n, .out = d->loop.out, .is_kept = d->is_kept};
	r->block *= n;
}

static void add_outer(struct reduce *r, const struct dim_at *d)
{
	if (d->is_kept)
		r->kept[r->n_kept++] = d->loop;
	else
		r->reduced[r->n_reduced++] = d->loop;
}

/* Fills the block, nearest first, until the first dimension that does not fit whole. */
static void choose_block(struct reduce *r, const struct sorted *s)
{
	int i = 0;

	r->block = 1;
	r->split = 1;
	for (; i < s->n; i++) {
		const struct dim_at *d = &s->dim[i];
		int64_t n = room_for(r, d);

		if (n == 0)
			break;
		if (n < d->loop.n) {
			r->rest = r->block * (d->loop.n % n);
			r->split = d->loop.n / n;
			r->is_split_kept = d->is_kept;
			add_inner(r, d, n);
			i++;
			break;
		}
		add_inner(r, d, n);
	}
	for (int k = i; k < s->n; k++)
		add_outer(r, &s->dim[k]);
}

static bool is_block_dense(const struct reduce *r, const int64_t *strides)
{
	int64_t dense = r->in_size;

	for (int i = 0; i < r->n_inner; i++) {
		if (strides[i] != dense)
			return false;
		dense *= r->inner[i].n;
	}
	return true;
}

/* Elements along inner dimension i of the whole block (0) or the rest (1). */
static int64_t inner_length(const struct reduce *r, int i, int is_rest)
{
	int64_t n = r->inner[i].n;

	return is_rest && i == r->n_inner - 1 ? r->rest / (r->block / n) : n;
}

/* The block as a dense run, out of the input; the nearest dimension is the innermost loop. */
static int init_gather(const struct reduce *r, struct copy *c, const int64_t *strides, int is_rest)
{
	struct nest nest = {.n = r->n_inner};
	int64_t dense = r->in_size;

	for (int i = 0; i < r->n_inner; i++) {
		int64_t n = inner_length(r, i, is_rest);

		nest.loop[r->n_inner - 1 - i] =
			(struct loop){.n = n, .out = dense, .in = strides[i]};
		dense *= n;
	}
	return pl_copy_init(c, &nest, (size_t)r->in_size);
}

/* A dense run of results into the result tensor. */
static int init_scatter(struct reduce *r, int is_rest)
{
	struct nest nest = {.n = 0};
	int64_t dense = r->out_size;

	for (int i = r->n_inner - 1; i >= 0; i--)
		if (r->inner[i].is_kept)
			nest.loop[nest.n++] = (struct loop){
				.n = inner_length(r, i, is_rest), .out = r->inner[i].out};
	for (int i = nest.n - 1; i >= 0; i--) {
		nest.loop[i].in = dense;
		dense *= nest.loop[i].n;
	}
	return pl_copy_init(&r->scatter[is_rest], &nest, (size_t)r->out_size);
}

/* The two folds of a pooling of bytes by two, and no third: [2][pairs][2][wide], where wide may
 * be 1. */
static void choose_pool(struct reduce *r)
{
	int first = r->n_inner > 0 && r->inner[0].is_kept;
	const struct inner *in = &r->inner[first];
	int n = r->n_inner - first;
	bool is_extreme = r->reduction == REDUCE_MIN || r->reduction == REDUCE_MAX;

	r->pool = NULL;
	if (r->dtype != PL_U8 || !is_extreme || n < 3 || n > 4 || in[0].is_kept || in[0].n != 2 ||
		!in[1].is_kept || in[2].is_kept || in[2].n != 2 || (n == 4 && !in[3].is_kept))
		return;
	r->pool = pl_kernels_get()->pool[r->reduction == REDUCE_MIN ? ACC_MIN : ACC_MAX];
	r->pool_pairs = in[1].n;
	r->pool_wide = first ? r->inner[0].n : 1;
}

/* Whether what the last fold makes is already the result, in its place. */
static void choose_last_fold(struct reduce *r)
{
	const struct pl_tile *t = &r->scatter[0].tile;

	r->last_fold = 0;
	while (r->last_fold < r->n_inner && r->inner[r->last_fold].is_kept)
		r->last_fold++;
	if (r->last_fold == r->n_inner)
		r->last_fold = -1;
	r->is_direct = r->finish == FINISH_NONE && r->last_fold >= 0 &&
		       r->scatter[0].n_outer == 0 && t->n[0] == 1 && t->n[1] == 1 && t->n[2] == 1;
}

/* One row of strides: those inside the block, the kept ones around it, the reduced ones. */
static void fill_strides(
	const struct reduce *r, int64_t *row, const struct sorted *s, const struct layout *l)
{
	int kept = r->n_inner;
	int reduced = kept + r->n_kept;

	for (int i = 0; i < s->n; i++) {
		int64_t stride = stride_of(l, &s->dim[i]);

		if (i < r->n_inner)
			row[i] = stride;
		else if (s->dim[i].is_kept)
			row[kept++] = stride;
		else
			row[reduced++] = stride;
	}
}

static bool are_uniform(const struct pl_einops_plan *plan)
{
	for (size_t i = 1; i < plan->n_inputs; i++)
		if (memcmp(plan->inputs[i].stride, plan->inputs[0].stride,
			    sizeof(plan->inputs[0].stride)))
			return false;
	return true;
}

static int64_t count_reduced(const struct nest *reduced)
{
	int64_t n = 1;

	for (int i = 0; i < reduced->n; i++)
		n = mul_saturated(n, reduced->loop[i].n);
	return n;
}

void pl_reduce_destroy(struct reduce *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->gathers && i < 2 * r->n_rows; i++)
		pl_copy_finish(&r->gathers[i]);
	pl_copy_finish(&r->scatter[0]);
	pl_copy_finish(&r->scatter[1]);
	free(r->gathers);
	free(r->strides);
	free(r->is_dense);
	free(r);
}

static void reduce_destroyp(struct reduce **r)
{
	pl_reduce_destroy(*r);
}

/* The rows of strides of all inputs, or the one they share. */
static int add_strides(struct reduce *r, const struct sorted *s, struct layout *layout,
	const struct layout_source *source)
{
	int error = 0;

	r->n_rows = r->is_uniform ? 1 : source->plan->n_inputs;
	r->n_strides = (size_t)s->n;
	r->strides = calloc(r->n_rows * r->n_strides + 1, sizeof(*r->strides));
	r->is_dense = calloc(r->n_rows, sizeof(*r->is_dense));
	r->gathers = calloc(2 * r->n_rows, sizeof(*r->gathers));
	if (!r->strides || !r->is_dense || !r->gathers)
		return -ENOMEM;
	for (size_t i = 0; !error && i < r->n_rows; i++) {
		int64_t *row = r->strides + i * r->n_strides;

		if (i > 0) {
			pl_layout_init(
				layout, source->p, source->l, source->s, &source->plan->inputs[i]);
			layout_tidy(layout, false);
		}
		fill_strides(r, row, s, layout);
		r->is_dense[i] = is_block_dense(r, row);
		for (int k = 0; !error && !r->is_dense[i] && k < (r->rest ? 2 : 1); k++)
			error = init_gather(r, &r->gathers[2 * i + (size_t)k], row, k);
	}
	return error;
}

int pl_reduce_create(struct reduce **out, const struct layout_source *source)
{
	const struct pl_einops_plan *plan = source->plan;
	struct reduce *r PL_CLEANUP(reduce_destroyp) = calloc(1, sizeof(*r));
	struct layout layout;
	struct sorted sorted;
	int error;

	if (!r)
		return -ENOMEM;
	r->dtype = plan->inputs[0].dtype;
	r->reduction = source->p->reduction;
	r->result_dtype = plan->results[0].dtype;
	r->out_size = (int64_t)pl_dtype_size(r->result_dtype);
	layout.unit = r->out_size;
	pl_reduce_choose_types(r);
	r->is_uniform = are_uniform(plan);
	pl_layout_init(&layout, source->p, source->l, source->s, &plan->inputs[0]);
	r->count = count_reduced(&layout.reduced);
	r->is_empty = r->count == 0;
	if (!r->is_empty && pl_tensor_count(&plan->results[0])) {
		layout_tidy(&layout, r->is_uniform);
		sort_dims(&sorted, &layout);
		choose_block(r, &sorted);
		error = add_strides(r, &sorted, &layout, source);
		for (int k = 0; !error && k < (r->rest && r->is_split_kept ? 2 : 1); k++)
			error = init_scatter(r, k);
		choose_last_fold(r);
		choose_pool(r);
		if (error)
			return error;
	}
	*out = PL_STEAL(r);
	return 0;
}
