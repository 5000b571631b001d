/* daemon/kit/rng.h - random numbers that depend on what is drawn, never on when or where. */
#pragma once

#include "proto/base.h"

#pragma GCC visibility push(default) /* plugins call these */

/*
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011). A key names the place of the draw (seed, step, view), a counter names the sample (epoch,
 * record, copy). No state outlives a draw, so a retry on another worker, a resume, or another
 * worker count draws the same.
 */
struct pl_rng {
	uint32_t key[2];
	uint32_t counter[4]; /* [0] counts blocks of this generator; [1..3] name the sample */
	uint32_t block[4];
	int used; /* words of `block` already given out, 4 = none left */
};

/* What a sample's draws are keyed by; the same struct for every step of one sample. */
struct pl_draw_key {
	uint64_t seed;
	uint32_t epoch;
	uint64_t index; /* the record's index in its listing */
	uint32_t copy;  /* times this record was met before in the same epoch (`sample`), else 0 */
};

/*
 * The generator of one draw. `place` is the step's hash (name, occurrence, view; pl_rng_place),
 * `field` is 0 for the joint draw of all fields of a step, else 1 + the field's position when each
 * field draws alone.
 */
void pl_rng_init(struct pl_rng *rng, const struct pl_draw_key *key, uint64_t place, uint32_t field);

/* Hash of where a draw happens: "random_flip" no. 0 in view "view_2" ("" outside views). */
uint64_t pl_rng_place(const char *step, uint32_t occurrence, const char *view);

uint32_t pl_rng_u32(struct pl_rng *rng);

/* Uniform in [0, 1) with 53 bits; in [lo, hi); and an integer in [0, n), unbiased, n >= 1. */
double pl_rng_unit(struct pl_rng *rng);
double pl_rng_range(struct pl_rng *rng, double lo, double hi);
uint64_t pl_rng_below(struct pl_rng *rng, uint64_t n);

/*
 * A random permutation of [0, n) in O(1) memory: a Feistel network of four rounds (more below 2^20,
 * where four show) over the smallest even-bit domain that holds n, walked until it lands inside
 * (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). Up to 16 things are shuffled
 * outright.
 */
struct pl_permutation {
	uint64_t n;
	uint32_t half_bits; /* 0: round_key holds the order itself, four bits each */
	uint32_t round_key[4];
};

void pl_permutation_init(
	struct pl_permutation *p, uint64_t n, uint64_t seed, uint32_t epoch, uint64_t place);

/* Where position i goes; i < n. */
uint64_t pl_permutation_at(const struct pl_permutation *p, uint64_t i);

/* The position that goes to i: the inverse of pl_permutation_at; i < n. */
uint64_t pl_permutation_find(const struct pl_permutation *p, uint64_t i);

#pragma GCC visibility pop
