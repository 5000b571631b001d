/* daemon/sources/json_value.h - a JSON value as the value of a field. */
#pragma once

#include "daemon/sources/field_spec.h"
#include "daemon/sources/json.h"

/*
 * Whole numbers are exact or refused: 1.0 and 1e3 are no i64. Floats are read as f64 and then cast;
 * null is NaN for them and an error for everything else. bool takes true and false, text a text,
 * list(text) an array of texts, json any value's own bytes, a tensor arrays in arrays down to
 * numbers, all as long as their neighbours.
 */
struct pl_json_target {
	const struct pl_field_spec *spec;
	struct pl_sample *sample;
	int field;
	const char *line;     /* columns count from here */
	bool replaces_halves; /* half a surrogate pair becomes U+FFFD; else it is an error */
};

/* True when a JSON value can have this type: all but bytes. */
bool pl_json_has_type(const struct pl_type *type);

/* Sets the field's value from a good text with a NUL somewhere behind it. 0, or -errno with err
 * saying column, field and reason. */
int pl_json_store(const struct pl_json_target *t, struct pl_json_span value,
	struct pl_err *err) PL_MUST_CHECK;
