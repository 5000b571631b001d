/* daemon/sources/csv_value.h - a cell's text as the value of a field. */
#pragma once

#include "daemon/sources/csv_row.h"
#include "daemon/sources/field_spec.h"

/*
 * text takes any cell. Whole dtypes take decimal digits (007 is 7) that fit, nothing else; floats
 * also a point, an exponent, nan and inf in any case, and an empty cell as NaN; bool takes true and
 * false in lower case, upper case or with a capital, 1 and 0; json a JSON value's text. Spaces
 * belong to a cell and are no part of a number. True when a cell can have this type.
 */
bool pl_csv_has_type(const struct pl_type *type);

/* Sets the field's value. 0, or -errno with err saying field and reason. Behind the cell is a
 * delimiter, a quote, a line end or a NUL. */
int pl_csv_store(const struct pl_field_spec *spec, const struct pl_csv_cell *cell,
	struct pl_sample *sample, int field, struct pl_err *err) PL_MUST_CHECK;
