/* proto/einops/reduce.c - runs a planned reduction block by block. */
#include "proto/einops/reduce.h"

/* One block of results in the making. */
struct block {
	const struct reduce *r;
	const struct pl_tensor *inputs;
	int64_t n;          /* elements of the block */
	bool is_rest;       /* of a kept split dimension */
	bool has_any;       /* something was accumulated */
	const void *direct; /* it is the input itself, if not NULL; else it is in acc */
	char *acc;
	char *spare[2];
};

/* What was only pointed at goes into the accumulators, before anything is added to it. */
static void settle(struct block *b)
{
	if (b->direct)
		memcpy(b->acc, b->direct, (size_t)(b->n * b->r->acc_size));
	b->direct = NULL;
}

/* Reads `rows` dense runs of n elements of the accumulator's type, without a copy as long as there
 * is but one. */
static void add_runs(struct block *b, const char *from, struct pl_rows rows)
{
	if (!b->has_any) {
		b->has_any = true;
		b->direct = from;
		from += rows.stride;
		rows.rows--;
	}
	if (rows.rows == 0)
		return;
	settle(b);
	b->r->rows(b->acc, from, &rows);
}

/* One run that must be gathered or converted first. */
static void add_foreign(struct block *b, const char *from, int64_t n, const struct copy *gather)
{
	char *to = b->has_any ? b->spare[0] : b->acc;

	if (gather) {
		char *dense = b->r->convert ? b->spare[1] : to;

		pl_copy_run(gather, dense, from);
		from = dense;
	}
	if (b->r->convert)
		b->r->convert(to, from, n);
	settle(b);
	if (b->has_any)
		b->r->rows(b->acc, to, &(struct pl_rows){.n = n, .rows = 1});
	b->has_any = true;
}

/* Adds rows of the input that begin at `from`; `row` is the row of strides of this input. */
static void add_rows(struct block *b, size_t row, const char *from, struct pl_rows rows)
{
	const struct reduce *r = b->r;
	const struct copy *gather = NULL;

	if (!r->is_dense[row])
		gather = &r->gathers[2 * row + (rows.n != r->block)];
	if (!gather && !r->convert) {
		add_runs(b, from, rows);
		return;
	}
	for (int64_t i = 0; i < rows.rows; i++)
		add_foreign(b, from + i * rows.stride, rows.n, gather);
}

/* Where a combination of the outer loops lies. */
struct at {
	size_t input;
	int64_t kept[PL_LOOPS_MAX];
	int64_t reduced[PL_LOOPS_MAX];
};

static const int64_t *strides_of(const struct reduce *r, size_t input)
{
	return r->strides + (r->is_uniform ? 0 : input) * r->n_strides;
}

static size_t input_of(const struct reduce *r, const struct at *at)
{
	int64_t input = 0;

	for (int i = 0; i < r->n_kept; i++)
		input += at->kept[i] * r->kept[i].step;
	for (int i = 0; i < r->n_reduced; i++)
		input += at->reduced[i] * r->reduced[i].step;
	return (size_t)input;
}

static const char *address_of(
	const struct reduce *r, const struct pl_tensor *inputs, const struct at *at)
{
	const int64_t *strides = strides_of(r, at->input) + r->n_inner;
	const char *p = inputs[at->input].data;

	for (int i = 0; i < r->n_kept; i++)
		p += at->kept[i] * strides[i];
	for (int i = 0; i < r->n_reduced; i++)
		p += at->reduced[i] * strides[r->n_kept + i];
	return p;
}

/* Steps an index over loops [first, n); false after the last combination. */
static bool step(int64_t *at, const struct loop *loops, int first, int n)
{
	for (int i = first; i < n; i++) {
		if (++at[i] < loops[i].n)
			return true;
		at[i] = 0;
	}
	return false;
}

/* Accumulates all that is reduced outside of the block: block number k of the split dimension if
 * that is kept. */
