/* daemon/sources/json_member.h - values inside of JSON as fields of a sample. */
#pragma once

#include <jansson.h>

#include "daemon/kit/sample.h"
#include "proto/err.h"

/* Where a value goes. */
struct pl_json_place {
	const struct pl_type *type;
	struct pl_sample *sample;
	int field;
};

/* Any one JSON value in n bytes. NULL with err: no JSON (with line and column), or no memory. */
json_t *pl_json_member_parse(const char *text, size_t n, struct pl_err *err) PL_MUST_CHECK;

/*
 * Sets the target's value to what stands at `path`: names of members and numbers of elements with
 * dots between them. A number must fit its dtype; a tensor is arrays in arrays whose lengths agree
 * with the type; text is a string; list(text) an array of strings; json any value, written anew. 0,
 * or -errno with err, which doesn't name the field.
 */
int pl_json_member_at(json_t *root, const char *path, const struct pl_json_place *to,
	struct pl_err *err) PL_MUST_CHECK;

/* The same for a number or bool that is a whole text, with white space around it. */
int pl_json_member_of_text(const char *text, size_t n, const struct pl_json_place *to,
	struct pl_err *err) PL_MUST_CHECK;
