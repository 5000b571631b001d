/* proto/einops/einops.h - tensor patterns: parse a text, plan it, run it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/tensor/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The operations of einops (rearrange, reduce, repeat, pack, unpack, parse_shape, einsum) as a pure
 *library:
 *
 *	text --parse--> pattern --plan--> plan --run--> data
 *
 * A pattern knows the text, a plan also the shapes, strides, dtypes and axis lengths. Both are
 *immutable: any number of threads may use one at the same time. Nothing here prints, and nothing is
 *kept between calls except the choice of the kernels for this CPU, which is made once.
 *
 * Limits: PL_RANK_MAX dimensions in inputs and results, PL_EINOPS_AXES_MAX elementary axes in a
 *pattern, PL_EINOPS_PATTERN_MAX bytes of text. Names are identifiers of any script, in UTF-8,
 *compared byte by byte.
 */
#define PL_EINOPS_API         __attribute__((visibility("default")))
#define PL_EINOPS_CHECK       __attribute__((warn_unused_result))
#define PL_EINOPS_AXES_MAX    64
#define PL_EINOPS_PATTERN_MAX 65536
#define PL_EINOPS_INPUTS_MAX  65536

enum pl_einops_op {
	PL_EINOPS_REARRANGE = 1,
	PL_EINOPS_REDUCE,
	PL_EINOPS_REPEAT,
	PL_EINOPS_PACK,
	PL_EINOPS_UNPACK,
	PL_EINOPS_PARSE_SHAPE,
	PL_EINOPS_EINSUM,
};

/*
 * What is wrong. The order is that in which the conditions are looked for; the first that holds is
 * reported. pl_einops_code_name gives the text "E_ARROW" and so on.
 */
enum pl_einops_code {
	PL_EINOPS_OK = 0,
	PL_EINOPS_E_ARROW,          /* not exactly one "->" */
	PL_EINOPS_E_DOTS,           /* a '.' that is not part of the one "..." of its side */
	PL_EINOPS_E_CHAR,           /* a character that can't be in a pattern */
	PL_EINOPS_E_PAREN,          /* a parenthesis without its partner, or nested */
	PL_EINOPS_E_IDENT,          /* a word that is no name */
	PL_EINOPS_E_DUP,            /* a name or "..." twice on one side */
	PL_EINOPS_E_ANON_ZERO,      /* the number 0 as an axis */
	PL_EINOPS_E_ELL_RIGHT,      /* "..." on the right only */
	PL_EINOPS_E_ELL_LEFT_PAREN, /* "..." in parentheses on the left */
	PL_EINOPS_E_ANON_REARRANGE, /* a number other than 1 in rearrange */
	PL_EINOPS_E_ONE_SIDED,      /* rearrange: an axis on one side only */
	PL_EINOPS_E_REPEAT_LEFT,    /* repeat: an axis of the left is missing on the right */
	PL_EINOPS_E_REPEAT_SIZE,    /* repeat: a new axis without a length */
	PL_EINOPS_E_REDUCTION,      /* no such reduction */
	PL_EINOPS_E_REDUCE_RIGHT,   /* reduce: an axis of the right is missing on the left */
	PL_EINOPS_E_RANK,      /* the tensor has another number of dimensions than the pattern */
	PL_EINOPS_E_AXIS_NAME, /* a length is given for something that is no name, or twice for one
				  name */
	PL_EINOPS_E_AXIS_UNUSED, /* a length is given for a name that the pattern doesn't have */
	PL_EINOPS_E_UNDERDETERMINED, /* two lengths of one group are unknown */
	PL_EINOPS_E_MISMATCH,        /* a length differs from what the pattern or the caller says */
	PL_EINOPS_E_DIVIDE,          /* a group's length is not divisible by the lengths given */
	PL_EINOPS_E_ZERO_DIVISOR,    /* the known lengths of a group give 0 and one is unknown */
	PL_EINOPS_E_NEGATIVE,        /* a length below zero */
	PL_EINOPS_E_EMPTY_LIST,      /* no tensor */
	PL_EINOPS_E_STACK,           /* the tensors of a list differ in shape */
	PL_EINOPS_E_MEAN_DTYPE,      /* mean of something that is no float */
	PL_EINOPS_E_EMPTY_REDUCE,    /* min or max of nothing */
	PL_EINOPS_E_PACK_STAR,       /* pack, unpack: no "*" */
	PL_EINOPS_E_CONCAT,          /* pack: the named axes of the tensors differ */
	PL_EINOPS_E_UNPACK_MULTI,    /* unpack: -1 in more than one packed shape */
	PL_EINOPS_E_UNPACK_SPLIT,    /* unpack: the packed shapes do not use up the axis exactly */
	PL_EINOPS_E_COMPOSITE,       /* parse_shape: a group of several axes */
	PL_EINOPS_E_EINSUM_UNIT,     /* einsum: 1 or () */
	PL_EINOPS_E_EINSUM_COMPOSITE, /* einsum: a group of several axes */
	PL_EINOPS_E_EINSUM_ANON,      /* einsum: a number */
	PL_EINOPS_E_EINSUM_RIGHT,     /* einsum: an axis of the right is on no left side */
	PL_EINOPS_E_EINSUM_OPERANDS,  /* einsum: another number of tensors than of left sides */
	PL_EINOPS_E_EINSUM_OUT, /* einsum: what the right side says can't be: a label twice, "..."
				   lost or new */
	PL_EINOPS_E_DTYPE,      /* no dtype, or tensors of different dtypes together */
	PL_EINOPS_E_LIMIT,     /* more axes, dimensions, tensors or bytes of pattern than the limits
				  above */
	PL_EINOPS_E_TOO_LARGE, /* the lengths (zeros left out) multiply beyond 2^63 / 8 */
	PL_EINOPS_E_MEMORY,    /* out of memory */
	PL_EINOPS_E_ARGUMENT,  /* a call against this header: wrong op, NULL, a tensor with a
				  negative length */
	PL_EINOPS_CODE_END,
};

