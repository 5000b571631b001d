/* daemon/kit/text_list.h - a list of texts as one value: u8 [n], kind list. */
#pragma once

#include "daemon/kit/sample.h"

/*
 * The bytes of a value: u32 number of texts, u32 by text where it ends (counted from the first
 * text's first byte), then the texts one behind the other, without NULs of their own. All numbers
 * little-endian and unaligned. Values come from sources and may also come from elsewhere: readers
 * check them.
 */

/* Bytes that n texts of `bytes` bytes in all take; 0 when that is more than a value may have (4
 * GiB). */
size_t pl_text_list_bytes(size_t n, size_t bytes);

/* Writes the head for n texts into `list`, then, by calls in order, each text. */
void pl_text_list_begin(void *list, uint32_t n);
void pl_text_list_put(void *list, uint32_t i, const void *text, size_t bytes);

/* Number of texts, or -EINVAL when the bytes are no list. */
int64_t pl_text_list_count(const void *list, size_t bytes);

/* Text i < count of a list that count accepted; its length in *bytes. */
const char *pl_text_list_at(const void *list, uint32_t i, size_t *bytes);
