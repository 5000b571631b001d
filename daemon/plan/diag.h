/* daemon/plan/diag.h - the errors and warnings of a pipeline file, collected and told in one go. */
#pragma once

#include "proto/err.h"

#define PL_DIAG_MAX 20

/* A place in a text: file is an index into the plan's list of texts, lines and columns count from 1
 * (columns in characters). */
struct pl_place {
	int file;
	int line;
	int column;
};

struct pl_diag; /* holds the texts that places point into */

struct pl_diag *pl_diag_create(void);
void pl_diag_destroy(struct pl_diag *d);

/* Registers a text (copied) under the name that messages show; returns its file index, or -ENOMEM.
 */
int pl_diag_add_text(struct pl_diag *d, const char *name, const char *text, size_t n);

/*
 * Adds an error (or warning) at a place. After PL_DIAG_MAX errors the rest is only counted.
 * `remedy` may be NULL. Rendered as train.yaml:12:7: error: step 'resize': unknown key 'widht' (did
 * you mean 'width'?) 12 |   - resize: {widht: 224} |              ^
 */
void pl_diag_error(struct pl_diag *d, struct pl_place at, const char *format, ...) PL_PRINTF(3, 4);
void pl_diag_warning(struct pl_diag *d, struct pl_place at, const char *format, ...)
	PL_PRINTF(3, 4);

/* Adds a second place to the error or warning told last: "the list began here". */
void pl_diag_note(struct pl_diag *d, struct pl_place at, const char *format, ...) PL_PRINTF(3, 4);

/* Takes back what was told about a line: a fault of syntax there explains it all. */
void pl_diag_forget_line(struct pl_diag *d, struct pl_place at);

/* Name and text of a registered file; "" when there is none. The text is NUL-terminated; n may be
 * NULL. */
const char *pl_diag_text_name(const struct pl_diag *d, int file);
const char *pl_diag_text(const struct pl_diag *d, int file, size_t *n);

/* The line of a place, up to its newline; *n is its length in bytes. */
const char *pl_diag_line(const struct pl_diag *d, struct pl_place at, size_t *n);

/* True once PL_DIAG_MAX errors were told: going on is useless. */
bool pl_diag_is_full(const struct pl_diag *d);

int pl_diag_n_errors(const struct pl_diag *d);
int pl_diag_n_warnings(const struct pl_diag *d);

/* All of them, rendered, in order of file and line, errors first; malloc'ed, the caller frees.
 * NULL: out of memory. */
char *pl_diag_render(const struct pl_diag *d);
