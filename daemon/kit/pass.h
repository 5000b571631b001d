/* daemon/kit/pass.h - adjacent steps said as moves, so that one pass over the data makes them all.
 */
#pragma once

#include "daemon/kit/op.h"

#define PL_PASS_MOVES_MAX 8

enum pl_move_kind {
	PL_MOVE_CAST = 1, /* the rules of conversion are those of the step `cast` */
	PL_MOVE_AFFINE,   /* to f32, then value * a + b, product and sum rounded each */
	PL_MOVE_ORDER,    /* axes change places */
};

struct pl_move {
	enum pl_move_kind kind;
	enum pl_dtype dtype; /* CAST */
	int n_channels;      /* AFFINE: along the last axis; 1: the same for all */
	float a[PL_PARAM_LIST_MAX];
	float b[PL_PARAM_LIST_MAX];
	int rank;              /* ORDER */
	int axis[PL_RANK_MAX]; /* ORDER: axis i of the result is axis[i] of the value */
};

struct pl_pass {
	int n;
	struct pl_move move[PL_PASS_MOVES_MAX];
};

/*
 * What a pass comes to for values of one dtype and rank. The changes are those that do something;
 * the result is written once, C-contiguous with axis i being laid[i] of the value, and then seen
 * with axis i being shown[i] of what was written: just where the steps, run apart, would leave it.
 */
struct pl_course {
	int n_changes;
	const struct pl_move *change[PL_PASS_MOVES_MAX];
	enum pl_dtype dtype;
	int rank;
	int laid[PL_RANK_MAX];
	int shown[PL_RANK_MAX];
	bool is_shown_as_laid;
};

/*
 * `is_row`: the result goes into the batch's row, so all of it is laid. False when the moves can't
 * be made in one pass: a rank that an order isn't for, means for channels that are no longer the
 * last axis of the value, axes before the last that change places among themselves (a picture is
 * turned faster by a step that does nothing else). `pass` must outlive *out.
 */
bool pl_pass_compose(const struct pl_pass *pass, enum pl_dtype dtype, int rank, bool is_row,
	struct pl_course *out);

/* Condition of pl_pass_run: nothing was done, the steps must run apart (and say what is wrong). */
enum { PL_PASS_APART = 1 };

/*
 * Makes the pass on r's pairs: `in` of its first step, `out` and `writes_row` of its last. The
 * bytes are those that the steps give when run one after the other. 0 or PL_PASS_APART; r->err
 * isn't written. Defined beside the steps, in daemon/ops/pass.c.
 */
int pl_pass_run(struct pl_run *r, const struct pl_pass *pass) PL_MUST_CHECK;
