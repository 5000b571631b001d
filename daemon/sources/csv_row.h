/* daemon/sources/csv_row.h - one row of separated values, cell by cell. */
#pragma once

#include "proto/err.h"

/*
 * RFC 4180: a cell that begins with a quote ends with one, and two quotes in it are one; delimiters
 * and line ends inside are text. A quote elsewhere is a character like others, and so are spaces.
 * The row ends at LF or CR LF.
 */
struct pl_csv_row {
	const char *at; /* begins a cell, or is `end` */
	const char *end;
	char delimiter;
	bool is_done;      /* no more cells */
	const char *fault; /* static storage */
};

struct pl_csv_cell {
	const char *at; /* behind the opening quote, if there is one */
	size_t n;
	bool has_pairs; /* of quotes */
};

/* 1 with the next cell, 0 behind the last one, -EINVAL with row->fault. */
int pl_csv_next(struct pl_csv_row *row, struct pl_csv_cell *cell) PL_MUST_CHECK;

/* Copies the cell's text to `out`, which has room for cell->n bytes; the bytes written. */
size_t pl_csv_text(const struct pl_csv_cell *cell, char *out);

/* True for a character that may stand between cells: ASCII, and no letter, digit, quote, '.', '+',
 * '-', CR, LF or NUL. */
bool pl_csv_is_delimiter(char c);
