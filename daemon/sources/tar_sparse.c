/* daemon/sources/tar_sparse.c - which parts of a sparse member an archive holds. */
#include "daemon/sources/tar_sparse.h"

#include <errno.h>

#include "daemon/sources/tar_header.h"

/* GNU's old form: 4 spans in the header, 21 in each block that goes on; each two numbers of 12
 * digits. */
enum {
	SPANS = 386,
	N_SPANS = 4,
	GOES_ON = 482,
	REAL_BYTES = 483,
	N_MORE_SPANS = 21,
	MORE_GOES_ON = 504,
	NUMBER_BYTES = 12,
};

static int broken(struct pl_err *err)
{
	return pl_err_set(err, -EBADMSG, "the map of a sparse member is broken");
}

void pl_tar_map_finish(struct pl_tar_map *m)
{
	free(m->span);
	*m = (struct pl_tar_map){0};
}

int pl_tar_map_add(struct pl_tar_map *m, uint64_t offset, uint64_t bytes, struct pl_err *err)
{
	if (m->n == PL_TAR_SPANS_MAX)
		return pl_err_set(
			err, -EBADMSG, "a sparse member of more than %d parts", PL_TAR_SPANS_MAX);
	if (m->n == m->room) {
		size_t room = m->room ? m->room * 2 : 16;
		struct pl_tar_span *grown = reallocarray(m->span, room, sizeof(*grown));

		if (!grown)
			return pl_err_set(err, -ENOMEM, "out of memory");
		m->span = grown;
		m->room = room;
	}
	m->span[m->n++] = (struct pl_tar_span){offset, bytes};
	return 0;
}

/* Spans until one is blank. */
static int add_spans(struct pl_tar_map *m, const uint8_t *at, int n, struct pl_err *err)
{
	for (int i = 0; i < n && at[0]; i++, at += 2 * NUMBER_BYTES) {
		uint64_t offset, bytes;
		int r;

		if (!pl_tar_number(at, NUMBER_BYTES, &offset) ||
			!pl_tar_number(at + NUMBER_BYTES, NUMBER_BYTES, &bytes))
			return broken(err);
		r = pl_tar_map_add(m, offset, bytes, err);
		if (r)
			return r;
	}
	return 0;
}

int pl_tar_map_read_old(struct pl_tar_map *m, const uint8_t *block, struct pl_forward *in,
	uint64_t *offset, uint64_t *real_bytes, struct pl_err *err)
{
	bool goes_on = block[GOES_ON];
	int r;

	if (!pl_tar_number(block + REAL_BYTES, NUMBER_BYTES, real_bytes))
		return broken(err);
	r = add_spans(m, block + SPANS, N_SPANS, err);
	while (r == 0 && goes_on) {
		int64_t n = pl_forward_peek(in, *offset, PL_TAR_BLOCK, &block, err);

		if (n < PL_TAR_BLOCK)
			return n < 0 ? (int)n : broken(err);
		goes_on = block[MORE_GOES_ON];
		r = add_spans(m, block, N_MORE_SPANS, err);
		*offset += PL_TAR_BLOCK;
	}
	return r;
}

/* The map's text, block by block. */
struct text {
	struct pl_forward *in;
	const uint8_t *block;
	uint64_t offset; /* of the next block */
	uint64_t left;
	int at; /* in the block */
};

/* The next byte; 0, which no map has, when the data end before. -errno with err. */
static int next_byte(struct text *t, struct pl_err *err)
{
	int64_t n;

	if (t->at < PL_TAR_BLOCK)
		return t->block[t->at++];
	if (t->left < PL_TAR_BLOCK)
		return 0;
	n = pl_forward_peek(t->in, t->offset, PL_TAR_BLOCK, &t->block, err);
	if (n < PL_TAR_BLOCK)
		return n < 0 ? (int)n : 0;
	t->offset += PL_TAR_BLOCK;
	t->left -= PL_TAR_BLOCK;
	t->at = 1;
	return t->block[0];
}

static int next_number(struct text *t, uint64_t *number, struct pl_err *err)
{
	int c = next_byte(t, err);
	bool is_empty = true;

	for (*number = 0; c >= '0' && c <= '9' && *number < INT64_MAX / 10; is_empty = false) {
		*number = *number * 10 + (uint64_t)(c - '0');
		c = next_byte(t, err);
	}
	if (c < 0)
		return c;
	return c != '\n' || is_empty ? broken(err) : 0;
}

int pl_tar_map_read_data(struct pl_tar_map *m, struct pl_forward *in, uint64_t *offset,
	uint64_t *bytes, struct pl_err *err)
{
	struct text t = {.in = in, .offset = *offset, .left = *bytes, .at = PL_TAR_BLOCK};
	uint64_t n = 0;
	int r = next_number(&t, &n, err);

	for (uint64_t i = 0; i < n && r == 0; i++) {
		uint64_t at, span;

		r = next_number(&t, &at, err);
		if (!r)
			r = next_number(&t, &span, err);
		if (!r)
			r = pl_tar_map_add(m, at, span, err);
	}
	*offset = t.offset;
	*bytes = t.left;
	return r;
}

/* Digits, and the comma or the end behind them. */
static bool read_number(const char **at, const char *end, uint64_t *number)
{
	const char *p = *at;

	for (*number = 0; p < end && *p >= '0' && *p <= '9' && *number < INT64_MAX / 10; p++)
		*number = *number * 10 + (uint64_t)(*p - '0');
	if (p == *at || (p < end && *p != ','))
		return false;
	*at = p + (p < end);
	return true;
}

int pl_tar_map_read_text(struct pl_tar_map *m, const char *text, size_t n, struct pl_err *err)
{
	const char *end = text + n;

	while (text < end) {
		uint64_t offset, bytes;
		int r;

		if (!read_number(&text, end, &offset) || text == end ||
			!read_number(&text, end, &bytes))
			return broken(err);
		r = pl_tar_map_add(m, offset, bytes, err);
		if (r)
			return r;
	}
	return 0;
}

int pl_tar_map_check(
	const struct pl_tar_map *m, uint64_t real_bytes, uint64_t stored_bytes, struct pl_err *err)
{
	uint64_t end = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct pl_tar_span *s = &m->span[i];

		if (s->offset < end || s->offset > real_bytes || s->bytes > real_bytes - s->offset)
			return broken(err);
		end = s->offset + s->bytes;
		sum += s->bytes;
	}
	return sum == stored_bytes ? 0 : broken(err);
}
