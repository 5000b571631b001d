/* daemon/sources/utf8.h - is it UTF-8, and if not, what stands in its place. */
#pragma once

#include "proto/err.h"

/*
 * Offset of the first byte that is not part of well-formed UTF-8 (Unicode, table 3-7: no overlong
 * forms, no surrogates, nothing above U+10FFFF); n when all is. NUL is a character like others.
 */
size_t pl_utf8_check(const void *text, size_t n);

/* Why the bytes at a fault that check found are none: "an overlong form", "a surrogate" ... Static
 * storage. */
const char *pl_utf8_fault(const void *text, size_t n);

/*
 * Copies text, with U+FFFD for each ill-formed part (the longest beginning of a character that is
 * cut, else one byte, as Unicode recommends). `out` has room for 3 * n bytes. Returns the bytes
 * written.
 */
size_t pl_utf8_replace(const void *text, size_t n, char *out);

/* Writes the code point (< 0x110000) as 1 to 4 bytes; their number. */
size_t pl_utf8_put(char *out, uint32_t point);