static void accumulate(struct block *b, struct at *at, int64_t k)
{
	const struct reduce *r = b->r;
	bool is_split_reduced =
		!r->is_split_kept && r->split * r->block > 0 && (r->split > 1 || r->rest);
	bool has_rows = !is_split_reduced && r->n_reduced && r->reduced[0].step == 0;
	int first = has_rows ? 1 : 0;

	memset(at->reduced, 0, (size_t)r->n_reduced * sizeof(at->reduced[0]));
	do {
		struct pl_rows rows = {.n = b->n, .rows = 1};
		const int64_t *strides;
		const char *from;
		size_t row;

		at->input = input_of(r, at);
		row = r->is_uniform ? 0 : at->input;
		strides = strides_of(r, at->input);
		from = address_of(r, b->inputs, at);
		if (is_split_reduced || k)
			rows.stride = strides[r->n_inner - 1] * r->inner[r->n_inner - 1].n;
		from += k * rows.stride;
		if (has_rows) {
			rows.rows = r->reduced[0].n;
			rows.stride = strides[r->n_inner + r->n_kept];
		} else if (is_split_reduced) {
			rows.rows = r->split;
		}
		add_rows(b, row, from, rows);
		if (is_split_reduced && r->rest)
			add_rows(b, row, from + r->split * rows.stride,
				(struct pl_rows){.n = r->rest, .rows = 1});
	} while (step(at->reduced, r->reduced, first, r->n_reduced));
}

/* [n][wide] to [wide], in place: halves upon each other. */
static void halve(const struct reduce *r, char *acc, int64_t n, int64_t wide)
{
	while (n > 1) {
		int64_t half = n / 2;

		r->rows(acc, acc + (n - half) * wide * r->acc_size,
			&(struct pl_rows){.n = half * wide, .rows = 1});
		n -= half;
	}
}

/* Both folds of a pooling at once, if there is a kernel for it; NULL if not. */
static const char *pool(struct block *b, int64_t *n, char *out)
{
	const struct reduce *r = b->r;
	const char *from = b->direct ? b->direct : b->acc;
	char *to = r->is_direct ? out : b->spare[0];
	struct pl_pool p = {.pairs = r->pool_pairs, .wide = r->pool_wide};

	*n = b->n / 4;
	p.groups = *n / (p.pairs * p.wide);
	return r->pool(to, from, &p) ? to : NULL;
}

/* Folds the reduced dimensions inside the block; returns where the results are, *n of them: at
 * `out`, if it can. */
static const char *fold(struct block *b, int64_t *n, char *out)
{
	const struct reduce *r = b->r;
	const char *from = b->direct ? b->direct : b->acc;
	int64_t below = b->n;
	int64_t above = 1;

	for (int i = r->n_inner - 1; i >= 0; i--) {
		int64_t length = r->inner[i].n;
		char *to = from == b->spare[0] ? b->acc : b->spare[0];

		if (i == r->n_inner - 1 && b->is_rest)
			length = r->rest / (r->block / length);
		below /= length;
		if (r->inner[i].is_kept) {
			above *= length;
			continue;
		}
		if (above == 1 && from == b->acc && length > 4) {
			halve(r, b->acc, length, below);
			continue;
		}
		if (i == r->last_fold && r->is_direct)
			to = out;
		r->fold(to, from, &(struct pl_fold){above, length, below});
		from = to;
	}
	*n = above;
	return from;
}

static void finish_f32(const struct reduce *r, void *to, const char *from, int64_t n)
{
	float divisor = r->finish == FINISH_MEAN_F32 ? (float)r->count : 1.0f;
	float zero = r->reduction == REDUCE_SUM || r->reduction == REDUCE_MEAN ? 0.0f : -0.0f;

	for (int64_t i = 0; i < n; i++) {
		float v;

		memcpy(&v, from + i * (int64_t)sizeof(v), sizeof(v));
		v = (v + zero) / divisor;
		if (r->result_dtype == PL_F16)
			((uint16_t *)to)[i] = pl_f32_to_f16(v);
		else if (r->result_dtype == PL_BF16)
			((uint16_t *)to)[i] = pl_f32_to_bf16(v);
		else
			((float *)to)[i] = v;
	}
}

