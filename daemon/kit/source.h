/* daemon/kit/source.h - what a source is: how to list records once and read any later. */
#pragma once

#include "daemon/kit/listing.h"
#include "daemon/kit/op.h"

#define PL_SOURCE_ABI 1

/*
 * A listing is written once, by the lister, as named sections of bytes in a memfd, and then only
 * read. The layout of a section is its source's own business; offsets only, no pointers. Sections
 * are 64-byte aligned.
 */
#define PL_FIELD_NAME_MAX 64

/* One field a source delivers. `is_known`: pre-main may use it, for it is known without reading
 * data. `name` NULL: it is own_name, for names that were read from a file. */
struct pl_source_field {
	const char *name;
	char own_name[PL_FIELD_NAME_MAX];
	struct pl_type type;
	bool is_known;
};

/*
 * Sources drawn in turn by a periodic pattern. Position i of an epoch belongs to part
 * part[i % period] and is its draw number i / period * count + rank[i % period]; its draws go
 * through its own n_records records again and again. The listing's record numbers are such
 * positions, so that a record that comes twice has other random draws; the first `n` are an epoch.
 */
struct pl_mixture_share {
	uint64_t n_records;
	uint32_t count;      /* turns in a period */
	uint32_t first_slot; /* where its turns begin in `slot` */
};

struct pl_mixture {
	uint64_t n;
	uint64_t period;
	const uint16_t *part; /* [period] */
	const uint32_t *rank; /* [period] */
	const uint32_t *slot; /* [period]: the turns of part 0 in order, of part 1, ... */
	const struct pl_mixture_share *share; /* by part */
	int n_parts;
};

/* Which part a position belongs to, and the number of its draw; and the way back. */
static inline uint64_t pl_mixture_draw(const struct pl_mixture *m, uint64_t position, int *part)
{
	uint64_t turn = position % m->period;

	*part = m->part[turn];
	return position / m->period * m->share[*part].count + m->rank[turn];
}

static inline uint64_t pl_mixture_position(const struct pl_mixture *m, int part, uint64_t draw)
{
	const struct pl_mixture_share *share = &m->share[part];

	return draw / share->count * m->period + m->slot[share->first_slot + draw % share->count];
}

/*
 * One kind of source. `params` is the struct its parameter table fills; `dir` is the folder of the
 * pipeline file, which relative paths count from.
 */
struct pl_source_op {
	uint32_t abi;
	uint32_t size;
	const char *name;
	const char *help;
	uint32_t version;
	const struct pl_param *params;
	size_t params_size;

	int (*check)(void *params, struct pl_err *err);

	/*
	 * Fills fields[0..PL_FIELDS_MAX), which are zero, and *n. Runs in the probe, before
	 * listing, and may read the first file's head to learn columns, dtypes and shapes; what it
	 * found is sealed with the plan, and a file listed later that differs is an error of `list`
	 * or of the record. Names may point into params. 0 or -errno with err.
	 */
	int (*fields)(const void *params, const char *dir, struct pl_source_field *fields, int *n,
		struct pl_err *err);

	/*
	 * Lists every record in source order; may take long, may block on a file system. Runs in
	 * the lister. 0, or -errno with err. With 0, text in err (its code is 0) is a warning: what
	 * was left out.
	 */
	int (*list)(const void *params, const char *dir, struct pl_listing_writer *w,
		struct pl_err *err);

	/* First record found without listing everything, for `check`: as list, but may stop after
	 * one record. NULL: list. */
	int (*list_first)(const void *params, const char *dir, struct pl_listing_writer *w,
		struct pl_err *err);

	/* Per-process state (open files, caches); NULL when none is needed. */
	int (*open)(const void *params, const struct pl_listing *listing, void **state,
		struct pl_err *err);
	void (*close)(void *state);

	/*
	 * The fields of record `index`. `field[i]` is the field number of the i-th field of
	 * `fields`, or -1 when nobody uses it; values go to sample->value[field[i]], in memory that
	 * lives as long as the sample (scratch, the listing, or params). known_only: only the
	 * fields with is_known, no data is touched. 0 or -errno with err.
	 */
	int (*read)(const void *params, void *state, const struct pl_listing *listing,
		uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
		struct pl_err *err);

	/* What an error calls the record: a path, "value 3". At most n bytes with NUL. */
	void (*describe)(const void *params, const struct pl_listing *listing, uint64_t index,
		char *out, size_t n);

	/* A mixture's pattern; NULL for all others. Pointers go into the listing. 0, or -EINVAL
	 * with err. */
	int (*mixture)(
		const struct pl_listing *listing, struct pl_mixture *out, struct pl_err *err);

	/* What `_key` is for the record, as describe. NULL: describe's text. */
	void (*key)(const void *params, const struct pl_listing *listing, uint64_t index, char *out,
		size_t n);
};

/* Records of an epoch of `listing`: all of them, but for a mixture. */
static inline uint64_t pl_source_epoch(
	const struct pl_source_op *op, const struct pl_listing *listing)
{
	struct pl_mixture m;

	if (!op->mixture)
		return listing->head->n_records;
	return op->mixture(listing, &m, NULL) < 0 ? 0 : m.n;
}

/* What `_key` is for a record: at most n bytes with NUL. */
static inline void pl_source_key(const struct pl_source_op *op, const void *params,
	const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	(op->key ? op->key : op->describe)(params, listing, index, out, n);
}

extern const struct pl_source_op *const pl_sources[];
extern const size_t pl_n_sources;
