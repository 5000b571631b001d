/* proto/einops/einsum.h - a planned sum of products: loops with a stride for each operand. */
#pragma once

#include "proto/einops/plan.h"

/* Elements that go through one line of the run at a time. */
#define PL_EINSUM_LINE 256

/* Up to 52 names, and what the ellipsis stands for. */
#define PL_LABELS_MAX (52 + PL_RANK_MAX)

struct einsum_loop {
	int64_t n;
	int64_t out;       /* bytes in the result; 0 of a summed one */
	const int64_t *in; /* bytes in each operand */
};

/* Kept loops first, outermost first, then the summed ones. No loop has the length 1. */
struct einsum {
	enum pl_dtype dtype;
	size_t n_operands;
	int n_kept;
	int n_loops;
	int line;          /* the loop that is done in lines; -1 if there is none */
	bool is_empty_sum; /* a summed length is 0 */
	int64_t count;     /* of the result */
	struct einsum_loop loops[PL_LABELS_MAX];
	int64_t *strides; /* [loops][operands] */
};
