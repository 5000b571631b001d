/* daemon/sources/csv_head.h - which column of a file each field is: found once, by the lister. */
#pragma once

#include "daemon/sources/field_spec.h"
#include "daemon/sources/line_listing.h"

/*
 * With a header a field's `where` (or else its name) is a column's name, and each file may have its
 * columns in another order. Without, it is a number from 1, or else the field's own place.
 */
struct pl_csv_layout {
	const struct pl_field_specs *specs;
	char delimiter;
	bool has_header;
};

/* The format's head (daemon/sources/line_listing.h), with a layout as context: appends the file's
 * columns to PL_LINE_SECTION_FORMAT. */
int pl_csv_head(
	void *context, const char *row, size_t n, struct pl_listing_writer *w, struct pl_err *err);

/* Without a header: is each `where` a number? 0 or -EINVAL with err. */
int pl_csv_head_check(const struct pl_csv_layout *layout, struct pl_err *err) PL_MUST_CHECK;

/* The columns of file `file`: how many it has, and by field which one, from 0. NULL: the listing is
 * broken. */
const uint32_t *pl_csv_columns(
	const struct pl_listing *l, size_t file, int n_fields, uint32_t *n_columns);
