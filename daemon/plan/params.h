/* daemon/plan/params.h - nodes to the struct that a parameter table describes. */
#pragma once

#include "daemon/kit/param.h"
#include "daemon/plan/node.h"
#include "daemon/plan/suggest.h"

#include <stdio.h>

struct pl_convert {
	struct pl_pool *pool;
	struct pl_diag *diag;
	const char *what;   /* begins messages: "step 'resize': " */
	const char *owner;  /* the step's or source's name; NULL: neither */
	struct pl_place at; /* where a parameter is missing when it is */
	const char *dir;    /* what the names of files count from; NULL: none may be read */
};

/* Converts one value into its member of `params`. False: an error was told. */
bool pl_params_set(const struct pl_convert *c, const struct pl_param *param,
	const struct pl_node *value, void *params);

/*
 * Fills `params` from a map (NULL: all defaults). Keys in `others` (may be NULL)
 * are left to the caller, as are parameters of the kinds STEPS and BRANCHES. False: errors were
 * told, all of them.
 */
bool pl_params_fill(const struct pl_convert *c, const struct pl_param *table,
	const struct pl_node *map, const struct pl_names *others, void *params);

/* Zeroes and defaults for every parameter that has one. False: a declaration is broken, or memory
 * is out. */
bool pl_params_defaults(const struct pl_convert *c, const struct pl_param *table, void *params);

/* The parameter of that key, or the obvious one; NULL when there is none. */
const struct pl_param *pl_params_find(const struct pl_param *table, const char *key);
const struct pl_param *pl_params_obvious(const struct pl_param *table);

/* Adds every key of the table. */
void pl_params_names(const struct pl_param *table, struct pl_names *names);

/* What kind of value a parameter takes, for people: "a whole number". */
const char *pl_params_expected(const struct pl_param *param, char *out, size_t n);

/*
 * Appends the converted values of the table, tuning ones left out, to a hashable text: equal values
 * give equal bytes however they were spelled. `out` is an open stream.
 */
void pl_params_canonical(FILE *out, const struct pl_param *table, const void *params);
