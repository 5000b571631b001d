/* daemon/sources/mix.c - several sources in given proportions, in every stretch of the stream. */
/*
 * Sources take turns by a fixed periodic pattern (daemon/sources/mix_pattern.h), each going through
 * its own records again and again. A shuffle right behind keeps every turn with its source and
 * shuffles each source's passes by themselves. An epoch ends
 *	stop: longest  when every source has been gone through at least once
 *	stop: first    before a source would begin again
 *	count: N       after N records
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/sources/mix_pattern.h"
#include "daemon/sources/parts.h"
#include "daemon/sources/table.h"

enum { STOP_LONGEST, STOP_FIRST };
enum { SECTION_HEAD = PL_PARTS_OWN_SECTION, SECTION_PART, SECTION_RANK, SECTION_SLOT };

struct mix_params {
	struct pl_param_sources of;
	int stop;
	int64_t count;
};

static const char *const stops[] = {"longest", "first", NULL};

static const struct pl_param params[] = {
	{
		.key = "of",
		.kind = PL_PARAM_SOURCES,
		.offset = offsetof(struct mix_params, of),
		.help = "sources that bring the same fields, each with its weight",
		.is_obvious = true,
	},
	{
		.key = "stop",
		.kind = PL_PARAM_CHOICE,
		.offset = offsetof(struct mix_params, stop),
		.def = "longest",
		.choices = stops,
		.help = "the epoch's end: when all were read once (others repeat), or when the "
			"first is used up",
	},
	{
		.key = "count",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct mix_params, count),
		.def = "",
		.min = 1,
		.max = 0x1p53,
		.unit = "records",
		.help = "records of an epoch, instead of stop",
	},
	{0},
};

/* What lies in SECTION_HEAD, followed by the share of each part. */
struct mix_head {
	uint64_t n;
	uint64_t period;
};

static int mix_check(void *data, struct pl_err *err)
{
	const struct mix_params *p = data;

	for (int i = 0; i < p->of.n; i++)
		if (!(p->of.v[i].weight > 0))
			return pl_err_set(err, -EINVAL, "the weight of '%s' must be above 0",
				p->of.v[i].name);
	return 0;
}

static int mix_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	return pl_parts_fields(&((const struct mix_params *)data)->of, dir, fields, n, err);
}

/* A period under construction. */
struct period {
	uint32_t length;
	uint32_t count[PL_PARAM_SOURCES_MAX];
	uint32_t first_slot[PL_PARAM_SOURCES_MAX];
	uint16_t *part;
	uint32_t *rank;
	uint32_t *slot;
};

static void period_finish(struct period *p)
{
	free(p->part);
	free(p->rank);
	free(p->slot);
}

static int period_init(struct period *p, const struct pl_param_sources *of)
{
	double weight[PL_PARAM_SOURCES_MAX];
	uint32_t had[PL_PARAM_SOURCES_MAX] = {0};

	for (int i = 0; i < of->n; i++)
		weight[i] = of->v[i].weight;
	p->length = pl_mix_counts(weight, of->n, p->count);
	for (int i = 1; i < of->n; i++)
		p->first_slot[i] = p->first_slot[i - 1] + p->count[i - 1];
	p->part = calloc(p->length, sizeof(*p->part));
	p->rank = calloc(p->length, sizeof(*p->rank));
	p->slot = calloc(p->length, sizeof(*p->slot));
	if (!p->part || !p->rank || !p->slot)
		return -ENOMEM;
	pl_mix_pattern(p->count, of->n, p->length, p->part);
	for (uint32_t t = 0; t < p->length; t++) {
		uint16_t part = p->part[t];

		p->slot[p->first_slot[part] + had[part]] = t;
		p->rank[t] = had[part]++;
	}
	return 0;
}

