/* daemon/sources/line_text.h - a line's text: where it ends, that it is UTF-8, and as a field's
 * value. */
#pragma once

#include "daemon/kit/param.h"
#include "daemon/kit/sample.h"

/* What happens to bytes that are no UTF-8. */
enum { PL_LINE_TEXT_REFUSE, PL_LINE_TEXT_REPLACE };

extern const char *const pl_line_text_invalid[];

/* The parameter for it, whose member in the struct `type` is an int named `invalid`. */
#define PL_LINE_TEXT_INVALID_PARAM(type)                                                           \
	{                                                                                          \
		.key = "invalid", .kind = PL_PARAM_CHOICE, .offset = offsetof(type, invalid),      \
		.def = "error", .choices = pl_line_text_invalid,                                   \
		.help = "bytes that are no UTF-8: error, or replace by U+FFFD",                    \
	}

/* Length of the first line of n bytes, without its LF or CR LF. */
size_t pl_line_text_end(const char *bytes, size_t n);

/*
 * Checks that *text is UTF-8; with REPLACE one that isn't is mended in new scratch memory, with a
 * NUL behind it. 0, -EILSEQ with err saying the byte (from 1) and why, -ENOMEM with
 * err.
 */
int pl_line_text_mend(int invalid, struct pl_scratch *scratch, char **text, size_t *n,
	struct pl_err *err) PL_MUST_CHECK;

/* Makes a copy of the text the field's value: u8 [n]. 0 or -ENOMEM with err. */
int pl_line_text_put(struct pl_sample *sample, int field, const char *text, size_t n,
	struct pl_err *err) PL_MUST_CHECK;

/* Shows the beginning of a foreign text in a message: 'abc', or 'abc...' when it is long. At most n
 * bytes with NUL; returns out. */
char *pl_line_text_show(char *out, size_t n, const char *text, size_t bytes);

/* Memory for a value of n bytes; NULL with err set to -ENOMEM. */
void *pl_line_text_alloc(struct pl_sample *sample, int field, size_t n, struct pl_err *err);
