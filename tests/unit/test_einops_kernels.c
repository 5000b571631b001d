/* tests/unit/test_einops_kernels.c - every variant against the portable one. */
#include "proto/einops/kernels.h"

#include <criterion/criterion.h>
#include <string.h>

#define ROOM 40000

static const struct pl_kernels *const variants[] = {
	&pl_kernels_portable,
#if defined(__x86_64__)
	&pl_kernels_avx2,
	&pl_kernels_avx512,
#elif defined(__aarch64__)
	&pl_kernels_neon,
#endif
};

static char in[ROOM];
static char wanted[ROOM];
static char got[ROOM];

/* Bytes that are small whole numbers in every type that is tried, and no NaN. */
static void fill(void)
{
	uint32_t state = 1;

	for (size_t i = 0; i < ROOM; i++) {
		state = state * 1664525u + 1013904223u;
		in[i] = (char)(state >> 24 & 0x3f);
	}
	memset(wanted, 0x55, ROOM);
	memset(got, 0x55, ROOM);
}

static void check_tile(pl_tile_fn plain, pl_tile_fn fast, const struct pl_tile *t, const char *what)
{
	fill();
	plain(wanted + 64, in + 1, t);
	fast(got + 64, in + 1, t);
	cr_assert(memcmp(wanted, got, ROOM) == 0, "%s: %lld x %lld x %lld of %lld", what,
		(long long)t->n[0], (long long)t->n[1], (long long)t->n[2], (long long)t->unit);
}

static void check_split_and_join(const struct pl_kernels *k, int count, int index)
{
	int64_t unit = INT64_C(1) << index;

	for (int64_t n = 1; n < 140; n += n < 70 ? 1 : 17) {
		struct pl_tile split = {.n = {2, count, n},
			.out = {count * n * unit, n * unit, unit},
			.in = {count * n * unit, unit, count * unit},
			.unit = unit};
		struct pl_tile join = {.n = {2, n, count},
			.out = {count * n * unit, count * unit, unit},
			.in = {count * n * unit, unit, n * unit},
			.unit = unit};

		check_tile(pl_kernels_portable.split[count - 2][index], k->split[count - 2][index],
			&split, "split");
		check_tile(pl_kernels_portable.join[count - 2][index], k->join[count - 2][index],
			&join, "join");
	}
}

static void check_transpose(const struct pl_kernels *k, int index)
{
	int64_t unit = INT64_C(1) << index;

	for (int64_t n1 = 1; n1 <= 81; n1 += n1 < 20 ? 1 : 15) {
		for (int64_t n2 = 1; n2 <= 48; n2 += n2 < 20 ? 1 : 14) {
			struct pl_tile t = {.n = {1, n1, n2},
				.out = {0, n2 * unit, unit},
				.in = {0, unit, n1 * unit},
				.unit = unit};

			check_tile(pl_kernels_portable.transpose[index], k->transpose[index], &t,
				"transpose");
			check_tile(pl_kernels_portable.transpose[index], k->strided[index], &t,
				"strided");
		}
	}
}

static void check_rows(pl_rows_fn plain, pl_rows_fn fast, int64_t size)
{
	for (int64_t n = 1; n < 200; n += n < 20 ? 1 : 13) {
		for (int64_t rows = 1; rows < 10; rows++) {
			struct pl_rows r = {n, rows, n * size};

			fill();
			memcpy(wanted, in, (size_t)(n * size));
			memcpy(got, in, (size_t)(n * size));
			plain(wanted, in + 1, &r);
			fast(got, in + 1, &r);
			cr_assert(memcmp(wanted, got, ROOM) == 0, "rows %lld x %lld", (long long)n,
				(long long)rows);
		}
	}
}

static void check_fold(pl_fold_fn plain, pl_fold_fn fast)
{
	static const int64_t wides[] = {1, 2, 3, 4, 7, 16, 33, 100};

	for (size_t w = 0; w < PL_ARRAY_LEN(wides); w++) {
		for (int64_t n = 1; n < 40; n += n < 4 ? 1 : 11) {
			for (int64_t groups = 1; groups * n * wides[w] * 8 < ROOM - 64;
				groups = groups * 2 + 1) {
				struct pl_fold f = {groups, n, wides[w]};

				fill();
				plain(wanted, in + 1, &f);
				fast(got, in + 1, &f);
				cr_assert(memcmp(wanted, got, ROOM) == 0, "fold %lld x %lld x %lld",
					(long long)groups, (long long)n, (long long)wides[w]);
			}
		}
	}
}

