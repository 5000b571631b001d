/* daemon/ops/pattern_step.h - what the steps that are a tensor pattern (rearrange, reduce, repeat)
 * share. */
#pragma once

#include "daemon/kit/op.h"
#include "proto/einops/einops.h"

struct pl_pattern_params {
	const char *pattern;
	struct pl_param_map axes;
	int reduction; /* reduce: position in pl_pattern_reductions */
};

/* NULL-terminated, in the words of einops. */
extern const char *const pl_pattern_reductions[];

/* Declarations of the two parameters that all of them have. */
#define PL_PATTERN_PARAM(example)                                                                  \
	{                                                                                          \
		.key = "pattern", .kind = PL_PARAM_TEXT,                                           \
		.offset = offsetof(struct pl_pattern_params, pattern),                             \
		.help = "einops pattern, such as: " example, .is_obvious = true                    \
	}

#define PL_PATTERN_AXES(what, example)                                                             \
	{                                                                                          \
		.key = "axes", .kind = PL_PARAM_MAP,                                               \
		.offset = offsetof(struct pl_pattern_params, axes), .def = "", .min = 1,           \
		.max = 0x1p31, .help = "lengths of " what ", such as: " example                    \
	}

/*
 * The functions of such a step; `op` says which. The kind of a field stays when both sides of the
 * pattern say the same, a result without axes is a scalar, everything else becomes a tensor.
 */
int pl_pattern_check(
	enum pl_einops_op op, const struct pl_pattern_params *p, struct pl_err *err) PL_MUST_CHECK;
int pl_pattern_infer(enum pl_einops_op op, struct pl_infer *io, const struct pl_pattern_params *p,
	struct pl_err *err) PL_MUST_CHECK;
int pl_pattern_prepare(enum pl_einops_op op, const struct pl_pattern_params *p, void **state,
	struct pl_err *err) PL_MUST_CHECK;
bool pl_pattern_move(enum pl_einops_op op, const struct pl_pattern_params *p, struct pl_move *move);
void pl_pattern_destroy(void *state);
int pl_pattern_run(struct pl_run *r);
