/* daemon/plan/bytes.h - the bytes of a pipeline file: clean text or an error. */
#pragma once

#include "daemon/plan/diag.h"

#define PL_FILE_BYTES_MAX ((size_t)4 << 20)

/*
 * Reads the whole file into malloc'ed *text. 0, or -errno: -EFBIG when it is larger than
 * PL_FILE_BYTES_MAX, -EISDIR when it is no regular file.
 */
int pl_bytes_read(const char *path, char **text, size_t *n) PL_MUST_CHECK;

/* True when the text is UTF-8 without NUL and other control bytes; else the first fault is told at
 * its true place. */
bool pl_bytes_check(struct pl_diag *diag, int file, const char *text, size_t n);

/* Length of the UTF-8 sequence that starts at text (1..4, within n bytes), or 0. */
size_t pl_bytes_utf8(const char *text, size_t n);

/* Where in a line of n bytes the character of that column (from 1) begins; at most n. */
size_t pl_bytes_of_column(const char *line, size_t n, int column);

/* How many characters n bytes of UTF-8 are. */
size_t pl_bytes_characters(const char *text, size_t n);
