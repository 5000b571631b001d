/* daemon/kit/sample.h - one sample on its way through the steps of a worker. */
#pragma once

#include "daemon/kit/rng.h"
#include "daemon/kit/type.h"

#pragma GCC visibility push(default) /* plugins call these */

/* Fields of a whole pipeline, views counted apart; more is a load error. */
#define PL_FIELDS_MAX 64

/* Memory that lives until the next sample: a bump allocator over chunks that are kept. */
struct pl_scratch {
	struct pl_scratch_chunk *chunks; /* the one in use first */
	struct pl_scratch_chunk *spare;
	void *notes;  /* what steps leave for later ones in this memory; gone with the sample */
	size_t limit; /* bytes that one sample may take in all; above it allocation fails */
	size_t taken;
};

void pl_scratch_init(struct pl_scratch *s, size_t limit);
void pl_scratch_finish(struct pl_scratch *s);

/* 64-byte aligned, not cleared; NULL when the limit would be passed or memory is out. n = 0 gives a
 * valid pointer. */
void *pl_scratch_alloc(struct pl_scratch *s, size_t n);

/* Everything handed out becomes free; the largest chunk is kept for the next sample. */
void pl_scratch_reset(struct pl_scratch *s);

/* Which record a sample is, for draws and messages. Texts live as long as the sample. */
struct pl_where {
	struct pl_draw_key key;
	const char *source; /* the source's name: "files", or the name given in a mix */
	const char *name;   /* "n01440764/x.JPEG", "value 3": what an error calls the record */
};

/* Memory in the batch for a value whose length isn't known at load. */
struct pl_room {
	void *data;
	size_t bytes; /* 0: none */
};

/*
 * Values are indexed by field number; numbers are the plan's, fixed for the whole pipeline. A field
 * that doesn't exist at this place has dtype 0. `row` is where the delivered value of a field must
 * end up; data NULL when the field isn't delivered or has no fixed shape: then `room` is where it
 * may be written at once.
 */
struct pl_sample {
	struct pl_where where;
	struct pl_tensor value[PL_FIELDS_MAX];
	struct pl_tensor row[PL_FIELDS_MAX];
	struct pl_room room[PL_FIELDS_MAX];
	uint64_t source_rows; /* fields that no step changes: the source may write into `row` */
	struct pl_scratch *scratch;
};

/*
 * Room for a contiguous value of `field` with the dtype and shape of `value`: where it is delivered
 * when that is known and alike, else as pl_sample_alloc. For sources; steps ask pl_run_out.
 */
void *pl_sample_place(struct pl_sample *s, int field, const struct pl_tensor *value);

/* n bytes for a value of `field`: its room in the batch when it has one that is large enough, else
 * scratch (NULL as pl_scratch_alloc). */
void *pl_sample_alloc(struct pl_sample *s, int field, size_t n);

#pragma GCC visibility pop
