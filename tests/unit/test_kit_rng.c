/* tests/unit/test_kit_rng.c - Philox against its published vectors, draws, and permutations. */
#include "daemon/kit/rng.h"

#include <criterion/criterion.h>

/* kat_vectors of Random123, philox4x32 with 10 rounds. */
static const struct {
	uint32_t counter[4];
	uint32_t key[2];
	uint32_t out[4];
} vectors[] = {
	{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
	{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff},
		{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
	{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
		{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

Test(kit_rng, philox_gives_the_published_values)
{
	for (size_t v = 0; v < PL_ARRAY_LEN(vectors); v++) {
		struct pl_rng rng = {.used = 4};

		memcpy(rng.counter, vectors[v].counter, sizeof(rng.counter));
		memcpy(rng.key, vectors[v].key, sizeof(rng.key));
		for (int i = 0; i < 4; i++)
			cr_expect_eq(pl_rng_u32(&rng), vectors[v].out[i]);
	}
}

static uint32_t first(const struct pl_draw_key *key, uint64_t place, uint32_t field)
{
	struct pl_rng rng;

	pl_rng_init(&rng, key, place, field);
	return pl_rng_u32(&rng);
}

Test(kit_rng, every_part_of_the_key_changes_the_draw)
{
	const struct pl_draw_key key = {.seed = 1, .epoch = 2, .index = 3, .copy = 4};
	uint64_t place = pl_rng_place("random_flip", 0, "");
	uint32_t base = first(&key, place, 0);
	struct pl_draw_key other = key;

	cr_expect_eq(first(&key, place, 0), base, "the same key draws the same");
	other.seed++;
	cr_expect_neq(first(&other, place, 0), base);
	other = key;
	other.epoch++;
	cr_expect_neq(first(&other, place, 0), base);
	other = key;
	other.index += (uint64_t)1 << 32;
	cr_expect_neq(first(&other, place, 0), base);
	other = key;
	other.copy++;
	cr_expect_neq(first(&other, place, 0), base);
	cr_expect_neq(first(&key, place, 1), base);
	cr_expect_neq(first(&key, pl_rng_place("random_flip", 1, ""), 0), base);
	cr_expect_neq(first(&key, pl_rng_place("random_flip", 0, "view_1"), 0), base);
	cr_expect_neq(first(&key, pl_rng_place("random_crop", 0, ""), 0), base);
}

/* A token made on another machine or by another build must find the same draws. */
Test(kit_rng, draws_are_the_same_in_every_build)
{
	const struct pl_draw_key key = {.seed = 42, .epoch = 1, .index = 7};
	uint64_t place = pl_rng_place("random_flip", 0, "");
	struct pl_rng rng;
	struct pl_permutation p;

	pl_rng_init(&rng, &key, place, 0);
	pl_permutation_init(&p, 1000, 42, 0, place);
	cr_expect_eq(place, UINT64_C(0x9efac21d403c227e), "%llx", (unsigned long long)place);
	cr_expect_eq(pl_rng_u32(&rng), 0xedb3f06d, "the first draw");
	cr_expect_eq(pl_permutation_at(&p, 0), 305, "the first position");
}

Test(kit_rng, unit_and_range_stay_inside)
{
	const struct pl_draw_key key = {.seed = 9};
	struct pl_rng rng;
	double sum = 0;

	pl_rng_init(&rng, &key, 1, 0);
	for (int i = 0; i < 100000; i++) {
		double u = pl_rng_unit(&rng);
		double x = pl_rng_range(&rng, -3, 5);

		cr_assert(u >= 0 && u < 1);
		cr_assert(x >= -3 && x < 5);
		sum += u;
	}
	cr_expect_float_eq(sum / 100000, 0.5, 0.005);
	cr_expect_eq(pl_rng_range(&rng, 2, 2), 2);
	for (int i = 0; i < 1000; i++)
		cr_assert_lt(pl_rng_range(&rng, 1, 1 + 0x1p-52), 1 + 0x1p-52);
}

Test(kit_rng, below_is_uniform_and_inside)
{
	const struct pl_draw_key key = {.seed = 10};
	struct pl_rng rng;
	int seen[7] = {0};

	pl_rng_init(&rng, &key, 1, 0);
	for (int i = 0; i < 70000; i++) {
		uint64_t x = pl_rng_below(&rng, 7);

		cr_assert_lt(x, 7);
		seen[x]++;
	}
	for (int i = 0; i < 7; i++)
		cr_expect(seen[i] > 9600 && seen[i] < 10400, "%d: %d", i, seen[i]);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(pl_rng_below(&rng, 1), 0);
		cr_assert_lt(pl_rng_below(&rng, UINT64_MAX), UINT64_MAX);
	}
}

Test(kit_rng, permutation_is_bijective_and_invertible_for_every_small_n)
{
	for (uint64_t n = 1; n <= 600; n++) {
		struct pl_permutation p;
		bool seen[600] = {false};

		pl_permutation_init(&p, n, 5, (uint32_t)n, 6);
		for (uint64_t i = 0; i < n; i++) {
			uint64_t to = pl_permutation_at(&p, i);

			cr_assert(to < n && !seen[to], "n %llu", (unsigned long long)n);
			cr_assert_eq(pl_permutation_find(&p, to), i);
			seen[to] = true;
		}
	}
}

Test(kit_rng, permutation_is_bijective_over_a_million)
{
	const uint64_t n = 1000003;
	PL_AUTO_FREE unsigned char *seen = calloc(n, 1);
	struct pl_permutation p;

	pl_permutation_init(&p, n, 5, 0, 6);
	for (uint64_t i = 0; i < n; i++)
		seen[pl_permutation_at(&p, i)]++;
	for (uint64_t i = 0; i < n; i++)
		cr_assert_eq(seen[i], 1);
}

Test(kit_rng, permutation_of_huge_n_stays_inside)
{
	static const uint64_t sizes[] = {
		((uint64_t)1 << 32) - 1, ((uint64_t)1 << 40) + 1, (uint64_t)1 << 63, UINT64_MAX};

	for (size_t k = 0; k < PL_ARRAY_LEN(sizes); k++) {
		struct pl_permutation p;

		pl_permutation_init(&p, sizes[k], 5, 0, 6);
		for (uint64_t i = 0; i < 1000; i++) {
			uint64_t from = i % 2 ? i : sizes[k] - 1 - i;
			uint64_t to = pl_permutation_at(&p, from);

			cr_assert_lt(to, sizes[k]);
			cr_assert_eq(pl_permutation_find(&p, to), from);
		}
	}
}

/* Chi-square with 23 degrees of freedom; 60 is passed once in 30,000 times. */
Test(kit_rng, all_orders_of_four_are_about_equally_likely)
{
	int seen[256] = {0};
	double chi = 0;

	for (uint32_t epoch = 0; epoch < 24000; epoch++) {
		struct pl_permutation p;
		unsigned order = 0;

		pl_permutation_init(&p, 4, 1, epoch, 2);
		for (uint64_t i = 0; i < 4; i++)
			order = order << 2 | (unsigned)pl_permutation_at(&p, i);
		seen[order]++;
	}
	for (int i = 0; i < 256; i++)
		chi += seen[i] ? (seen[i] - 1000.0) * (seen[i] - 1000.0) / 1000 : 0;
	cr_expect_lt(chi, 60);
}

/* Where the first of 1000 goes, and what follows it, over many epochs. */
Test(kit_rng, positions_and_neighbours_are_spread)
{
	int first_at[10] = {0};
	int step[10] = {0};

	for (uint32_t epoch = 0; epoch < 20000; epoch++) {
		struct pl_permutation p;
		uint64_t a;
		uint64_t b;

		pl_permutation_init(&p, 1000, 1, epoch, 2);
		a = pl_permutation_at(&p, 0);
		b = pl_permutation_at(&p, 1);
		first_at[a / 100]++;
		step[(b + 1000 - a) % 1000 / 100]++;
	}
	for (int i = 0; i < 10; i++) {
		cr_expect(first_at[i] > 1820 && first_at[i] < 2180, "%d: %d", i, first_at[i]);
		cr_expect(step[i] > 1820 && step[i] < 2180, "%d: %d", i, step[i]);
	}
}
