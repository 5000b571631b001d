/* daemon/plan/build.h - a plan under construction: from resolved nodes to types and places. */
#pragma once

#include "daemon/plan/node.h"
#include "daemon/plan/plan.h"
#include "daemon/plan/suggest.h"

#define PL_VIEWS_MAX 32

/* A plan in its memory: what pl_plan_destroy frees. `plan` is the first member. */
struct pl_plan_box {
	struct pl_plan plan;
	struct pl_pool pool;
	const struct pl_node *root; /* the resolved tree that seal writes */
};

/* What only the planner needs of a step; by step id. */
struct pl_step_note {
	const struct pl_node *name;  /* the step's name: where its messages point */
	const struct pl_node *args;  /* its value; NULL: none */
	const struct pl_node *field; /* `field:`, `to:` */
	const struct pl_node *to;
	const struct pl_node *into; /* views */
	int first_view;             /* its views are b->view[first_view ...] */
	int n_views;
	const char *draw; /* `draw: NAME` */
	bool is_failed;   /* an error was told: its outcome is unknown */
	enum pl_stage stage;
};

/* Where a parsed list of steps stands. */
struct pl_steps_at {
	enum pl_stage stage; /* 0: in an unused definition: anywhere */
	const char *view;    /* "" outside views */
	int depth;           /* 0: the stage's own list */
};

/* A view's own fields, and the names that its steps call them by. */
struct pl_view {
	const char *name;
	int n;
	const char *alias[PL_PAIRS_MAX];
	int field[PL_PAIRS_MAX];
};

/* The fields at one place of the pipeline. */
struct pl_state {
	struct pl_type type[PL_FIELDS_MAX];
	bool is_live[PL_FIELDS_MAX];
	uint64_t chosen; /* of _index, _key, _source: named by a select */
	uint64_t ragged; /* post-main after batch: no dense tensor */
	bool is_batched;
	bool is_poisoned; /* a step before failed: what fields there are isn't known for sure */
	int writer[PL_FIELDS_MAX];     /* id of the step that wrote it last; -1: the source */
	int row_writer[PL_FIELDS_MAX]; /* the same, if that step runs for every sample; -1: none */
	uint64_t unread;               /* written, and not read since */
};

struct pl_build {
	struct pl_plan *plan;
	struct pl_pool *pool;
	struct pl_diag *diag;
	const struct pl_node *root;
	struct pl_step_note note[PL_STEPS_MAX];
	struct {
		const char *name;
		const char *view;
		uint32_t n;
	} seen[PL_STEPS_MAX]; /* occurrences of a step's name in a view */
	int n_seen;
	struct pl_view view[PL_VIEWS_MAX];
	int n_views;
	int standing;  /* number of _index; _key and _source follow */
	uint64_t used; /* fields that some step reads, or that are delivered */
	uint64_t used_in_post;
	struct pl_state state;        /* while checking */
	struct pl_state worker_end;   /* as samples leave the workers */
	const struct pl_node *memory; /* value of `memory:`, or NULL */
};

/*
 * Makes box->plan from box->root, telling every fault. `resolved`: memory, worker count and the
 * source's fields were fixed when the plan was sealed (0: choose now, ask the source). False when
 * there were errors.
 */
struct pl_resolved {
	int64_t memory;
	int64_t n_workers;
	int n_fields;
	const struct pl_source_field *fields;
};
bool pl_plan_build(
	struct pl_plan_box *box, struct pl_diag *diag, const struct pl_resolved *resolved);

/* "field (image u8 [?, ?, 3])" for messages. */
const char *pl_field_text(const struct pl_build *b, int field, char *out, size_t n);

/* settings.c: the top level without steps and source. */
bool pl_settings_read(struct pl_build *b, const struct pl_resolved *resolved);

/* source_use.c: `source:`, and the fields it brings. */
bool pl_source_read(struct pl_build *b, const struct pl_resolved *resolved);

/* steps.c: a list of steps to placed, parameterised steps without fields. False: errors were told.
 */
bool pl_steps_parse(struct pl_build *b, const struct pl_node *list, const struct pl_steps_at *at,
	struct pl_step_list *out);

/* The list of steps of a stage: the bare list, or `steps:` of its map; NULL: none. */
const struct pl_node *pl_stage_steps(const struct pl_node *root, const char *stage);

/* draws.c: `p` and `draw` (NULL: not given), and after them the places of the step's draws. False:
 * told. */
bool pl_draws_read_p(struct pl_build *b, struct pl_step *step, const struct pl_node *node);
bool pl_draws_read(struct pl_build *b, struct pl_step *step, const struct pl_node *node);
bool pl_draws_place(struct pl_build *b, struct pl_step *step);

/* structure.c: the inner lists of group, one_of and views. False: errors were told. */
bool pl_structure_parse(struct pl_build *b, struct pl_step *step, const struct pl_steps_at *at);

/* Steps that `views` becomes beyond itself; and the expanded names of one key of `into`. */
int pl_views_count(const struct pl_node *into);
bool pl_views_parse(struct pl_build *b, const struct pl_node *into, struct pl_step_list *out);

/* fields.c */
int pl_field_number(struct pl_build *b, const char *name); /* finds or adds; -1: too many */
bool pl_field_is_standing(const struct pl_build *b, int field);
bool pl_fields_resolve(struct pl_build *b, struct pl_step *step);
bool pl_views_fields(struct pl_build *b, struct pl_step *step);
int pl_field_seen(struct pl_build *b, const struct pl_step *step, const char *name); /* -1: none */
int pl_field_output(
	struct pl_build *b, const struct pl_step *step, const char *name); /* -1: told */
void pl_field_missing(struct pl_build *b, const struct pl_step *step, struct pl_place at,
	const char *name); /* tells it */

/* also.c: the further fields of a step, behind its own. False: told. */
bool pl_also_resolve(struct pl_build *b, struct pl_step *step);

/* check.c: types through all steps; fills fields, results, writes_row. False: errors were told. */
bool pl_check(struct pl_build *b);

/* infer.c: types after a step, before and after batch. False: told. */
bool pl_infer_step(struct pl_build *b, struct pl_step *step);
bool pl_infer_batch(struct pl_build *b, struct pl_step *step);

/* deliver.c: which fields leave the workers and reach the client, and their forms. False: errors
 * were told. */
bool pl_deliver(struct pl_build *b);
enum pl_form pl_form_of(const struct pl_type *type, bool has_batch);

/* layout.c: offsets, cells, budget. False: errors were told. */
bool pl_layout(struct pl_build *b, const struct pl_resolved *resolved);

/* memory.c: what `memory: auto` may take at most on this machine. */
int64_t pl_memory_limit(void);
int pl_cpus_available(void);

/* fuse.c: which adjacent worker steps run as one pass. */
void pl_fuse(struct pl_plan *plan);

/* fingerprint.c */
void pl_fingerprint(struct pl_build *b);

/*
 * tell.c: an error that a step's check or infer gave: at the character of the parameter's text that
 * it names (pl_err_at), at the parameter that its text begins with, else at the step.
 */
void pl_step_tell(struct pl_build *b, const struct pl_step *step, const struct pl_err *err);

/* "step 'resize': " in the pool; "" when memory is out. */
const char *pl_step_prefix(struct pl_build *b, const char *name);