static void finish_f64(const struct reduce *r, double *to, const char *from, int64_t n)
{
	double divisor = r->finish == FINISH_MEAN_F64 ? (double)r->count : 1.0;

	for (int64_t i = 0; i < n; i++) {
		double v;

		memcpy(&v, from + i * (int64_t)sizeof(v), sizeof(v));
		to[i] = (v + 0.0) / divisor;
	}
}

static void write_results(struct block *b, char *out)
{
	int64_t n;
	const char *from = b->r->pool ? pool(b, &n, out) : NULL;

	if (!from)
		from = fold(b, &n, out);
	switch (b->r->finish) {
	case FINISH_NONE:
		break;
	case FINISH_SUM_F32:
	case FINISH_MEAN_F32:
		finish_f32(b->r, b->spare[1], from, n);
		from = b->spare[1];
		break;
	case FINISH_SUM_F64:
	case FINISH_MEAN_F64:
		finish_f64(b->r, (double *)b->spare[1], from, n);
		from = b->spare[1];
		break;
	}
	if (from != out)
		pl_copy_run(&b->r->scatter[b->is_rest], out, from);
}

/* What the reduction makes of nothing, in bits of the result's dtype. */
static uint64_t empty_value(const struct reduce *r)
{
	static const uint64_t ones[PL_DTYPE_END] = {
		[PL_BOOL] = 1,
		[PL_U64] = 1,
		[PL_I64] = 1,
		[PL_F16] = 0x3c00,
		[PL_BF16] = 0x3f80,
		[PL_F32] = 0x3f800000,
		[PL_F64] = 0x3ff0000000000000,
	};
	static const uint64_t nans[PL_DTYPE_END] = {
		[PL_F16] = 0x7e00,
		[PL_BF16] = 0x7fc0,
		[PL_F32] = 0x7fc00000,
		[PL_F64] = 0x7ff8000000000000,
	};

	if (r->reduction == REDUCE_PROD || r->reduction == REDUCE_ALL)
		return ones[r->result_dtype];
	return r->reduction == REDUCE_MEAN ? nans[r->result_dtype] : 0;
}

/* Little-endian: the low bytes of the value are the element. */
static void fill_empty(const struct reduce *r, const struct pl_tensor *output)
{
	uint64_t value = empty_value(r);
	int64_t n = pl_tensor_count(output);

	for (int64_t i = 0; i < n; i++)
		memcpy((char *)output->data + i * r->out_size, &value, (size_t)r->out_size);
}

void pl_reduce_run(
	const struct reduce *r, const struct pl_tensor *inputs, const struct pl_tensor *output)
{
	_Alignas(64) char scratch[3][PL_SCRATCH];
	int64_t n_blocks = r->is_split_kept ? r->split + (r->rest > 0) : 1;
	struct at at = {.input = 0};

	if (r->is_empty)
		fill_empty(r, output);
	if (!r->strides)
		return;
	do {
		int64_t offset = 0;

		for (int i = 0; i < r->n_kept; i++)
			offset += at.kept[i] * r->kept[i].out;
		for (int64_t k = 0; k < n_blocks; k++) {
			struct block b = {.r = r,
				.inputs = inputs,
				.n = k < r->split ? r->block : r->rest,
				.is_rest = k == r->split,
				.acc = scratch[0],
				.spare = {scratch[1], scratch[2]}};

			accumulate(&b, &at, k);
			write_results(&b, (char *)output->data + offset);
			if (r->n_inner)
				offset += r->inner[r->n_inner - 1].out * r->inner[r->n_inner - 1].n;
		}
	} while (step(at.kept, r->kept, 0, r->n_kept));
}