/*
 * Why a call failed; written by every function that takes one, when it returns non-zero. NULL is
 *allowed there. `column` and `length` are the bytes of the pattern's text that the fault is about
 *(0-based; a fault that no place of the text is to blame for spans all of it); column may be the
 *text's length: something is missing at the end. `reason` is one line that says what is wrong and
 *what would be right. `text` is for a terminal: operation, reason, the pattern, and carets under
 *the span:
 *
 *	rearrange: axis 'w' is on the left only; rearrange keeps every axis, write it on the right
 *too h w -> h
 *	      ^
 *
 * Bytes that a terminal could not show appear as \xHH. A long pattern is cut to what surrounds the
 *carets.
 */
struct pl_einops_error {
	enum pl_einops_code code;
	size_t column;
	size_t length;
	char reason[320];
	char text[1280];
};

/* "E_ARROW" ... ; "E_?" for a number that is no code. Static storage. */
PL_EINOPS_API const char *pl_einops_code_name(enum pl_einops_code code);

/* "rearrange" ... ; "?" for a number that is no operation. Static storage. */
PL_EINOPS_API const char *pl_einops_op_name(enum pl_einops_op op);

/*
 * What to do, as text. `pattern` is n_pattern bytes, need not be terminated and may be anything.
 * `reduction` (for reduce; ignored otherwise) is one of "min" "max" "sum" "mean" "prod" "any"
 * "all". Borrowed during the call only.
 */
struct pl_einops_spec {
	enum pl_einops_op op;
	const char *pattern;
	size_t n_pattern;
	const char *reduction;
};

