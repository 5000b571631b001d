/* tests/fuzz/fuzz_line_index.c - any bytes in any pieces: the records are those of a naive reading.
 */
#include "daemon/sources/line_index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

/* The naive reading: one byte after the other. */
struct naive {
	const struct pl_line_index *like;
	const uint8_t *text;
	size_t n;
	size_t at;
	uint64_t line;
	bool is_open;
};

static bool is_blank(const struct naive *v, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (v->like->blank == PL_LINE_BLANK_IS_RECORD ||
			!(v->text[i] == '\r' || v->text[i] == '\n' ||
				(v->like->blank == PL_LINE_BLANK_IS_SPACE &&
					(v->text[i] == ' ' || v->text[i] == '\t'))))
			return false;
	return true;
}

/* One row; its end. */
static size_t row_end(struct naive *v)
{
	bool is_quoted = false;
	bool is_begin = true;

	for (size_t i = v->at; i < v->n; i++) {
		uint8_t c = v->text[i];

		v->line += c == '\n';
		if (is_quoted && c == '"' && i + 1 < v->n && v->text[i + 1] == '"') {
			i++;
		} else if (is_quoted) {
			is_quoted = c != '"';
			is_begin = false;
		} else if (c == '\n') {
			return i + 1;
		} else {
			is_quoted = v->like->delimiter && is_begin && c == '"';
			is_begin = c == (uint8_t)v->like->delimiter;
		}
	}
	v->is_open = is_quoted;
	return v->n;
}

static int next(void *context, const struct pl_line *line)
{
	struct naive *v = context;

	for (;;) {
		size_t from = v->at;
		uint64_t first = v->line + 1;

		require(from < v->n);
		v->at = row_end(v);
		if (is_blank(v, from, v->at))
			continue;
		require(line->at == from && line->line == first);
		return 0;
	}
}

static void finish(struct naive *v)
{
	while (v->at < v->n) {
		size_t from = v->at;

		v->at = row_end(v);
		require(is_blank(v, from, v->at));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char delimiters[] = {0, ',', '\t', ';'};
	struct pl_line_index x = {0};
	struct naive v = {.like = &x};
	size_t step;

	if (size < 2)
		return 0;
	x.blank = (enum pl_line_blank)(data[0] % 3);
	x.delimiter = delimiters[data[0] / 3 % 4];
	step = 1 + data[1];
	v.text = data + 2;
	v.n = size - 2;
	x.found = next;
	x.context = &v;
	for (size_t at = 0; at < v.n; at += step)
		require(pl_line_index_feed(
				&x, (const char *)v.text + at, pl_min_u64(step, v.n - at)) == 0);
	finish(&v);
	require(x.at == v.n && x.line == v.line && pl_line_index_is_open(&x) == v.is_open);
	return 0;
}
