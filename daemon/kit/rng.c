/* daemon/kit/rng.c - Philox4x32-10, what is drawn from it, and index permutations. */
#include "daemon/kit/rng.h"

#include <math.h>
#include <xxhash.h>

#define PHILOX_ROUNDS 10
#define SMALL_MAX     16 /* a permutation of so few is kept as it is */

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection, so that it loses nothing of
 * its input. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static void philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
	uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
	uint32_t k[2] = {key[0], key[1]};

	for (int i = 0; i < PHILOX_ROUNDS; i++) {
		uint64_t a = (uint64_t)c[0] * 0xd2511f53u;
		uint64_t b = (uint64_t)c[2] * 0xcd9e8d57u;

		c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0];
		c[1] = (uint32_t)b;
		c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1];
		c[3] = (uint32_t)a;
		k[0] += 0x9e3779b9u;
		k[1] += 0xbb67ae85u;
	}
	memcpy(out, c, sizeof(c));
}

void pl_rng_init(struct pl_rng *rng, const struct pl_draw_key *key, uint64_t place, uint32_t field)
{
	/* Three words of the counter hold epoch and index; the copy number has no room left there.
	 */
	uint64_t k = mix(mix(key->seed) ^ place);

	k = mix(k ^ ((uint64_t)key->copy << 32 | field));
	rng->key[0] = (uint32_t)k;
	rng->key[1] = (uint32_t)(k >> 32);
	rng->counter[0] = 0;
	rng->counter[1] = key->epoch;
	rng->counter[2] = (uint32_t)key->index;
	rng->counter[3] = (uint32_t)(key->index >> 32);
	rng->used = 4;
}

uint64_t pl_rng_place(const char *step, uint32_t occurrence, const char *view)
{
	uint64_t h = XXH3_64bits(step, strlen(step));

	h = XXH3_64bits_withSeed(view, strlen(view), h);
	return mix(h ^ occurrence);
}

uint32_t pl_rng_u32(struct pl_rng *rng)
{
	if (rng->used >= 4) {
		philox(rng->block, rng->counter, rng->key);
		rng->counter[0]++;
		rng->used = 0;
	}
	return rng->block[rng->used++];
}

static uint64_t draw_u64(struct pl_rng *rng)
{
	uint64_t low = pl_rng_u32(rng);

	return (uint64_t)pl_rng_u32(rng) << 32 | low;
}

double pl_rng_unit(struct pl_rng *rng)
{
	return (double)(draw_u64(rng) >> 11) * 0x1p-53;
}

double pl_rng_range(struct pl_rng *rng, double lo, double hi)
{
	double x = lo + (hi - lo) * pl_rng_unit(rng);

	return x >= hi && lo < hi ? nextafter(hi, lo) : x;
}

/* Lemire, "Fast random integer generation in an interval", 2019. */
uint64_t pl_rng_below(struct pl_rng *rng, uint64_t n)
{
	unsigned __int128 product = (unsigned __int128)draw_u64(rng) * n;

	if ((uint64_t)product < n) {
		uint64_t least = -n % n;

		while ((uint64_t)product < least)
			product = (unsigned __int128)draw_u64(rng) * n;
	}
	return (uint64_t)(product >> 64);
}

/* Up to 16 things: their order itself, four bits each, where round keys would be (Fisher and
 * Yates). */
static void draw_small(struct pl_permutation *p, struct pl_rng *rng)
{
	unsigned char order[SMALL_MAX] = {0};
	uint64_t packed = 0;

	p->half_bits = 0;
	for (unsigned i = 0; i < p->n; i++) {
		unsigned at = (unsigned)pl_rng_below(rng, i + 1);

		order[i] = order[at];
		order[at] = (unsigned char)i;
	}
	for (unsigned i = 0; i < SMALL_MAX; i++)
		packed |= (uint64_t)order[i] << (4 * i);
	p->round_key[0] = (uint32_t)packed;
	p->round_key[1] = (uint32_t)(packed >> 32);
}

static uint64_t look_up(const struct pl_permutation *p, uint64_t i)
{
	return p->round_key[i >> 3] >> (4 * (i & 7)) & 15;
}

void pl_permutation_init(
	struct pl_permutation *p, uint64_t n, uint64_t seed, uint32_t epoch, uint64_t place)
{
	struct pl_draw_key key = {.seed = seed, .epoch = epoch};
	struct pl_rng rng;

	*p = (struct pl_permutation){.n = n, .half_bits = 1};
	pl_rng_init(&rng, &key, place, 0);
	if (n <= SMALL_MAX) {
		draw_small(p, &rng);
		return;
	}
	while (p->half_bits < 32 && n > (uint64_t)1 << (2 * p->half_bits))
		p->half_bits++;
	for (int i = 0; i < 4; i++)
		p->round_key[i] = pl_rng_u32(&rng);
}

/* Four rounds leave the order of few things visibly uneven; where halves are small, more of them
 * cost little. */
static int count_rounds(const struct pl_permutation *p)
{
	return p->half_bits < 6 ? 16 : p->half_bits < 10 ? 8 : 4;
}

static uint64_t scramble(const struct pl_permutation *p, uint64_t half, int round)
{
	uint32_t key = p->round_key[round & 3] + (uint32_t)(round >> 2) * 0x9e3779b9u;
	uint64_t x = (half ^ (uint64_t)key << 7 ^ key) * 0x9e3779b97f4a7c15u;

	x ^= x >> 32;
	return x * 0xd6e8feb86659fd93u >> (64 - p->half_bits);
}

static uint64_t forward(const struct pl_permutation *p, uint64_t i)
{
	uint64_t mask = ((uint64_t)1 << p->half_bits) - 1;
	uint64_t left = i >> p->half_bits;
	uint64_t right = i & mask;
	int n_rounds = count_rounds(p);

	for (int round = 0; round < n_rounds; round++) {
		uint64_t next = left ^ scramble(p, right, round);

		left = right;
		right = next;
	}
	return left << p->half_bits | right;
}

static uint64_t backward(const struct pl_permutation *p, uint64_t i)
{
	uint64_t mask = ((uint64_t)1 << p->half_bits) - 1;
	uint64_t left = i >> p->half_bits;
	uint64_t right = i & mask;

	for (int round = count_rounds(p) - 1; round >= 0; round--) {
		uint64_t before = right ^ scramble(p, left, round);

		right = left;
		left = before;
	}
	return left << p->half_bits | right;
}

uint64_t pl_permutation_at(const struct pl_permutation *p, uint64_t i)
{
	if (p->half_bits == 0)
		return look_up(p, i);
	do
		i = forward(p, i);
	while (i >= p->n);
	return i;
}

uint64_t pl_permutation_find(const struct pl_permutation *p, uint64_t i)
{
	uint64_t at = 0;

	if (p->half_bits == 0) {
		while (at < p->n && look_up(p, at) != i)
			at++;
		return at;
	}
	do
		i = backward(p, i);
	while (i >= p->n);
	return i;
}
