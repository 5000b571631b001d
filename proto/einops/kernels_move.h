/* proto/einops/kernels_move.h - the moving kernels in plain C, for every variant. */
#pragma once

#include "proto/einops/kernels.h"

/* Elements of any alignment. */
typedef uint8_t unit_1 __attribute__((may_alias));
typedef uint16_t unit_2 __attribute__((may_alias, aligned(1)));
typedef uint32_t unit_4 __attribute__((may_alias, aligned(1)));
typedef uint64_t unit_8 __attribute__((may_alias, aligned(1)));

/* No iteration of the next loop reads what another writes; clang finds out by itself. */
#if defined(__clang__)
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define AT(type, p, offset)   (*(type *)((char *)(p) + (offset)))
#define FROM(type, p, offset) (*(const type *)((const char *)(p) + (offset)))

/* The two outer loops around one line of n[2] units. */
#define LINES(t, out, in)                                                                          \
	for (int64_t i0 = 0; i0 < (t)->n[0]; i0++)                                                 \
		for (int64_t i1 = 0; i1 < (t)->n[1]; i1++)

#define LINE_OUT(t, out) ((out) + i0 * (t)->out[0] + i1 * (t)->out[1])
#define LINE_IN(t, in)   ((in) + i0 * (t)->in[0] + i1 * (t)->in[1])

static inline __attribute__((always_inline)) void copy_runs(
	char *out, const char *in, const struct pl_tile *t, size_t unit)
{
	LINES(t, out, in)
	{
		char *o = LINE_OUT(t, out);
		const char *from = LINE_IN(t, in);

		for (int64_t j = 0; j < t->n[2]; j++)
			memcpy(o + j * t->out[2], from + j * t->in[2], unit);
	}
}

/* The sizes that pixels and small groups have get loops of their own, without a call. */
static inline void runs(char *out, const char *in, const struct pl_tile *t)
{
	switch (t->unit) {
	case 3:
		copy_runs(out, in, t, 3);
		return;
	case 6:
		copy_runs(out, in, t, 6);
		return;
	case 12:
		copy_runs(out, in, t, 12);
		return;
	case 16:
		copy_runs(out, in, t, 16);
		return;
	case 24:
		copy_runs(out, in, t, 24);
		return;
	case 32:
		copy_runs(out, in, t, 32);
		return;
	case 48:
		copy_runs(out, in, t, 48);
		return;
	case 64:
		copy_runs(out, in, t, 64);
		return;
	default:
		copy_runs(out, in, t, (size_t)t->unit);
	}
}

