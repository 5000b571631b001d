/* tests/fuzz/fuzz_csv_row.c - any bytes as rows: the lister and the reader agree on where one ends,
 * and cells become values or errors. */
#include "daemon/sources/csv_value.h"
#include "daemon/sources/line_index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

static struct pl_param_text_map types = {
	.n = 6,
	.v = {{"a", "text"}, {"b", "i64"}, {"c", "u8"}, {"d", "f64"}, {"e", "bool"}, {"f", "json"}},
};

struct rows {
	const char *text; /* with a NUL behind it */
	size_t n;
	char delimiter;
	size_t begin[2];
	int n_begin;
	struct pl_field_specs specs;
	struct pl_scratch scratch;
};

static void store(struct rows *s, const struct pl_csv_cell *cell)
{
	struct pl_sample sample = {.scratch = &s->scratch};
	struct pl_err err = {0};

	for (int i = 0; i < s->specs.n; i++) {
		int r = pl_csv_store(&s->specs.v[i], cell, &sample, i, &err);

		require(r == 0 || (r < 0 && err.text[0]));
		require(r || (sample.value[i].dtype && sample.value[i].data));
	}
	require(sample.value[0].shape[0] <= (int64_t)cell->n);
	pl_scratch_reset(&s->scratch);
}

/* A whole row at `begin`; the cells lie in it, one behind the other, and its end is `end`. */
static void split(struct rows *s, size_t begin, size_t end)
{
	struct pl_csv_row row = {
		.at = s->text + begin, .end = s->text + s->n, .delimiter = s->delimiter};
	struct pl_csv_cell cell;
	const char *last = row.at;
	int r;

	while ((r = pl_csv_next(&row, &cell)) == 1) {
		require(cell.at >= last && cell.at + cell.n <= row.at);
		require(row.at <= s->text + end);
		last = row.at;
		store(s, &cell);
	}
	require(r == 0 ? row.is_done && row.at == s->text + end : row.fault != NULL);
}

/* Rows of nothing end where the next one begins, too: all are told. */
static int found(void *context, const struct pl_line *line)
{
	struct rows *s = context;

	if (s->n_begin++)
		split(s, s->begin[0], line->at);
	s->begin[0] = line->at;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rows s = {.delimiter = size && data[0] % 2 ? ',' : '\t'};
	struct pl_line_index x = {.delimiter = s.delimiter, .found = found, .context = &s};
	char *text;

	if (size < 2 || pl_field_specs_parse(&s.specs, &types, NULL))
		return 0;
	text = malloc(size);
	require(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	s.text = text;
	s.n = size - 1;
	pl_scratch_init(&s.scratch, 1 << 20);
	require(pl_line_index_feed(&x, text, s.n) == 0);
	if (!pl_line_index_is_open(&x))
		split(&s, s.begin[0], s.n);
	pl_scratch_finish(&s.scratch);
	free(text);
	return 0;
}
