/* daemon/sources/csv_head.c - which column of a file each field is: found once, by the lister. */
/*
 * The listing's section holds for each file the number of its columns and then a column by field,
 * all u32.
 */
#include "daemon/sources/csv_head.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/sources/csv_row.h"

#define NO_COLUMN UINT32_MAX

static const char *column_of(const struct pl_csv_layout *l, int i)
{
	const struct pl_field_spec *spec = &l->specs->v[i];

	return *spec->where ? spec->where : spec->name;
}

/* A column's number from 1, or 0 when the text is none. */
static uint32_t column_number(const char *text)
{
	uint32_t n = 0;

	for (; *text >= '0' && *text <= '9' && n < 100000; text++)
		n = n * 10 + (uint32_t)(*text - '0');
	return *text ? 0 : n;
}

int pl_csv_head_check(const struct pl_csv_layout *layout, struct pl_err *err)
{
	char shown[256];

	for (int i = 0; i < layout->specs->n && !layout->has_header; i++) {
		const struct pl_field_spec *spec = &layout->specs->v[i];

		if (*spec->where && column_number(spec->where) == 0)
			return pl_err_set(err, -EINVAL,
				"fields: %s: '%s' is no column: without a header columns are "
				"numbers from 1",
				spec->name, pl_err_quote(shown, sizeof(shown), spec->where));
	}
	return 0;
}

static bool is_text(const struct pl_csv_cell *cell, const char *text)
{
	PL_AUTO_FREE char *undone = NULL;
	size_t n = strlen(text);

	if (!cell->has_pairs)
		return cell->n == n && !memcmp(cell->at, text, n);
	undone = malloc(cell->n);
	return undone && pl_csv_text(cell, undone) == n && !memcmp(undone, text, n);
}

/* "a, b, c", cut where `n` bytes end. */
static char *list_columns(struct pl_csv_row row, char *out, size_t n)
{
	struct pl_csv_cell cell;
	size_t at = 0;

	out[0] = '\0';
	while (at < n && pl_csv_next(&row, &cell) == 1) {
		char one[64];
		char shown[256];

		snprintf(one, sizeof(one), "%.*s", (int)pl_min_u64(cell.n, sizeof(one) - 1),
			cell.at);
		at += (size_t)snprintf(out + at, n - at, "%s%s", at ? ", " : "",
			pl_err_quote(shown, sizeof(shown), one));
	}
	return out;
}

static int no_column(
	const struct pl_csv_layout *l, int i, const struct pl_csv_row *row, struct pl_err *err)
{
	bool is_hint = row->end - row->at >= 4 && !memcmp(row->at, "sep=", 4);
	char wanted[256];
	char there[600];

	return pl_err_set(err, -ENOENT, "line 1: field '%s': no column '%s'; the header has: %s%s",
		l->specs->v[i].name, pl_err_quote(wanted, sizeof(wanted), column_of(l, i)),
		list_columns(*row, there, sizeof(there)),
		is_hint ? " (that is a hint for Excel, not a header: remove the line)" : "");
}

/* Walks the header: column[1 + i] is that of field i. */
static int find_names(
	const struct pl_csv_layout *l, struct pl_csv_row row, uint32_t *column, struct pl_err *err)
{
	struct pl_csv_cell cell;
	char shown[256];
	int r;

	while ((r = pl_csv_next(&row, &cell)) == 1) {
		for (int i = 0; i < l->specs->n; i++) {
			if (!is_text(&cell, column_of(l, i)))
				continue;
			if (column[1 + i] != NO_COLUMN)
				return pl_err_set(err, -EEXIST,
					"line 1: two columns are called '%s': rename one, or take "
					"columns by number with header: false",
					pl_err_quote(shown, sizeof(shown), column_of(l, i)));
			column[1 + i] = column[0];
		}
		column[0]++;
	}
	return r ? pl_err_set(err, r, "line 1: cell %u: %s", column[0] + 1, row.fault) : 0;
}

static int find_numbers(
	const struct pl_csv_layout *l, struct pl_csv_row row, uint32_t *column, struct pl_err *err)
{
	struct pl_csv_cell cell;
	int r;

	while ((r = pl_csv_next(&row, &cell)) == 1)
		column[0]++;
	if (r)
		return pl_err_set(err, r, "line 1: cell %u: %s", column[0] + 1, row.fault);
	for (int i = 0; i < l->specs->n; i++) {
		const char *where = l->specs->v[i].where;
		uint32_t number = *where ? column_number(where) : (uint32_t)i + 1;

		if (number > column[0])
			return pl_err_set(err, -ENOENT,
				"field '%s': column %u, but the first row has %u",
				l->specs->v[i].name, number, column[0]);
		column[1 + i] = number - 1;
	}
	return 0;
}

int pl_csv_head(
	void *context, const char *bytes, size_t n, struct pl_listing_writer *w, struct pl_err *err)
{
	const struct pl_csv_layout *l = context;
	struct pl_csv_row row = {.at = bytes, .end = bytes + n, .delimiter = l->delimiter};
	uint32_t column[1 + PL_PARAM_LIST_MAX] = {0};
	int r = 0;

	for (int i = 0; i < l->specs->n; i++)
		column[1 + i] = NO_COLUMN;
	if (bytes)
		r = l->has_header ? find_names(l, row, column, err)
				  : find_numbers(l, row, column, err);
	for (int i = 0; i < l->specs->n && bytes && !r; i++)
		if (column[1 + i] == NO_COLUMN)
			return no_column(l, i, &row, err);
	if (!r && pl_listing_append(w, PL_LINE_SECTION_FORMAT, column,
			  sizeof(column[0]) * (1 + (size_t)l->specs->n)))
		r = pl_err_set(err, -ENOMEM, "out of memory");
	return r;
}

const uint32_t *pl_csv_columns(
	const struct pl_listing *l, size_t file, int n_fields, uint32_t *n_columns)
{
	size_t bytes;
	const uint32_t *words = pl_listing_section_at(l, PL_LINE_SECTION_FORMAT, &bytes);
	size_t row = 1 + (size_t)n_fields;

	if (file >= bytes / sizeof(*words) / row)
		return NULL;
	*n_columns = words[file * row];
	return words + file * row + 1;
}