/*
 * The result has the input's dtype, but for a reduce that has at least one axis to reduce (named or
 *a number, also of length 1; a unit is none):
 *
 *	min, max	any dtype gives the same; NaN if one is NaN; of nothing: E_EMPTY_REDUCE
 *	sum, prod	bool and i8..i64 give i64, u8..u64 give u64, both modulo 2^64; floats the
 *same; of nothing: 0, 1 mean		floats only, the same; of nothing: NaN any, all	any dtype
 *gives bool; NaN is true; of nothing: false, true
 *
 * f16 and bf16 are accumulated in f32 and rounded once, f32 and f64 in themselves, in an order that
 *depends on the shape and the strides but not on the CPU. einsum keeps the dtype (integers wrap in
 *it), and sums floats in f64.
 */

/* A length given by the caller for the axis of that name: a definition, or an assertion if it is
 * known otherwise. */
struct pl_einops_axis {
	const char *name; /* NUL-terminated */
	int64_t length;
};

/* Lengths of a packed shape; rank 0 is a tensor without the star axis. */
struct pl_einops_shape {
	int rank;
	int64_t length[PL_RANK_MAX];
};

/*
 * What to do it to. Everything is borrowed during the call only; `data` of the tensors is never
 * looked at. rearrange, reduce, repeat: one input, or with is_list any number of equal shape and
 * dtype, which are stacked along a new first axis. einsum, pack: any number. unpack: one, and the
 * packed shapes (one length of one of them may be -1).
 */
struct pl_einops_args {
	const struct pl_tensor *inputs;
	size_t n_inputs;
	bool is_list;
	const struct pl_einops_axis *axes;
	size_t n_axes;
	const struct pl_einops_shape *packed;
	size_t n_packed;
};

struct pl_einops_pattern;
struct pl_einops_plan;
struct pl_einops_cache;

/*
 * Every function below that returns int returns 0, -EINVAL (the pattern, the lengths or the shapes
 * are wrong: see error->code), -EOVERFLOW (E_TOO_LARGE, E_LIMIT) or -ENOMEM, and writes *error
 * (which may be NULL) if not 0. The outputs are untouched then. Nothing blocks.
 */

/* Reads a pattern. *out is the caller's, to be destroyed; it keeps a copy of the text. */
PL_EINOPS_API PL_EINOPS_CHECK int pl_einops_parse(const struct pl_einops_spec *spec,
	struct pl_einops_pattern **out, struct pl_einops_error *error);

/* NULL is fine. Plans made from the pattern live on. */
PL_EINOPS_API void pl_einops_pattern_destroy(struct pl_einops_pattern *pattern);

/*
 * True when the pattern only changes the order of axes: a rearrange in which each dimension is one
 * name. *rank of them; axis i of the result is axis[i] of the tensor.
 */
PL_EINOPS_API bool pl_einops_is_permutation(
	const struct pl_einops_pattern *pattern, int axis[PL_RANK_MAX], int *rank);

/*
 * What a plan would say when not all is known yet: a length of -1 in the shape of an input is
 * unknown, so is a dtype of 0; strides are ignored. *result gets rank, lengths (-1 where unknown),
 * dtype (0 if unknown), strides of 0 and no data. Fails wherever what is known already can't fit.
 * rearrange, reduce, repeat (list or not), pack and einsum.
 */
PL_EINOPS_API PL_EINOPS_CHECK int pl_einops_infer(const struct pl_einops_pattern *pattern,
	const struct pl_einops_args *args, struct pl_tensor *result, struct pl_einops_error *error);

/*
 * Makes a plan for exactly these dtypes, shapes and strides. All but parse_shape. *out holds one
 * reference, to be released; it needs the pattern no more. Running it allocates nothing.
 */
PL_EINOPS_API PL_EINOPS_CHECK int pl_einops_plan_create(const struct pl_einops_pattern *pattern,
	const struct pl_einops_args *args, struct pl_einops_plan **out,
	struct pl_einops_error *error);

/* One more reference to the plan; returns it. Any thread. */
PL_EINOPS_API struct pl_einops_plan *pl_einops_plan_acquire(struct pl_einops_plan *plan);

/* One reference less; the last one frees. NULL is fine. Any thread. */
PL_EINOPS_API void pl_einops_plan_release(struct pl_einops_plan *plan);

