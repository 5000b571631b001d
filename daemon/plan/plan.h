/* daemon/plan/plan.h - a pipeline file made into a plan: checked, typed, placed, immutable. */
#pragma once

#include "daemon/kit/batch.h"
#include "daemon/kit/source.h"
#include "daemon/plan/diag.h"

#define PL_STEPS_MAX   128 /* steps of one pipeline, inner lists included */
#define PL_PAIRS_MAX   16  /* fields one step may take */
#define PL_WORKERS_MAX 256
#define PL_NAME_MAX    64
#define PL_TEXTS_MAX   64 /* the pipeline file and those it includes */

enum pl_dispatch { PL_DISPATCH_ROUND_ROBIN, PL_DISPATCH_STRICT };
enum pl_on_error { PL_ON_ERROR_FAIL, PL_ON_ERROR_SKIP, PL_ON_ERROR_SUBSTITUTE };

/* A step in its place. Inner lists (group, one_of) are lists of their own; views are already
 * spelled out. */
struct pl_step_list {
	int n;
	struct pl_step *step;
	double weight; /* one_of */
};

/* One pass over the data does n adjacent steps; `at` counts its steps from 1, 0: it is in none. */
struct pl_step_pass {
	int n;
	int at;
};

struct pl_step {
	const struct pl_op *op;
	void *params; /* op->params_size bytes, filled and checked */
	struct pl_place at;
	int id; /* 0 .. PL_STEPS_MAX-1, over the whole pipeline, in file order: names its counters
		 */
	double p;
	bool draws_each;  /* draw: each */
	uint64_t place;   /* pl_rng_place of this step, or of the name in `draw: NAME` */
	uint64_t p_place; /* place of the draw for `p` */
	const char *view; /* name of the view it runs in, or "" */
	int n;            /* pairs of fields */
	int n_own;        /* of them, those that `field:` names or that were taken by kind */
	int in[PL_PAIRS_MAX];
	int out[PL_PAIRS_MAX];
	bool only_reads[PL_PAIRS_MAX]; /* the value of in[i] stays as it is */
	bool writes_row[PL_PAIRS_MAX]; /* it writes the delivered value of out[i] */
	uint64_t ends; /* fields that don't exist after this step (bit = field number) */
	uint64_t live; /* fields that exist after this step */
	struct pl_type type[PL_PAIRS_MAX]; /* of out[i] after this step */
	struct pl_step_pass pass;
	int n_lists;
	struct pl_step_list *list;
};

/* `views`: before its steps run, field `from` is copied (shared, not duplicated) to field `to`. */
/* It is planned as a step of op "views" with in = from, out = to pairs, followed by the views' own
 * steps. */

/* How a delivered field lies in a batch. */
enum pl_form {
	PL_FORM_FIXED,  /* [size, ...]: every sample at row * row_bytes */
	PL_FORM_RAGGED, /* values and i64 offsets [size + 1]: axis 0 varies, the others are fixed */
	PL_FORM_SINGLE, /* no batch step: one sample of a shape known only with it; up to row_bytes
			 */
};

struct pl_delivery {
	int field;
	enum pl_form form;
	struct pl_type type; /* of one sample when it leaves the worker */
	uint64_t row_bytes;  /* FIXED: of one sample; SINGLE: most; RAGGED: of one step along axis 0
			      */
	uint64_t slot_offset; /* FIXED, SINGLE: of row 0. RAGGED: of the values. 64-byte aligned */
	uint64_t slot_bytes;  /* room there */
	uint64_t offsets_offset; /* RAGGED: of the i64 offsets */
	uint64_t cell_offset;    /* of the sample's value in a cell */
	uint64_t cell_bytes;     /* room there: FIXED row_bytes, else sample_max shared out */
};

/* What the client sees: a field of the batch after post-main's last step. */
struct pl_result_field {
	int field;
	const char *name;
	enum pl_form form;
	struct pl_type type; /* of one sample, without the batch axis; after post-main */
};

/* Room in the slot for what a step after `batch` writes. */
struct pl_post_room {
	uint64_t offset;
	uint64_t bytes;
};

struct pl_layout {
	int n_deliveries;
	struct pl_delivery delivery[PL_FIELDS_MAX];
	uint64_t index_offset; /* u64 record index of each row */
	uint64_t slot_bytes;   /* multiple of 4096 */
	uint64_t cell_bytes;   /* multiple of 64; 0 when nothing ever needs a cell */
	bool needs_cells; /* ragged fields, or a step before batch: every sample goes through a cell
			   */
	int64_t batch_size; /* 1 without batch */
	bool has_batch;
	bool drop_last;
};

