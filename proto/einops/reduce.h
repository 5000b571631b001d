/* proto/einops/reduce.h - a planned reduction: blocks that are accumulated and folded. */
#pragma once

#include "proto/einops/plan.h"

/* Bytes of each scratch buffer of a run; they are on the stack. */
#define PL_SCRATCH 8192

/* A dimension inside the block, fastest first. */
struct inner {
	int64_t n;
	int64_t out; /* bytes, of kept ones */
	bool is_kept;
};

enum finish {
	FINISH_NONE, /* accumulated in the type of the result */
	FINISH_SUM_F32,
	FINISH_SUM_F64,
	FINISH_MEAN_F32,
	FINISH_MEAN_F64,
};

/*
 * All axes with more than one element, sorted by how near their elements are in the input. The
 * nearest make up the block, up to PL_SCRATCH bytes; the last of them may be split in blocks and a
 * rest. What is outside of the block and reduced is accumulated over whole blocks; then the reduced
 * axes inside are folded, outermost first.
 */
struct reduce {
	bool is_empty;   /* nothing is read: the results are what the operation makes of nothing */
	bool is_uniform; /* all inputs have the strides of the first */
	enum pl_dtype dtype;
	enum reduction reduction;
	enum finish finish;
	enum pl_dtype result_dtype;
	pl_rows_fn rows;
	pl_fold_fn fold;
	pl_convert_fn convert; /* or NULL */
	pl_pool_fn pool;       /* two folds of two at once, or NULL */
	int64_t in_size;
	int64_t acc_size;
	int64_t out_size;
	int64_t count; /* elements in one result */
	int64_t block; /* elements */
	int64_t rest;  /* elements of the last, smaller block of the split dimension; 0: none */
	int64_t split; /* whole blocks along the split dimension; 1: not split */
	bool is_split_kept;
	int64_t pool_pairs;
	int64_t pool_wide;
	bool is_direct; /* the last fold can write the results */
	int last_fold;  /* the inner dimension that is folded last; -1: none is */
	int n_inner;
	int n_kept; /* loops around: kept, then reduced ones */
	int n_reduced;
	struct inner inner[PL_LOOPS_MAX];
	struct loop kept[PL_LOOPS_MAX];
	struct loop reduced[PL_LOOPS_MAX];
	size_t n_strides;
	/* Of each input (or of all): inner, then kept, then reduced strides, in bytes; one row is
	 * n_strides. */
	int64_t *strides;
	bool *is_dense;         /* per row: the block is one run in the input */
	struct copy *gathers;   /* per row two, if it isn't: of the whole block, of the rest */
	struct copy scatter[2]; /* results of the whole block, of the rest */
	size_t n_rows;
};

/* Fills in the kernels and sizes for the dtype and the reduction. */
void pl_reduce_choose_types(struct reduce *r);
