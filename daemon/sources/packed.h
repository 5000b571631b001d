/* daemon/sources/packed.h - numbers and texts one behind the other, in few bytes. */
#pragma once

#include "proto/base.h"

/*
 * A number takes one byte for each seven bits it has, lowest first; the top bit says that more
 * follow. A signed one is folded first, so that small ones of either sign are short.
 */
#define PL_PACKED_NUMBER_MAX 10

struct pl_packed {
	uint8_t *data;
	size_t used;
	size_t room;
};

void pl_packed_finish(struct pl_packed *p);

/* Append; 0 or -ENOMEM. */
int pl_packed_put(struct pl_packed *p, uint64_t number) PL_MUST_CHECK;
int pl_packed_put_signed(struct pl_packed *p, int64_t number) PL_MUST_CHECK;
int pl_packed_put_bytes(struct pl_packed *p, const void *bytes, size_t n) PL_MUST_CHECK;

/* Where a reader stands. Readers trust nothing: false when the bytes end before the value does, or
 * a number has more than 64 bits. */
struct pl_unpacked {
	const uint8_t *at;
	const uint8_t *end;
};

bool pl_packed_get(struct pl_unpacked *u, uint64_t *number) PL_MUST_CHECK;
bool pl_packed_get_signed(struct pl_unpacked *u, int64_t *number) PL_MUST_CHECK;

/* n bytes where they lie. */
bool pl_packed_get_bytes(struct pl_unpacked *u, size_t n, const char **bytes) PL_MUST_CHECK;