struct pl_source_use {
	const struct pl_source_op *op;
	void *params;
	const char *name; /* `name:`, else the kind's */
	struct pl_place at;
	int n_fields;
	int field[PL_FIELDS_MAX]; /* field number of the source's i-th field; -1: nobody uses it */
	struct pl_source_field declared[PL_FIELDS_MAX];
	uint64_t rows; /* fields (by number) that are delivered as the source gives them */
};

struct pl_plan {
	char name[PL_NAME_MAX];
	const char *file; /* absolute path of the pipeline file */
	const char *dir;  /* its folder */
	uint64_t seed;
	int64_t epochs; /* 0 = forever */
	int64_t memory; /* bytes of the arena; `auto` already resolved */
	int64_t sample_max;
	bool populate;
	struct pl_source_use source;
	struct pl_step_list pre;
	struct pl_step_list worker;
	struct pl_step_list post;
	int batch_at;       /* index in post of the batch step, or -1 */
	bool is_sequential; /* workers: none */
	int64_t n_workers;  /* `auto` already resolved; >= 1 */
	int64_t worker_prefetch;
	int64_t post_prefetch;
	int64_t shard;             /* samples a shard; 0 = auto */
	int64_t sample_timeout_ns; /* 0 = none */
	int64_t nice;
	struct pl_param_ints cpus;
	int n_env;
	const char *env_name[PL_PARAM_LIST_MAX];
	const char *env_value[PL_PARAM_LIST_MAX];
	enum pl_dispatch dispatch;
	enum pl_on_error on_error;
	bool fuses;          /* adjacent worker steps become one pass where they can */
	int64_t skip_count;  /* budget: count, or -1 */
	double skip_share;   /* budget: share, or -1 */
	bool starts_eagerly; /* serve.start: eager */
	int64_t idle_timeout_ns;
	int64_t max_clients;         /* 0 = no limit of its own */
	struct pl_param_texts allow; /* users and @groups; none = the daemon's own user and root
					only; "*" = everybody */
	struct pl_param_texts roots;
	int n_fields;
	const char *field_name[PL_FIELDS_MAX];
	struct pl_type source_type[PL_FIELDS_MAX]; /* types as the source delivers them */
	int index_field; /* field numbers of _index, _key, _source; -1: nobody uses it */
	int key_field;
	int source_field;
	int n_results;
	struct pl_result_field result[PL_FIELDS_MAX];
	struct pl_layout layout;
	struct pl_post_room post_room[PL_STEPS_MAX]
				     [PL_PAIRS_MAX]; /* by step id; only steps after batch */
	uint32_t fingerprint[6]; /* seed, source declaration, listing (0 here), pre_main, workers,
				    post_main */
	int n_steps;             /* step ids in use */
	int n_texts;
	const char *text_name[PL_TEXTS_MAX]; /* what pl_place.file means: names of files as in
						messages */
};

/* `--set name=value` and open(params=…): values of declared params only. */
struct pl_setting {
	const char *name;
	const char *value;
};

/*
 * Reads, expands (params, define/use, include), checks and types the pipeline file at `path`.
 * Blocking file reads. Runs in the probe and in the command-line modes. NULL when *diag holds
 * errors; with a plan, *diag may hold warnings.
 */
struct pl_plan *pl_plan_read(
	const char *path, const struct pl_setting *settings, int n_settings, struct pl_diag *diag);

/* The first bytes of a sealed plan: all the supervisor reads of it. Texts are NUL-terminated. */
struct pl_plan_card {
	char magic[8];  /* "PLPLAN1" */
	uint64_t bytes; /* of the whole memfd */
	char name[PL_NAME_MAX];
	char file[4096];
	char source_kind[32];
	int64_t memory;
	int64_t n_workers;
	int64_t idle_timeout_ns;
	int64_t max_clients;
	int64_t nice;
	int64_t sample_timeout_ns;
	uint32_t starts_eagerly;
	uint32_t is_sequential;
	uint32_t n_allow;
	char allow[PL_PARAM_LIST_MAX][64];
	uint32_t n_steps;
	char step_name[PL_STEPS_MAX][32]; /* by step id, for status */
	uint8_t step_stage[PL_STEPS_MAX]; /* enum pl_stage, for status */
};

/* Writes card and resolved tree to a sealed memfd: the descriptor, or -errno. */
int pl_plan_seal(const struct pl_plan *plan) PL_MUST_CHECK;

/* The plan out of a sealed memfd; the file itself isn't looked at. NULL with err set when it isn't
 * one of ours. */
struct pl_plan *pl_plan_load(int fd, struct pl_err *err);

void pl_plan_destroy(struct pl_plan *plan);

/* Copies the card of a sealed plan after checking seals, size and magic. 0 or -errno. */
int pl_plan_card_read(struct pl_plan_card *card, int fd, struct pl_err *err) PL_MUST_CHECK;

/* Where a step runs, in words a user reads: "dispatcher (before the workers)", "worker", ... */
const char *pl_stage_name(enum pl_stage stage);