/* Number of results: 1, or for unpack as many as packed shapes were given. */
PL_EINOPS_API size_t pl_einops_plan_n_results(const struct pl_einops_plan *plan);

/*
 * Result i as a C-contiguous tensor without data: what pl_einops_run wants as memory. Belongs to
 * the plan. NULL when i is out of range.
 */
PL_EINOPS_API const struct pl_tensor *pl_einops_plan_result(
	const struct pl_einops_plan *plan, size_t i);

/*
 * True when no data must move: result i is the memory of the input seen through other strides.
 * Always so for unpack, for a rearrange (reduce and repeat too, if they only reorder, split, drop
 * or insert units) when the strides allow it. *view (may be NULL) gets the result over input->data,
 * which is borrowed as long as the view is used.
 */
PL_EINOPS_API bool pl_einops_plan_view(const struct pl_einops_plan *plan, size_t i,
	const struct pl_tensor *input, struct pl_tensor *view);

/* pack: the packed shape of input i, which unpack wants. False when the plan is no pack or i is out
 * of range. */
PL_EINOPS_API bool pl_einops_plan_packed(
	const struct pl_einops_plan *plan, size_t i, struct pl_einops_shape *packed);

/*
 * Does it: reads the inputs (as many as were planned, with the same dtype, shape and strides; data
 * aligned or not) and writes the results (n_results of them, C-contiguous, dtype and shape as
 * planned, no overlap with the inputs). A plan that is a view may be run too: it copies. 0, or
 * -EINVAL when a tensor is not as planned, and then nothing is written.
 */
PL_EINOPS_API PL_EINOPS_CHECK int pl_einops_run(const struct pl_einops_plan *plan,
	const struct pl_tensor *inputs, const struct pl_tensor *outputs);

/*
 * parse_shape: the names of the pattern, in its order, with the lengths they have in `tensor`.
 * `found` has room for PL_RANK_MAX; the names belong to the pattern.
 */
PL_EINOPS_API PL_EINOPS_CHECK int pl_einops_parse_shape(const struct pl_einops_pattern *pattern,
	const struct pl_tensor *tensor, struct pl_einops_axis *found, size_t *n_found,
	struct pl_einops_error *error);

/*
 * A bounded memory of plans for callers that have only text. At most `capacity` plans (1..65536;
 * rounded up to a power of two) are kept; old ones make room. Any number of threads may use one
 * cache. A look-up never waits: neither for a plan being made (that happens outside) nor for
 * another thread (a busy place counts as a miss). NULL when out of memory.
 */
PL_EINOPS_API struct pl_einops_cache *pl_einops_cache_create(size_t capacity);

/* No thread may be using it. Plans that were handed out live on. NULL is fine. */
PL_EINOPS_API void pl_einops_cache_destroy(struct pl_einops_cache *cache);

/*
 * The plan for text and arguments, from the cache or made now (and then kept; cache may be NULL:
 * nothing is kept). Whether it was there can't be seen but in the time. *out holds one reference,
 * to be released.
 */
PL_EINOPS_API PL_EINOPS_CHECK int pl_einops_cache_plan(struct pl_einops_cache *cache,
	const struct pl_einops_spec *spec, const struct pl_einops_args *args,
	struct pl_einops_plan **out, struct pl_einops_error *error);

/*
 * pl_einops_cache_plan, then pl_einops_run from args->inputs to outputs, in one call. An output
 * that is not as the plan says is E_ARGUMENT.
 */
PL_EINOPS_API PL_EINOPS_CHECK int pl_einops_call(struct pl_einops_cache *cache,
	const struct pl_einops_spec *spec, const struct pl_einops_args *args,
	const struct pl_tensor *outputs, struct pl_einops_error *error);

/*
 * The kernels in use: "portable", "avx2", "avx512" or "neon". Chosen at the first need by what the
 * CPU can; the environment variable PIPELOADER_KERNELS forces one (a name that this CPU or build
 * has not is ignored).
 */
PL_EINOPS_API const char *pl_einops_kernels_name(void);

#ifdef __cplusplus
}
#endif
