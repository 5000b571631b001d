/* daemon/kit/op.h - what a step is: one const table of functions and declarations per file of
 * daemon/ops. */
#pragma once

#include "daemon/kit/param.h"
#include "daemon/kit/sample.h"

#pragma GCC visibility push(default) /* plugins call these */

#define PL_OP_ABI 1

struct pl_move;

/* Where a step may stand. */
enum pl_stage {
	PL_STAGE_PRE = 1,
	PL_STAGE_WORKER = 2,
	PL_STAGE_POST = 4,
};

enum pl_op_flag {
	PL_OP_RANDOM = 1, /* draws random numbers: draw: and copies matter */
	PL_OP_WHOLE = 2, /* must see the whole stream: never in workers (`whole_reason` says why) */
	PL_OP_BLOCK = 4, /* fills a window and emits it all: restart points lie between windows */
	PL_OP_CONSUMES = 8, /* with a `to` other than the input, the input field ends here */
	PL_OP_ONE_FIELD =
		16, /* takes the only field of its kinds; several are an error that asks which */
	PL_OP_STRUCTURE = 32, /* has lists of steps; the planner and the runner know it */
	PL_OP_NO_FIELD = 64,  /* takes no field at all: filter, take, shuffle */
	PL_OP_BY_KEY = 512,   /* in pre-main: looks at where.name, the record's key */
	PL_OP_JOINS = 256,    /* all inputs become out[0], which `to` must name, and end here */
	PL_OP_LINKED = 128,   /* takes with its fields all that are linked with them (type.h) */
};

/* Positive conditions of pl_op.run. */
enum {
	PL_OP_DROP = 1, /* the sample leaves the stream here, without an error */
};

/* A field that a step takes or writes beyond its own ones. */
enum pl_also_use {
	PL_ALSO_READS,   /* its value is read and stays; the pair's out is its in */
	PL_ALSO_CHANGES, /* it is changed in place */
	PL_ALSO_WRITES,  /* a new field; the pair's in is the step's first */
};

struct pl_also {
	const char *name; /* NULL: a picture of the sample, for its size: its image, else its video
			     or mask */
	enum pl_also_use use;
};

#define PL_ALSO_MAX 12

/*
 * A step at load time. `in` are the fields it takes (by `field:` or by kind), `out` those it
 * writes, pairwise: out[i] is in[i] itself when in place, or a new field. infer reads type[in[i]]
 * and sets type[out[i]] (which starts as a copy of type[in[i]]). Lengths unknown at load are -1.
 */
struct pl_infer {
	struct pl_type *type;    /* by field number, at this place of the pipeline */
	const char *const *name; /* by field number */
	bool *is_live; /* by field number: exists at this place; select and drop end fields here */
	int n_fields;  /* field numbers are below this */
	const int *in;
	const int *out;
	int n;     /* pairs of in and out */
	int n_own; /* of them, those of `field:` or by kind; the others are op.also's, in its order,
		      then the linked ones */
	enum pl_stage stage;
	bool is_batched; /* post-main after batch: axis 0 of every field is the batch */
	const char *dir; /* the pipeline file's folder, which relative paths count from */
	const struct pl_param_texts *roots; /* `roots:`; empty: not given */
};

/*
 * A step on one sample. The same in and out as in pl_infer. `state` is what prepare made in this
 * process. r->rng draws for all fields jointly; with `draw: each` the runner calls run once a
 * field.
 */
struct pl_run {
	struct pl_sample *sample;
	const struct pl_op *op;
	const void *params;
	void *state;
	const int *in;
	const int *out;
	int n;
	int n_own;              /* as in pl_infer */
	const bool *writes_row; /* by pair: this step writes the delivered value of out[i] */
	struct pl_rng rng;
	struct pl_err *err;
	void (*trace)(void *context, const char *label, const char *value); /* NULL: nobody asked */
	void *trace_context;
};

/*
 * Room for out[i] with this dtype and shape, C-contiguous, and the value set to it: in the batch's
 * slot itself when this step writes the delivered value, else scratch. Never overlaps the input's
 * memory unless `in` was already in the row (then the value was moved to scratch first). NULL with
 * err set when the shape is invalid, larger than sample_max or does not match the row: return
 * -EMSGSIZE or -EINVAL then, by `return pl_run_failed(r)`.
 */
