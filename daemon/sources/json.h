/* daemon/sources/json.h - reads JSON text in place, value by value, and says at which byte it is
 * none. */
#pragma once

#include "proto/err.h"

/*
 * RFC 8259 to the letter: no NaN, no comments, no comma too many, no control characters in strings.
 * Nothing is copied and nothing allocated, and nothing recurses; deeper than PL_JSON_DEPTH is an
 * error. The text must be UTF-8 (daemon/sources/utf8.h); \u escapes of half a pair are let through
 * here and refused by pl_json_unescape. Keys may repeat: what that means is the caller's.
 */
#define PL_JSON_DEPTH 512

struct pl_json {
	const char *at;
	const char *end;

	/* After an error: why, in static storage, and where. */
	const char *fault;
	const char *fault_at;
};

/* A value's own text, or what stands between a string's quotes. */
struct pl_json_span {
	const char *at; /* NULL: there is none */
	size_t n;
};

/* Moves to the next byte that is no white space; that byte, or NUL at the end (a NUL in the text is
 * an error to all who read on). */
char pl_json_peek(struct pl_json *j);

/* Passes over a whole value of any kind; *value may be NULL. 0 or -EINVAL with j->fault. */
int pl_json_skip(struct pl_json *j, struct pl_json_span *value) PL_MUST_CHECK;

/* Passes over a string, white space before it too. 0 or -EINVAL with j->fault. */
int pl_json_string(struct pl_json *j, struct pl_json_span *inside) PL_MUST_CHECK;

/*
 * Walks the members of an object or the items of an array. begin passes the opening bracket that
 * peek saw; next is called before each member or item: 1 there is one (its value, or its key, comes
 * next), 0 the closing bracket was passed, -EINVAL with j->fault. `*is_first` is the walk's own.
 */
void pl_json_begin(struct pl_json *j, bool *is_first);
int pl_json_next(struct pl_json *j, char closing, bool *is_first) PL_MUST_CHECK;

/* A member's key and its colon. 0 or -EINVAL with j->fault. */
int pl_json_key(struct pl_json *j, struct pl_json_span *key) PL_MUST_CHECK;

/* Nothing but white space is left. 0 or -EINVAL with j->fault. */
int pl_json_finish(struct pl_json *j) PL_MUST_CHECK;

/*
 * Writes a string's inside with its escapes undone; out has room for inside.n bytes. *n is what was
 * written. 0, or -EILSEQ for half a surrogate pair, which is written as U+FFFD: go on, or not.
 */
int pl_json_unescape(struct pl_json_span inside, char *out, size_t *n) PL_MUST_CHECK;

/* True when the string says just these n bytes. */
bool pl_json_equals(struct pl_json_span inside, const char *text, size_t n);

/* "text", "a number", "an object" ... by its first byte. Static storage. */
const char *pl_json_kind(char first);
