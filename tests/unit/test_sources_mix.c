/* tests/unit/test_sources_mix.c - proportions in every stretch, passes, and a shuffle behind. */
#include "daemon/kit/registry.h"
#include "daemon/sources/mix_pattern.h"
#include "source_harness.h"

static struct pl_source_part part_of[3];
static char range_params[3][64];

/* A mix of up to three ranges; value 1000 * part + record. */
static int list(struct source *s, int n, const int64_t *count, const double *weight, int stop)
{
	const struct pl_source_op *range = &pl_source_range;
	struct pl_param_sources *of;

	source_begin(s, &pl_source_mix);
	of = param_at(s->op->params, s->params, "of");
	*of = (struct pl_param_sources){n, part_of};
	for (int i = 0; i < n; i++) {
		PARAM(int64_t, range->params, range_params[i], "count") = count[i];
		PARAM(int64_t, range->params, range_params[i], "start") = 1000 * i;
		part_of[i] = (struct pl_source_part){range, range_params[i], "part", weight[i]};
	}
	PARAM(int, s->op->params, s->params, "stop") = stop;
	return source_list(s, "/");
}

static int64_t value(struct source *s, uint64_t index)
{
	cr_assert_eq(source_read(s, index), 0, "%s", s->err.text);
	return *(const int64_t *)s->sample.value[0].data;
}

Test(sources_mix, every_stretch_has_each_share_rounded_down_or_up)
{
	static const double weights[][4] = {{0.7, 0.3}, {1, 1, 1}, {0.8, 0.2}, {5, 3, 2, 1},
		{0.123457, 0.5, 0.376543}, {1e-5, 1}, {3.14159, 2.71828, 1.41421, 0.57721}};

	for (size_t w = 0; w < PL_ARRAY_LEN(weights); w++) {
		static uint16_t part[PL_MIX_PERIOD_MAX];
		uint32_t count[4], had[4] = {0};
		uint32_t sum = 0, period;
		int n = 0;

		while (n < 4 && weights[w][n] > 0)
			n++;
		period = pl_mix_counts(weights[w], n, count);
		cr_assert_leq(period, PL_MIX_PERIOD_MAX);
		for (int i = 0; i < n; i++)
			sum += count[i];
		cr_assert_eq(sum, period);
		pl_mix_pattern(count, n, period, part);
		for (uint64_t t = 0; t < period; t++) {
			had[part[t]]++;
			for (int i = 0; i < n; i++) {
				uint64_t share = count[i] * (t + 1);

				cr_assert(had[i] >= share / period &&
						  had[i] <= (share + period - 1) / period,
					"set %zu: part %d had %u of %u at turn %d", w, i, had[i],
					count[i], (int)t);
			}
		}
	}
}

Test(sources_mix, weights_are_exact_where_they_can_be)
{
	uint32_t count[3];

	cr_expect_eq(pl_mix_counts((const double[]){0.7, 0.3}, 2, count), 10);
	cr_expect(count[0] == 7 && count[1] == 3);
	cr_expect_eq(pl_mix_counts((const double[]){2, 4, 6}, 3, count), 6);
	cr_expect(count[0] == 1 && count[1] == 2 && count[2] == 3);
}

Test(sources_mix, the_end_of_an_epoch)
{
	static const int64_t count[] = {10, 4};
	static const double weight[] = {0.5, 0.5};
	struct source s;

	cr_assert_eq(list(&s, 2, count, weight, 0), 0, "%s", s.err.text);
	cr_expect_eq(pl_source_epoch(s.op, &s.listing), 19, "the tenth of part 0 is turn 18");
	for (uint64_t i = 0; i < 19; i++)
		cr_expect_eq(value(&s, i), i % 2 ? 1000 + (int64_t)(i / 2) % 4 : (int64_t)(i / 2),
			"%d", (int)i);
	source_end(&s);
	cr_assert_eq(list(&s, 2, count, weight, 1), 0, "%s", s.err.text);
	cr_expect_eq(pl_source_epoch(s.op, &s.listing), 9, "part 1's fifth would be turn 9");
	source_end(&s);
}

/* Positions of an epoch behind a shuffle of that block. */
static void expect_shuffled(struct source *s, int64_t block, const int64_t *count, int n)
{
	const struct pl_op *shuffle = pl_op_find("shuffle");
	_Alignas(16) char params[64] = {0};
	struct pl_mixture m;
	struct pl_order o = {.seed = 5, .epoch = 1, .place = 77, .mixture = &m};
	static unsigned seen[3][1000];
	bool has_moved = false;

	memset(seen, 0, sizeof(seen));
	PARAM(int64_t, shuffle->params, params, "block") = block;
	PARAM(int64_t, shuffle->params, params, "window") = 2;
	cr_assert_eq(s->op->mixture(&s->listing, &m, &s->err), 0, "%s", s->err.text);
	o.n_in = m.n;
	cr_assert_eq(shuffle->order(params, &o, &s->err), 0);
	for (uint64_t i = 0; i < m.n; i++) {
		uint64_t at = shuffle->at(params, &o, i);
		int64_t v;
		int before, part;
		uint64_t pass = pl_mixture_draw(&m, i, &before);

		cr_assert_lt(at, source_count(s));
		v = value(s, at);
		part = (int)(v / 1000);
		cr_assert_eq(part, before, "turn %d stays with its source", (int)i);
		pass /= (uint64_t)count[part];
		cr_assert_eq(seen[part][v % 1000]++, pass, "%d comes once in each pass", (int)v);
		has_moved |= at != i;
	}
	cr_expect(has_moved);
	for (int p = 0; p < n; p++)
		for (int64_t k = 0; k < count[p]; k++)
			cr_expect_geq(seen[p][k], 1);
}

Test(sources_mix, a_shuffle_keeps_turns_and_passes)
{
	static const int64_t count[] = {301, 40, 7};
	static const double weight[] = {6, 3, 1};
	struct source s;

	cr_assert_eq(list(&s, 3, count, weight, 0), 0, "%s", s.err.text);
	expect_shuffled(&s, 1, count, 3);
	expect_shuffled(&s, 16, count, 3);
	source_end(&s);
}

Test(sources_mix, other_fields_are_refused)
{
	static const int64_t count[] = {3, 3};
	static const double weight[] = {1, 1};
	char values[4096] = {0};
	struct source s;

	PARAM(struct pl_param_values, pl_source_list.params, values, "values") =
		(struct pl_param_values){.n = 1, .dtype = PL_F64, .floats = (const double[]){1.5}};
	list(&s, 2, count, weight, 0);
	source_end(&s);
	part_of[1] = (struct pl_source_part){&pl_source_list, values, "other", 1};
	cr_expect_lt(source_list(&s, "/"), 0);
	expect_text(s.err.text, "in 'other': field 'value' is");
}