Test(einops_kernels, moving)
{
	for (size_t v = 0; v < PL_ARRAY_LEN(variants); v++) {
		if (!variants[v]->is_usable())
			continue;
		for (int index = 0; index < 4; index++) {
			for (int count = 2; count <= 4; count++)
				check_split_and_join(variants[v], count, index);
			check_transpose(variants[v], index);
		}
	}
}

Test(einops_kernels, runs_of_every_size)
{
	for (size_t v = 0; v < PL_ARRAY_LEN(variants); v++) {
		if (!variants[v]->is_usable())
			continue;
		for (int64_t unit = 1; unit < 100; unit++) {
			struct pl_tile t = {.n = {2, 3, 5},
				.out = {15 * unit, 5 * unit, unit},
				.in = {unit, 2 * unit, 6 * unit},
				.unit = unit};

			fill();
			pl_kernels_portable.runs(wanted, in, &t);
			variants[v]->runs(got, in, &t);
			cr_assert(memcmp(wanted, got, ROOM) == 0);
			cr_assert(memcmp(got + 5 * unit, in + 2 * unit, (size_t)unit) == 0);
		}
	}
}

Test(einops_kernels, reducing)
{
	static const int64_t sizes[ACC_TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

	for (size_t v = 0; v < PL_ARRAY_LEN(variants); v++) {
		if (!variants[v]->is_usable())
			continue;
		for (int op = 0; op < ACC_OPS; op++) {
			for (int type = 0; type < ACC_TYPES; type++) {
				if (!variants[v]->rows[op][type])
					continue;
				check_rows(pl_kernels_portable.rows[op][type],
					variants[v]->rows[op][type], sizes[type]);
				check_fold(pl_kernels_portable.fold[op][type],
					variants[v]->fold[op][type]);
			}
		}
	}
}

Test(einops_kernels, converting)
{
	for (size_t v = 0; v < PL_ARRAY_LEN(variants); v++) {
		for (int c = CONVERT_NONE + 1; variants[v]->is_usable() && c < CONVERTS; c++) {
			fill();
			pl_kernels_portable.convert[c](wanted, in + 1, 1001);
			variants[v]->convert[c](got, in + 1, 1001);
			cr_assert(memcmp(wanted, got, ROOM) == 0, "conversion %d", c);
		}
	}
}

Test(einops_kernels, the_choice_does_not_change)
{
	const struct pl_kernels *k = pl_kernels_get();

	setenv("PIPELOADER_KERNELS", k == &pl_kernels_portable ? "avx2" : "portable", 1);
	cr_assert(pl_kernels_get() == k);
}

static void check_pool(const struct pl_kernels *k, const struct pl_pool *p)
{
	struct pl_fold rows = {p->groups, 2, p->pairs * 2 * p->wide};
	struct pl_fold pairs = {p->groups * p->pairs, 2, p->wide};
	static char between[ROOM];

	fill();
	pl_kernels_portable.fold[ACC_MAX][ACC_U8](between, in, &rows);
	pl_kernels_portable.fold[ACC_MAX][ACC_U8](wanted, between, &pairs);
	if (k->pool[ACC_MAX] && k->pool[ACC_MAX](got, in, p))
		cr_assert(memcmp(wanted, got, ROOM) == 0, "%lld pairs of %lld", (long long)p->pairs,
			(long long)p->wide);
}

Test(einops_kernels, pooling_at_once_is_two_folds)
{
	for (size_t v = 0; v < PL_ARRAY_LEN(variants); v++)
		for (int64_t pairs = 1; variants[v]->is_usable() && pairs < 200; pairs++)
			for (int64_t wide = 1; wide < 5; wide++)
				check_pool(variants[v], &(struct pl_pool){3, pairs, wide});
}
