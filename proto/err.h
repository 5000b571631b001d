/* proto/err.h - the text of an error, written where a human can act on it. */
#pragma once

#include "proto/base.h"

#pragma GCC visibility push(default) /* plugins call these */

/*
 * Functions return 0, or a negative errno forwarded untouched, or a positive NAMED condition that
 * the caller handles. Where a human can act, a struct pl_err also carries one line (or several, for
 * pipeline files) saying place, reason and remedy. It is written once, at the fault, and prefixed
 * on the way up. `err` may be NULL everywhere: then the text is lost and the code stays.
 */
struct pl_err {
	int code;          /* the negative errno that was returned with it; 0 = nothing set */
	const char *param; /* static name of the parameter whose text is at fault; NULL: none */
	size_t offset;     /* bytes into that text */
	char text[2032];   /* NUL-terminated, valid UTF-8 not guaranteed, no final newline */
};

/* Writes text and code (negative errno), replacing what was there. Returns `code`. */
int pl_err_set(struct pl_err *err, int code, const char *format, ...) PL_PRINTF(3, 4);

/*
 * Says that the fault stands in the text of a parameter (a pattern, an expression), `offset` bytes
 * from its start: who knows where that text was written can show the very character. Until the next
 * pl_err_set. Returns err's code.
 */
int pl_err_at(struct pl_err *err, const char *param, size_t offset);

/* Puts text before what is there ("train.yaml:12:7: "). Returns err's code; too long texts lose
 * their end. */
int pl_err_prefix(struct pl_err *err, const char *format, ...) PL_PRINTF(2, 3);

/*
 * Copies `text` to `out` (n bytes, always terminated) so that a terminal or a log shows it on one
 * line: control bytes and invalid UTF-8 become \xHH. Returns out. For file names and other foreign
 * bytes in messages.
 */
char *pl_err_quote(char *out, size_t n, const char *text);

#pragma GCC visibility pop