/* The position of a part's draw number k. */
static uint64_t position_of(const struct period *p, int part, uint64_t k)
{
	uint64_t turn = p->slot[p->first_slot[part] + k % p->count[part]];

	return k / p->count[part] * p->length + turn;
}

/* Records of an epoch. */
static uint64_t epoch_of(
	const struct mix_params *p, const struct period *period, const struct pl_part_entry *entry)
{
	uint64_t n = 0;

	if (p->count)
		return (uint64_t)p->count;
	for (int i = 0; i < p->of.n; i++) {
		uint64_t end = p->stop == STOP_FIRST
				       ? position_of(period, i, entry[i].n_records)
				       : position_of(period, i, entry[i].n_records - 1) + 1;

		if (i == 0 || (p->stop == STOP_FIRST ? end < n : end > n))
			n = end;
	}
	return n;
}

/* Positions up to the end of every pass that an epoch of n begins: a shuffle needs all of them. */
static uint64_t positions_of(const struct mix_params *p, const struct period *period,
	const struct pl_part_entry *entry, uint64_t n)
{
	uint64_t most = n;

	for (int i = 0; i < p->of.n; i++) {
		uint64_t draws = (n / period->length + 1) * period->count[i];
		uint64_t passes = draws / entry[i].n_records + 1;
		uint64_t end = position_of(period, i, passes * entry[i].n_records - 1) + 1;

		most = end > most ? end : most;
	}
	return most;
}

static int write_period(struct pl_listing_writer *w, const struct mix_params *p,
	const struct period *period, uint64_t n)
{
	const struct pl_part_entry *entry = (const void *)w->section[1].data;
	struct mix_head head = {n, period->length};
	int r = pl_listing_append(w, SECTION_HEAD, &head, sizeof(head));

	for (int i = 0; i < p->of.n && !r; i++) {
		struct pl_mixture_share share = {
			entry[i].n_records, period->count[i], period->first_slot[i]};

		r = pl_listing_append(w, SECTION_HEAD, &share, sizeof(share));
	}
	if (!r)
		r = pl_listing_append(
			w, SECTION_PART, period->part, period->length * sizeof(*period->part));
	if (!r)
		r = pl_listing_append(
			w, SECTION_RANK, period->rank, period->length * sizeof(*period->rank));
	if (!r)
		r = pl_listing_append(
			w, SECTION_SLOT, period->slot, period->length * sizeof(*period->slot));
	return r;
}

static int list_parts(const struct mix_params *p, const char *dir, bool only_first,
	struct pl_listing_writer *w, struct pl_err *err)
{
	PL_CLEANUP(period_finish) struct period period = {0};
	const struct pl_part_entry *entry;
	uint64_t n;
	int r = pl_parts_list(&p->of, dir, only_first, w, err);

	if (r)
		return r;
	entry = (const void *)w->section[1].data;
	for (int i = 0; i < p->of.n; i++)
		if (entry[i].n_records == 0 || entry[i].n_records > UINT32_MAX * (uint64_t)4096)
			return pl_err_set(err, -EINVAL, "'%s' has %llu records: it can't be mixed",
				p->of.v[i].name, (unsigned long long)entry[i].n_records);
	r = period_init(&period, &p->of);
	if (!r) {
		n = epoch_of(p, &period, entry);
		if (n == 0)
			return pl_err_set(
				err, -EINVAL, "stop: first ends the epoch before its first record");
		w->n_records = positions_of(p, &period, entry, n);
		r = write_period(w, p, &period, n);
	}
	return r ? pl_err_set(err, r, "out of memory for the listing") : 0;
}

static int mix_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_parts(data, dir, false, w, err);
}

static int mix_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_parts(data, dir, true, w, err);
}

