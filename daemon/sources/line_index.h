/* daemon/sources/line_index.h - where the records of a text begin, found in one pass over its
 * bytes. */
#pragma once

#include "proto/err.h"

/*
 * A record is a line: it ends at LF, and at the end of the text. A lone CR, U+2028 and their kin
 * end nothing. With quotes (RFC 4180) a LF inside a quoted field ends nothing either; a quote
 * counts only at the beginning of a field.
 */
enum pl_line_blank {
	PL_LINE_BLANK_IS_RECORD,
	PL_LINE_BLANK_IS_EMPTY, /* nothing but a CR: no record */
	PL_LINE_BLANK_IS_SPACE, /* nothing but spaces, tabs and CRs: no record */
};

/* A record that was found. */
struct pl_line {
	uint64_t at;   /* offset of its first byte */
	uint64_t line; /* the line it begins on, from 1 */
};

struct pl_line_index {
	enum pl_line_blank blank;
	char delimiter; /* 0: no quotes */

	/* Called for each record as soon as it is known to be one, in order; may stop the pass by
	 * another result than 0. */
	int (*found)(void *context, const struct pl_line *line);
	void *context;

	/* The pass's own; zero at the beginning, but for `at`, which may be where the text begins
	 * in its file. */
	uint64_t at;
	struct pl_line row;
	uint64_t line; /* line feeds so far */
	int quotes;    /* where between quotes the pass is */
	bool is_begun; /* inside of a row */
	bool is_told;  /* found was called for this row */
};

/* The next n bytes. 0 or what found returned. */
int pl_line_index_feed(struct pl_line_index *x, const char *bytes, size_t n) PL_MUST_CHECK;

/* No more bytes. True when a quote is still open: then x->row is where its record begins. */
bool pl_line_index_is_open(const struct pl_line_index *x);
