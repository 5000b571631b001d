/* daemon/sources/line_text.c - a line's text: where it ends, that it is UTF-8, and as a field's
 * value. */
#include "daemon/sources/line_text.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/sources/utf8.h"

/* Bytes of a foreign text that a message shows. */
#define SHOWN_BYTES 40

const char *const pl_line_text_invalid[] = {"error", "replace", NULL};

size_t pl_line_text_end(const char *bytes, size_t n)
{
	const char *end = memchr(bytes, '\n', n);

	if (!end)
		return n;
	return (size_t)(end - bytes) - (end > bytes && end[-1] == '\r');
}

int pl_line_text_mend(
	int invalid, struct pl_scratch *scratch, char **text, size_t *n, struct pl_err *err)
{
	size_t at = pl_utf8_check(*text, *n);
	size_t room;
	char *mended;

	if (at == *n)
		return 0;
	if (invalid == PL_LINE_TEXT_REFUSE)
		return pl_err_set(err, -EILSEQ,
			"byte %zu of the record, 0x%02x: not UTF-8: %s (invalid: replace puts "
			"U+FFFD there)",
			at + 1, (uint8_t)(*text)[at], pl_utf8_fault(*text + at, *n - at));
	mended = pl_size_mul(*n, 3, &room) && pl_size_add(room, 1, &room)
			 ? pl_scratch_alloc(scratch, room)
			 : NULL;
	if (!mended)
		return pl_err_set(err, -ENOMEM, "no memory to mend %zu bytes", *n);
	*n = pl_utf8_replace(*text, *n, mended);
	mended[*n] = '\0';
	*text = mended;
	return 0;
}

void *pl_line_text_alloc(struct pl_sample *sample, int field, size_t n, struct pl_err *err)
{
	void *to = pl_sample_alloc(sample, field, n);

	if (!to)
		pl_err_set(err, -ENOMEM,
			"no memory for a value of %zu bytes: a sample may take %zu in all", n,
			sample->scratch->limit);
	return to;
}

int pl_line_text_put(
	struct pl_sample *sample, int field, const char *text, size_t n, struct pl_err *err)
{
	void *to = pl_line_text_alloc(sample, field, n, err);

	if (!to)
		return -ENOMEM;
	memcpy(to, text, n);
	sample->value[field] = (struct pl_tensor){
		.data = to, .dtype = PL_U8, .rank = 1, .shape = {(int64_t)n}, .stride = {1}};
	return 0;
}

char *pl_line_text_show(char *out, size_t n, const char *text, size_t bytes)
{
	size_t shown = pl_min_u64(bytes, SHOWN_BYTES);
	size_t used = (size_t)snprintf(out, n, "'");

	for (size_t i = 0; i < shown && used < n;) {
		char piece[SHOWN_BYTES + 1];
		char quoted[4 * SHOWN_BYTES + 1];
		size_t length = strnlen(text + i, shown - i);

		snprintf(piece, sizeof(piece), "%.*s", (int)length, text + i);
		i += length;
		used += (size_t)snprintf(out + used, n - used, "%s%s",
			pl_err_quote(quoted, sizeof(quoted), piece), i < shown ? "\\x00" : "");
		i += i < shown;
	}
	if (used < n)
		snprintf(out + used, n - used, "%s'", bytes > shown ? "..." : "");
	return out;
}
