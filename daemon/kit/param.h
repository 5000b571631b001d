/* daemon/kit/param.h - one declaration per parameter: parser, messages, help and schema come from
 * it. */
#pragma once

#include "daemon/kit/type.h"

/* What a parameter's text is converted to, and the C type of the member that receives it. */
enum pl_param_kind {
	PL_PARAM_INT,      /* int64_t; decimal only: 010 is ten, 1e3 and 0x10 are errors */
	PL_PARAM_FLOAT,    /* double; decimal or a fraction such as 3/4; never nan or inf */
	PL_PARAM_BOOL,     /* bool; true or false, nothing else */
	PL_PARAM_TEXT,     /* const char * */
	PL_PARAM_CHOICE,   /* int: position in `choices` */
	PL_PARAM_BYTES,    /* int64_t; a number with B, KiB, MiB, GiB, TiB or none of them */
	PL_PARAM_DURATION, /* int64_t nanoseconds; a number with ms, s, min or h */
	PL_PARAM_DTYPE,    /* enum pl_dtype */
	PL_PARAM_SIZE,     /* struct pl_param_size: one number for both or [height, width] */
	PL_PARAM_RANGE,    /* struct pl_param_range: [low, high], or one number for both */
	PL_PARAM_FLOATS,   /* struct pl_param_floats: one number or a list */
	PL_PARAM_INTS,     /* struct pl_param_ints */
	PL_PARAM_TEXTS,    /* struct pl_param_texts: one text or a list */
	PL_PARAM_MAP,      /* struct pl_param_map: name: number */
	PL_PARAM_TEXT_MAP, /* struct pl_param_text_map: name: text */
	PL_PARAM_TABLE,    /* struct pl_param_table: a map of text: integer, or a file of one text a
			      line, numbered from 0 */
	PL_PARAM_VALUES,   /* struct pl_param_values: a list of scalars, all integer, all float, or
			      text */
	PL_PARAM_EXPR,  /* const char *: an expression (LANGUAGE rule 9); compiled by the op's infer
			 */
	PL_PARAM_STEPS, /* handled by the planner: a list of steps */
	PL_PARAM_BRANCHES, /* handled by the planner: several lists of steps */
	PL_PARAM_SOURCES,  /* struct pl_param_sources, filled by the planner: a list of sources */
};

#define PL_PARAM_LIST_MAX 64

/* What an INT, BYTES or DURATION receives for the i-th of its `choices`: words it takes beside
 * numbers ("auto"). */
#define PL_PARAM_WORD(i) (INT64_MIN + (i))

struct pl_param_size {
	int64_t height;
	int64_t width;
	bool is_given;
};

struct pl_param_range {
	double low;
	double high;
};

struct pl_param_floats {
	int n;
	double v[PL_PARAM_LIST_MAX];
};

struct pl_param_ints {
	int n;
	int64_t v[PL_PARAM_LIST_MAX];
};

struct pl_param_texts {
	int n;
	const char *v[PL_PARAM_LIST_MAX];
};

struct pl_param_map {
	int n;
	struct {
		const char *key;
		double value;
	} v[PL_PARAM_LIST_MAX];
};

/* Entries as written; a text is borrowed from the plan. */
struct pl_param_text_map {
	int n;
	struct {
		const char *key;
		const char *text;
	} v[PL_PARAM_LIST_MAX];
};

/* Sorted by strcmp, no two texts alike; what a file held when the plan was made. */
struct pl_table_entry {
	const char *text;
	int64_t number;
};

struct pl_param_table {
	int64_t n;
	const struct pl_table_entry *entry;
};

/* The sources inside one (mix, concat): what each is, as the planner read it. */
#define PL_PARAM_SOURCES_MAX 64

struct pl_source_part {
	const struct pl_source_op *op;
	void *params;
	const char *name;
	double weight;
};

struct pl_param_sources {
	int n;
	struct pl_source_part *v; /* lives as long as the plan */
};

/* dtype PL_I64 or PL_F64: `numbers`; 0: `texts`. All memory lives as long as the plan. */
struct pl_param_values {
	int64_t n;
	enum pl_dtype dtype;
	const int64_t *integers;
	const double *floats;
	const char *const *texts;
};

/*
 * One parameter. `key` NULL ends a table. `def` is the text of the default, converted like a user's
 * value; NULL means required, "" means absent (the member stays zero). min and max bound each
 * number (both 0: no bound). `obvious`: `step: value` sets this one. `is_tuning`: not in the
 * token's fingerprint, for it can't change a byte.
 */
struct pl_param {
	const char *key;
	enum pl_param_kind kind;
	size_t offset;
	const char *def;
	double min;
	double max;
	const char *unit;
	const char *const
		*choices; /* NULL-terminated: of CHOICE; words that INT, BYTES, DURATION take too */
	const char *help;
	bool is_obvious;
	bool is_tuning;
};