#define DEFINE_STRIDED(size)                                                                       \
	static inline void strided_##size(char *out, const char *in, const struct pl_tile *t)      \
	{                                                                                          \
		int64_t n = t->n[2];                                                               \
		int64_t to = t->out[2];                                                            \
		int64_t by = t->in[2];                                                             \
                                                                                                   \
		LINES(t, out, in)                                                                  \
		{                                                                                  \
			char *restrict o = LINE_OUT(t, out);                                       \
			const char *restrict from = LINE_IN(t, in);                                \
                                                                                                   \
			if (by == 0 && to == size) {                                               \
				unit_##size same = FROM(unit_##size, from, 0);                     \
                                                                                                   \
				INDEPENDENT                                                        \
				for (int64_t j = 0; j < n; j++)                                    \
					AT(unit_##size, o, j *size) = same;                        \
				continue;                                                          \
			}                                                                          \
			for (int64_t j = 0; j < n; j++)                                            \
				AT(unit_##size, o, j *to) = FROM(unit_##size, from, j * by);       \
		}                                                                                  \
	}

DEFINE_STRIDED(1)
DEFINE_STRIDED(2)
DEFINE_STRIDED(4)
DEFINE_STRIDED(8)

/* A matrix of n1 x n2 in two layouts: out rows of n2, in rows of n1. */
struct matrix {
	char *out;
	const char *in;
	int64_t out_row;
	int64_t in_row;
	int64_t n1;
	int64_t n2;
};

static inline struct matrix matrix_of(char *out, const char *in, const struct pl_tile *t)
{
	return (struct matrix){out, in, t->out[1], t->in[2], t->n[1], t->n[2]};
}

/* Part of a matrix: from (i, j), n1 x n2. */
static inline struct matrix matrix_part(
	const struct matrix *m, int64_t i, int64_t j, const int64_t n[2], int64_t size)
{
	return (struct matrix){m->out + i * m->out_row + j * size, m->in + j * m->in_row + i * size,
		m->out_row, m->in_row, n[0], n[1]};
}

#define DEFINE_TRANSPOSE(size)                                                                     \
	static inline void transpose_plain_##size(const struct matrix *m)                          \
	{                                                                                          \
		for (int64_t i = 0; i < m->n1; i++) {                                              \
			char *restrict o = m->out + i * m->out_row;                                \
			const char *restrict from = m->in + i * size;                              \
                                                                                                   \
			for (int64_t j = 0; j < m->n2; j++)                                        \
				AT(unit_##size, o, j *size) =                                      \
					FROM(unit_##size, from, j * m->in_row);                    \
		}                                                                                  \
	}

DEFINE_TRANSPOSE(1)
DEFINE_TRANSPOSE(2)
DEFINE_TRANSPOSE(4)
DEFINE_TRANSPOSE(8)

/*
 * Squares of whole cache lines on both sides, so that no line is left half done. In one, blocks of
 * `step` x `step` go to `block`, which a variant may have in registers; what is no whole square
 * goes to the plain loop.
 */
#define DEFINE_BLOCKS(size, step, block)                                                           \
	static inline void transpose_square_##size(const struct matrix *m)                         \
	{                                                                                          \
		if (m->n1 < 64 / size || m->n2 < 64 / size) {                                      \
			transpose_plain_##size(m);                                                 \
			return;                                                                    \
		}                                                                                  \
		for (int64_t j = 0; j < 64 / size; j += step) {                                    \
			for (int64_t i = 0; i < 64 / size; i += step) {                            \
				struct matrix part =                                               \
					matrix_part(m, i, j, (const int64_t[]){step, step}, size); \
                                                                                                   \
				block(&part);                                                      \
			}                                                                          \
		}                                                                                  \
	}                                                                                          \
	static inline void transpose_##size(char *out, const char *in, const struct pl_tile *t)    \
	{                                                                                          \
		const int64_t line = 64 / size;                                                    \
                                                                                                   \
		for (int64_t i0 = 0; i0 < t->n[0]; i0++) {                                         \
			struct matrix m = matrix_of(out + i0 * t->out[0], in + i0 * t->in[0], t);  \
                                                                                                   \
			for (int64_t j = 0; j < m.n2; j += line) {                                 \
				int64_t wide = m.n2 - j < line ? m.n2 - j : line;                  \
                                                                                                   \
				for (int64_t i = 0; i < m.n1; i += line) {                         \
					int64_t high = m.n1 - i < line ? m.n1 - i : line;          \
					struct matrix part = matrix_part(                          \
						&m, i, j, (const int64_t[]){high, wide}, size);    \
                                                                                                   \
					transpose_square_##size(&part);                            \
				}                                                                  \
			}                                                                          \
		}                                                                                  \
	}

/* `count` dense outputs from one input in which they alternate. `fast` says how many it has done.
 */
#define DEFINE_SPLIT(count, size, fast)                                                            \
	static inline void split_##count##_##size(                                                 \
		char *out, const char *in, const struct pl_tile *t)                                \
	{                                                                                          \
		int64_t n = t->n[2];                                                               \
                                                                                                   \
		for (int64_t i0 = 0; i0 < t->n[0]; i0++) {                                         \
			char *o = out + i0 * t->out[0];                                            \
			const unit_##size *restrict from = (const void *)(in + i0 * t->in[0]);     \
			int64_t row = t->out[1];                                                   \
			int64_t first = fast(o, row, (const char *)from, n);                       \
                                                                                                   \
			for (int64_t k = 0; k < count; k++) {                                      \
				unit_##size *restrict line = (void *)(o + k * row);                \
                                                                                                   \
				INDEPENDENT                                                        \
				for (int64_t j = first; j < n; j++)                                \
					line[j] = from[j * count + k];                             \
			}                                                                          \
		}                                                                                  \
	}

/* One output in which `count` dense inputs alternate. */
#define DEFINE_JOIN(count, size, fast)                                                             \
	static inline void join_##count##_##size(                                                  \
		char *out, const char *in, const struct pl_tile *t)                                \
	{                                                                                          \
		int64_t n = t->n[1];                                                               \
		int64_t row = t->in[2];                                                            \
                                                                                                   \
		for (int64_t i0 = 0; i0 < t->n[0]; i0++) {                                         \
			unit_##size *restrict o = (void *)(out + i0 * t->out[0]);                  \
			const char *restrict from = in + i0 * t->in[0];                            \
			int64_t first = fast((char *)o, from, row, n);                             \
                                                                                                   \
			INDEPENDENT                                                                \
			for (int64_t j = first; j < n; j++)                                        \
				for (int64_t k = 0; k < count; k++)                                \
					o[j * count + k] =                                         \
						((const unit_##size *)(const void *)(from +        \
										     k * row))[j]; \
		}                                                                                  \
	}

/* What a variant has nothing better for. */
#define SPLIT_NONE(out, row, in, n) ((void)(row), (int64_t)0)
#define JOIN_NONE(out, in, row, n)  ((void)(row), (int64_t)0)
