/* daemon/sources/tar_fill.h - the values of a sample's fields, made of its members. */
#pragma once

#include "daemon/sources/tar_read.h"

/*
 * bytes, text and json are the member itself. A number is the member's text ("7\n"), or the value
 * that a JSON path leads to; tensors and lists are found by a path only.
 */

/* 0, or -EINVAL with err: a field's type can't be made of what its `where` names. */
int pl_tar_fill_check(const struct pl_tar_fields *fields, struct pl_err *err) PL_MUST_CHECK;

/*
 * Reads what is needed and sets sample->value[field[i]] for every field i with field[i] >= 0. 0, or
 * -errno with err, which says which member, but not which archive.
 */
int pl_tar_fill(const struct pl_tar_fields *fields, struct pl_any_place *files, size_t file,
	const struct pl_tar_sample *found, const int *field, struct pl_sample *sample,
	struct pl_err *err) PL_MUST_CHECK;
