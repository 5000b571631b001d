/* daemon/kit/source.h - what a source is: how to list records once and read any later. */
#pragma once

#include "daemon/kit/op.h"

#define PL_SOURCE_ABI 1

/*
 * A listing is written once, by the lister, as named sections of bytes in a memfd, and then only
 * read. The layout of a section is its source's own business; offsets only, no pointers. Sections
 * are 64-byte aligned.
 */
struct pl_listing_writer; /* daemon/kit/listing.h */
struct pl_listing;

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

	/* What `_key` is for the record, as describe. NULL: describe's text. */
	void (*key)(const void *params, const struct pl_listing *listing, uint64_t index, char *out,
		size_t n);
};

/* What `_key` is for a record: at most n bytes with NUL. */
static inline void pl_source_key(const struct pl_source_op *op, const void *params,
	const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	(op->key ? op->key : op->describe)(params, listing, index, out, n);
}

extern const struct pl_source_op *const pl_sources[];
extern const size_t pl_n_sources;
