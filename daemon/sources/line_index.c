/* daemon/sources/line_index.c - where the records of a text begin, found in one pass over its
 * bytes. */
#include "daemon/sources/line_index.h"

/* What the next byte may be to a quote. */
enum {
	FIELD_BEGIN, /* a quote here opens */
	PLAIN,
	QUOTED,
	QUOTE_SEEN, /* inside: the closing one, or the first half of two */
};

static uint64_t count_lines(const char *p, const char *end)
{
	uint64_t n = 0;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		n++;
		p++;
	}
	return n;
}

/* The first quote in [p, stop) that opens a quoted field, or NULL. */
static const char *opening_quote(const struct pl_line_index *x, const char *p, const char *stop)
{
	for (const char *q = p; q < stop && (q = memchr(q, '"', (size_t)(stop - q))); q++)
		if (q == p ? x->quotes == FIELD_BEGIN : q[-1] == x->delimiter)
			return q;
	return NULL;
}

/* Inside of quotes, or right behind one. Returns where the field goes on. */
static const char *scan_quoted(struct pl_line_index *x, const char *p, const char *end)
{
	const char *quote;

	if (x->quotes == QUOTE_SEEN) {
		x->quotes = *p == '"' ? QUOTED : PLAIN;
		return *p == '"' ? p + 1 : p;
	}
	quote = memchr(p, '"', (size_t)(end - p));
	x->line += count_lines(p, quote ? quote : end);
	if (!quote)
		return end;
	x->quotes = QUOTE_SEEN;
	return quote + 1;
}

/* Where the row ends, behind its line feed; NULL when it goes on behind `end`. */
static const char *scan_row(struct pl_line_index *x, const char *p, const char *end)
{
	const char *line_end = NULL; /* first line feed at or behind p, or `end` */

	while (p < end) {
		const char *quote;

		if (x->quotes == QUOTED || x->quotes == QUOTE_SEEN) {
			p = scan_quoted(x, p, end);
			continue;
		}
		if (!line_end || line_end < p)
			line_end = memchr(p, '\n', (size_t)(end - p));
		if (!line_end)
			line_end = end;
		quote = x->delimiter ? opening_quote(x, p, line_end) : NULL;
		if (quote) {
			x->quotes = QUOTED;
			p = quote + 1;
			continue;
		}
		if (line_end < end)
			return line_end + 1;
		x->quotes = end[-1] == x->delimiter ? FIELD_BEGIN : PLAIN;
		p = end;
	}
	return NULL;
}

static bool is_blank(const struct pl_line_index *x, const char *p, const char *end)
{
	if (x->blank == PL_LINE_BLANK_IS_RECORD)
		return false;
	while (p < end &&
		(*p == '\r' || *p == '\n' ||
			(x->blank == PL_LINE_BLANK_IS_SPACE && (*p == ' ' || *p == '\t'))))
		p++;
	return p == end;
}

int pl_line_index_feed(struct pl_line_index *x, const char *bytes, size_t n)
{
	const char *end = bytes + n;

	for (const char *p = bytes; p < end;) {
		const char *row_end;
		const char *piece_end;
		int r = 0;

		if (!x->is_begun) {
			x->row = (struct pl_line){x->at, x->line + 1};
			x->is_begun = true;
			x->is_told = false;
			x->quotes = FIELD_BEGIN;
		}
		row_end = scan_row(x, p, end);
		piece_end = row_end ? row_end : end;
		if (!x->is_told && !is_blank(x, p, piece_end)) {
			x->is_told = true;
			r = x->found(x->context, &x->row);
		}
		x->at += (uint64_t)(piece_end - p);
		x->line += row_end != NULL;
		x->is_begun = !row_end;
		if (r)
			return r;
		p = piece_end;
	}
	return 0;
}

bool pl_line_index_is_open(const struct pl_line_index *x)
{
	return x->is_begun && x->quotes == QUOTED;
}
