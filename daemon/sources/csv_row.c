/* daemon/sources/csv_row.c - one row of separated values, cell by cell. */
#include "daemon/sources/csv_row.h"

#include <errno.h>

static int fail(struct pl_csv_row *row, const char *fault)
{
	row->fault = fault;
	return -EINVAL;
}

/* Behind a cell: a delimiter, or the row's end. */
static bool pass_end(struct pl_csv_row *row)
{
	if (row->at < row->end && *row->at == row->delimiter) {
		row->at++;
		return true;
	}
	if (row->end - row->at >= 2 && row->at[0] == '\r' && row->at[1] == '\n')
		row->at++;
	if (row->at < row->end && *row->at != '\n')
		return false;
	row->at += row->at < row->end;
	row->is_done = true;
	return true;
}

static int next_quoted(struct pl_csv_row *row, struct pl_csv_cell *cell)
{
	const char *begin = ++row->at;
	const char *quote;

	*cell = (struct pl_csv_cell){.at = begin};
	while ((quote = memchr(row->at, '"', (size_t)(row->end - row->at)))) {
		row->at = quote + 1;
		if (row->at == row->end || *row->at != '"')
			break;
		row->at++;
		cell->has_pairs = true;
	}
	if (!quote)
		return fail(row, "its quote is never closed");
	cell->n = (size_t)(quote - begin);
	return pass_end(row) ? 1 : fail(row, "text follows its closing quote");
}

int pl_csv_next(struct pl_csv_row *row, struct pl_csv_cell *cell)
{
	const char *begin = row->at;
	const char *p = begin;

	if (row->is_done)
		return 0;
	if (p < row->end && *p == '"')
		return next_quoted(row, cell);
	while (p < row->end && *p != row->delimiter && *p != '\n')
		p++;
	if (p > begin && p < row->end && *p == '\n' && p[-1] == '\r')
		p--;
	*cell = (struct pl_csv_cell){.at = begin, .n = (size_t)(p - begin)};
	row->at = p;
	return pass_end(row) ? 1 : fail(row, "it has no end");
}

size_t pl_csv_text(const struct pl_csv_cell *cell, char *out)
{
	const char *p = cell->at;
	const char *end = p + cell->n;
	char *to = out;

	while (p < end) {
		const char *quote = cell->has_pairs ? memchr(p, '"', (size_t)(end - p)) : NULL;
		size_t n = (size_t)((quote ? quote + 1 : end) - p);

		memcpy(to, p, n);
		to += n;
		p += n + (quote != NULL);
	}
	return (size_t)(to - out);
}

bool pl_csv_is_delimiter(char c)
{
	bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

	return c > 0 && c < 0x7f && !is_letter && !(c >= '0' && c <= '9') &&
	       !strchr("\".+-\r\n", c);
}
