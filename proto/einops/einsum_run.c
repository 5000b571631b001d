/* proto/einops/einsum_run.c - the sum of products, a line of elements at a time. */
#include "proto/einops/einsum.h"

/* Integers are summed modulo 2^64 and cut to their width, floats in f64 and rounded once. */
union line {
	uint64_t whole[PL_EINSUM_LINE];
	double real[PL_EINSUM_LINE];
};

struct strip {
	int64_t n;
	int64_t stride;
};

#define LOAD(type, member, expression)                                                             \
	for (int64_t i = 0; i < s.n; i++) {                                                        \
		type x;                                                                            \
                                                                                                   \
		memcpy(&x, from + i * s.stride, sizeof(x));                                        \
		to->member[i] = (expression);                                                      \
	}                                                                                          \
	return

static void load(enum pl_dtype dtype, union line *to, const char *from, struct strip s)
{
	switch (dtype) {
	case PL_BOOL:
		LOAD(uint8_t, whole, x != 0);
	case PL_U8:
		LOAD(uint8_t, whole, x);
	case PL_U16:
		LOAD(uint16_t, whole, x);
	case PL_U32:
		LOAD(uint32_t, whole, x);
	case PL_U64:
	case PL_I64:
		LOAD(uint64_t, whole, x);
	case PL_I8:
		LOAD(int8_t, whole, (uint64_t)(int64_t)x);
	case PL_I16:
		LOAD(int16_t, whole, (uint64_t)(int64_t)x);
	case PL_I32:
		LOAD(int32_t, whole, (uint64_t)(int64_t)x);
	case PL_F16:
		LOAD(uint16_t, real, (double)pl_f16_to_f32(x));
	case PL_BF16:
		LOAD(uint16_t, real, (double)pl_bf16_to_f32(x));
	case PL_F32:
		LOAD(float, real, (double)x);
	case PL_F64:
		LOAD(double, real, x);
	case PL_DTYPE_END:
		break;
	}
}

static void multiply(enum pl_dtype dtype, union line *by, const union line *with, int64_t n)
{
	if (pl_dtype_is_float(dtype))
		for (int64_t i = 0; i < n; i++)
			by->real[i] *= with->real[i];
	else
		for (int64_t i = 0; i < n; i++)
			by->whole[i] *= with->whole[i];
}

static void add(enum pl_dtype dtype, union line *to, const union line *what, int64_t n)
{
	if (pl_dtype_is_float(dtype))
		for (int64_t i = 0; i < n; i++)
			to->real[i] += what->real[i];
	else if (dtype == PL_BOOL)
		for (int64_t i = 0; i < n; i++)
			to->whole[i] |= what->whole[i];
	else
		for (int64_t i = 0; i < n; i++)
			to->whole[i] += what->whole[i];
}

/* The first element gets the sum of all. */
static void add_up(enum pl_dtype dtype, union line *line, int64_t n)
{
	while (n > 1) {
		int64_t half = n / 2;

		for (int64_t i = 0; i < half; i++) {
			if (pl_dtype_is_float(dtype))
				line->real[i] += line->real[n - half + i];
			else if (dtype == PL_BOOL)
				line->whole[i] |= line->whole[n - half + i];
			else
				line->whole[i] += line->whole[n - half + i];
		}
		n -= half;
	}
}

static void store(enum pl_dtype dtype, char *to, const union line *from, int64_t i)
{
	uint16_t half;
	float single;

	switch (dtype) {
	case PL_F16:
		half = pl_f32_to_f16((float)from->real[i]);
		memcpy(to, &half, sizeof(half));
		return;
	case PL_BF16:
		half = pl_f32_to_bf16((float)from->real[i]);
		memcpy(to, &half, sizeof(half));
		return;
	case PL_F32:
		single = (float)from->real[i];
		memcpy(to, &single, sizeof(single));
		return;
	case PL_F64:
		memcpy(to, &from->real[i], sizeof(double));
		return;
	default:
		/* Little-endian: the low bytes are the number cut to its width. */
		memcpy(to, &from->whole[i], pl_dtype_size(dtype));
	}
}

/* The product of all operands along a strip, into `to`. */
static void product(const struct einsum *e, union line *to, const struct pl_tensor *inputs,
	const int64_t *at, struct strip s)
{
	union line other;

	for (size_t k = 0; k < e->n_operands; k++) {
		const char *from = inputs[k].data;

		for (int i = 0; i < e->n_loops; i++)
			from += at[i] * e->loops[i].in[k];
		s.stride = e->line >= 0 ? e->loops[e->line].in[k] : 0;
		load(e->dtype, k ? &other : to, from, s);
		if (k)
			multiply(e->dtype, to, &other, s.n);
	}
}

/* Next combination of loops [first, end) but the line; false after the last. */
static bool step(const struct einsum *e, int64_t *at, int first, int end)
{
	for (int i = end - 1; i >= first; i--) {
		if (i == e->line)
			continue;
		if (++at[i] < e->loops[i].n)
			return true;
		at[i] = 0;
	}
	return false;
}

/* All that is summed into the elements at `at` along the strip, if the line is kept; else into one
 * element. */
static void sum(const struct einsum *e, union line *total, const struct pl_tensor *inputs,
	int64_t *at, struct strip s)
{
	int64_t whole = e->line < 0 ? 1 : e->loops[e->line].n;
	bool is_line_summed = e->line >= e->n_kept;
	union line terms;

	memset(total, 0, sizeof(*total));
	do {
		if (!is_line_summed) {
			product(e, &terms, inputs, at, s);
			add(e->dtype, total, &terms, s.n);
			continue;
		}
		for (at[e->line] = 0; at[e->line] < whole; at[e->line] += s.n) {
			s.n = whole - at[e->line] < PL_EINSUM_LINE ? whole - at[e->line]
								   : PL_EINSUM_LINE;
			product(e, &terms, inputs, at, s);
			add_up(e->dtype, &terms, s.n);
			add(e->dtype, total, &terms, 1);
		}
		at[e->line] = 0;
	} while (step(e, at, e->n_kept, e->n_loops));
}

static char *result_at(const struct einsum *e, const struct pl_tensor *output, const int64_t *at)
{
	char *to = output->data;

	for (int i = 0; i < e->n_kept; i++)
		to += at[i] * e->loops[i].out;
	return to;
}

void pl_einsum_run(
	const struct einsum *e, const struct pl_tensor *inputs, const struct pl_tensor *output)
{
	bool is_line_kept = e->line >= 0 && e->line < e->n_kept;
	int64_t whole = is_line_kept ? e->loops[e->line].n : 1;
	int64_t at[PL_LABELS_MAX] = {0};
	union line total;

	if (e->is_empty_sum && e->count)
		memset(output->data, 0, (size_t)pl_tensor_bytes(output));
	if (e->is_empty_sum || e->count == 0)
		return;
	do {
		for (int64_t first = 0; first < whole; first += PL_EINSUM_LINE) {
			struct strip s = {
				whole - first < PL_EINSUM_LINE ? whole - first : PL_EINSUM_LINE, 0};
			char *to;

			if (is_line_kept)
				at[e->line] = first;
			to = result_at(e, output, at);
			sum(e, &total, inputs, at, s);
			for (int64_t i = 0; i < s.n; i++)
				store(e->dtype, to + (is_line_kept ? i * e->loops[e->line].out : 0),
					&total, i);
		}
		if (is_line_kept)
			at[e->line] = 0;
	} while (step(e, at, 0, e->n_kept));
}
