/* daemon/sources/field_spec.h - what a record source's fields are, and where in a record they
 * stand. */
#pragma once

#include "daemon/kit/param.h"
#include "daemon/kit/source.h"

/*
 * `fields: {name: type [where]}`. A type is
 *	i64, f32, bool ...    a number: any dtype; rank 0, kind scalar
 *	f32(n 4), i64(n)      a tensor: lengths are numbers or names, a name for one that varies
 *	image(h w 3), mask(h w)   u8 of that kind; lengths as above
 *	text, bytes, json     u8 [n] of that kind; json is the value's own text
 *	list(text)            kind list, as daemon/kit/text_list.h holds it
 * `where` is the source's own: a column, .json.path, suffixes a|b, a feature; empty: the name.
 */
struct pl_field_spec {
	const char *name;  /* borrowed from the parameters */
	const char *where; /* borrowed from the parameters; "" when none is given */
	struct pl_type type;
};

struct pl_field_specs {
	int n;
	struct pl_field_spec v[PL_PARAM_LIST_MAX];
};

/*
 * Reads them all. 0, or -EINVAL with err: an unknown type (with the nearest), a length that is no
 * number or name, a name used twice in one type, no field at all.
 */
int pl_field_specs_parse(struct pl_field_specs *specs, const struct pl_param_text_map *map,
	struct pl_err *err) PL_MUST_CHECK;