void *pl_run_out(struct pl_run *r, int i, enum pl_dtype dtype, int rank, const int64_t *shape);

/* The negative errno that pl_run_out or pl_run_scratch left. */
int pl_run_failed(const struct pl_run *r);

/* Scratch memory until the sample is done; NULL with err set when the sample's limit is reached. */
void *pl_run_scratch(struct pl_run *r, size_t n);

/* The value of in[i] as contiguous memory: itself, or a copy in scratch. NULL with err set as
 * above. */
const void *pl_run_contiguous(struct pl_run *r, int i);

struct pl_mixture; /* daemon/kit/source.h */

/*
 * An order step (take, skip, shuffle ...) over one epoch: n_in records come in, n_out go out, and
 * output position i is input position at(i). Pure arithmetic, so that a stream can start anywhere.
 * In post-main, where the count isn't known, n_in is UINT64_MAX, only take and skip are allowed,
 * and sample i stays when i - at(0) < n_out.
 */
struct pl_order {
	uint64_t n_in;
	uint64_t n_out;
	uint64_t seed;
	uint32_t epoch;
	uint64_t place;                   /* pl_rng_place of the step */
	const struct pl_mixture *mixture; /* where n_in is the epoch of one, else NULL */
	union {
		struct pl_permutation permutation;
		uint64_t words[16];
	} state;
};

/*
 * One step. Every function may be NULL unless said. Strings are static.
 */
struct pl_op {
	uint32_t abi;  /* PL_OP_ABI; checked first */
	uint32_t size; /* sizeof(struct pl_op); checked second */
	const char *name;
	const char *help;   /* one line, no final stop */
	const char *class_; /* order decode geometry photometric audio tensor text structure batch
			       extension debug */
	uint32_t version;   /* counts changes of its output; part of every token */
	unsigned stages;    /* enum pl_stage bits */
	unsigned flags;     /* enum pl_op_flag bits */
	unsigned takes;     /* PL_KIND_BIT set of the default fields */
	const char *to;     /* default name of the output field; NULL: in place */
	double default_p;   /* default of `p:`; 0 means 1 */
	const char *whole_reason;      /* PL_OP_WHOLE: "it must see the whole stream to ..." */
	const struct pl_param *params; /* ends with key NULL; may be NULL */
	size_t params_size;

	/* Checks parameters against each other, once, at load. 0 or -EINVAL with err (no place: the
	 * planner prefixes it). */
	int (*check)(void *params, struct pl_err *err);

	/* Name of the output field for input i, when it isn't `to`. Static or in params. */
	const char *(*output)(const void *params, enum pl_kind kind);

	/* Fills also[0..PL_ALSO_MAX) with the further fields of this step and returns how many.
	 * Names are static or in params. They become pairs behind the step's own. Not for steps
	 * that draw. */
	int (*also)(const void *params, struct pl_also *also);

	/* Types after the step; required unless the step changes none. 0 or -EINVAL with err. Runs
	 * in the probe. */
	int (*infer)(struct pl_infer *io, void *params, struct pl_err *err);

	/* Tables for `run`, once per process after infer; *state is passed to run and destroy. 0 or
	 * -errno. */
	int (*prepare)(
		const struct pl_infer *io, const void *params, void **state, struct pl_err *err);
	void (*destroy)(void *state);

	/* Order steps: fills o->n_out and o->state from n_in, seed, epoch and place; then maps
	 * positions. */
	int (*order)(const void *params, struct pl_order *o, struct pl_err *err);
	uint64_t (*at)(const void *params, const struct pl_order *o, uint64_t i);

	/* One sample. 0, PL_OP_DROP, or -errno with err saying what is wrong with this sample.
	 * Never blocks on anything but a file it was told to read; touches no global. Required for
	 * worker steps. */
	int (*run)(struct pl_run *r);

	/* What the step does, as one move of a pass (daemon/kit/pass.h): adjacent steps that can
	 * say so run as one. False: with these parameters it can't. */
	bool (*move)(const void *params, struct pl_move *move);
};

/* The explicit, sorted, immutable table of steps (daemon/ops/table.c). */
extern const struct pl_op *const pl_ops[];
extern const size_t pl_n_ops;

#pragma GCC visibility pop
