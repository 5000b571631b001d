/* daemon/sources/tar_fields.h - which members of a sample its fields are made of. */
#pragma once

#include "daemon/sources/field_spec.h"
#include "daemon/sources/json_find.h"

/* Suffixes of one field. */
#define PL_TAR_SUFFIXES_MAX 16

struct pl_tar_suffix {
	const char *text; /* borrowed from the parameters, not terminated */
	size_t n;
};

/* One member of a sample: the first of the suffixes that the sample has. */
struct pl_tar_slot {
	int n;
	struct pl_tar_suffix suffix[PL_TAR_SUFFIXES_MAX];
	bool is_required;
	const char *field; /* one that needs it */
};

/*
 * A field's `where` is "SUFFIX|SUFFIX...", the first that is there, or "SUFFIX.PATH" with a suffix
 * that is json or ends in .json: a value inside (daemon/sources/json_find.h). Without `where` its
 * name is the suffix. Fields of one `where` or one JSON member share a slot.
 */
struct pl_tar_fields {
	struct pl_field_specs specs;
	int slot_of[PL_PARAM_LIST_MAX];              /* by field */
	struct pl_json_path path[PL_PARAM_LIST_MAX]; /* by field: in the JSON value */
	bool has_path[PL_PARAM_LIST_MAX];            /* false: the field is the member itself */
	int n_slots;
	struct pl_tar_slot slot[PL_PARAM_LIST_MAX];
};

/* `require`: names of the fields that a sample must have, or the one word "all". 0, or -EINVAL with
 * err. */
int pl_tar_fields_init(struct pl_tar_fields *f, const struct pl_param_text_map *map,
	const struct pl_param_texts *require, struct pl_err *err) PL_MUST_CHECK;

/* Number of the slot's suffix that is this one (letters of either case), or -1. */
int pl_tar_slot_find(const struct pl_tar_slot *slot, const char *suffix, size_t n);