/* The pattern as it lies there; its numbers aren't looked at. */
static int view_pattern(const struct pl_listing *l, struct pl_mixture *m, struct pl_err *err)
{
	size_t n_head, n_part, n_rank, n_slot;
	const struct mix_head *head = pl_listing_section_at(l, SECTION_HEAD, &n_head);

	*m = (struct pl_mixture){
		.part = pl_listing_section_at(l, SECTION_PART, &n_part),
		.rank = pl_listing_section_at(l, SECTION_RANK, &n_rank),
		.slot = pl_listing_section_at(l, SECTION_SLOT, &n_slot),
		.share = (const void *)(head + 1),
	};
	if (n_head < sizeof(*head) || (n_head - sizeof(*head)) % sizeof(*m->share) ||
		head->period == 0 || head->period > PL_MIX_PERIOD_MAX ||
		n_part != head->period * sizeof(*m->part) ||
		n_rank != head->period * sizeof(*m->rank) ||
		n_slot != head->period * sizeof(*m->slot) || head->n > l->head->n_records)
		return pl_err_set(err, -EINVAL, "the listing is not one of a mix");
	m->n = head->n;
	m->period = head->period;
	m->n_parts = (int)((n_head - sizeof(*head)) / sizeof(*m->share));
	return 0;
}

static int mix_mixture(const struct pl_listing *l, struct pl_mixture *m, struct pl_err *err)
{
	int r = view_pattern(l, m, err);
	uint64_t sum = 0;

	if (r)
		return r;
	for (int i = 0; i < m->n_parts; i++)
		sum += m->share[i].n_records && m->share[i].count && m->share[i].first_slot == sum
			       ? m->share[i].count
			       : m->period + 1;
	for (uint64_t t = 0; t < m->period; t++)
		if (m->part[t] >= m->n_parts || m->slot[t] >= m->period ||
			m->rank[t] >= m->share[m->part[t]].count)
			sum = 0;
	return sum == m->period ? 0 : pl_err_set(err, -EINVAL, "the listing's mix is damaged");
}

struct mix_state {
	struct pl_parts parts;
	struct pl_mixture mixture;
};

static int mix_open(
	const void *data, const struct pl_listing *listing, void **state, struct pl_err *err)
{
	const struct mix_params *p = data;
	struct mix_state *s = calloc(1, sizeof(*s));
	int r;

	*state = s;
	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	r = pl_parts_open(&s->parts, &p->of, listing, err);
	if (!r)
		r = mix_mixture(listing, &s->mixture, err);
	if (!r && s->mixture.n_parts != p->of.n)
		r = pl_err_set(err, -EINVAL, "the listing is not one of these sources");
	return r;
}

static void mix_close(void *state)
{
	struct mix_state *s = state;

	if (s)
		pl_parts_close(&s->parts);
	free(s);
}

static int mix_read(const void *data, void *state, const struct pl_listing *listing, uint64_t index,
	const int *field, bool known_only, struct pl_sample *sample, struct pl_err *err)
{
	struct mix_state *s = state;
	int part;
	uint64_t draw = pl_mixture_draw(&s->mixture, index, &part);

	return pl_parts_read(&s->parts, part, draw % s->mixture.share[part].n_records, field,
		known_only, sample, err);
}

static void mix_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	const struct mix_params *p = data;
	struct pl_mixture m;
	uint64_t draw;
	int part;

	if (view_pattern(listing, &m, NULL) || m.n_parts != p->of.n ||
		m.part[index % m.period] >= m.n_parts) {
		snprintf(out, n, "record %llu", (unsigned long long)index);
		return;
	}
	draw = pl_mixture_draw(&m, index, &part);
	pl_parts_describe(&p->of, listing, part, draw % m.share[part].n_records, out, n);
}

const struct pl_source_op pl_source_mix = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "mix",
	.help = "several sources in turn, in the proportion of their weights",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct mix_params),
	.check = mix_check,
	.fields = mix_fields,
	.list = mix_list,
	.list_first = mix_list_first,
	.open = mix_open,
	.close = mix_close,
	.read = mix_read,
	.mixture = mix_mixture,
	.describe = mix_describe,
};
