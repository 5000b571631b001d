/* tests/unit/source_harness.h - lists any source and reads its records, in one process. */
#pragma once

#include "daemon/kit/listing.h"
#include "daemon/sources/table.h"
#include "param_at.h"
#include "temp_tree.h"

#define SOURCE_HELPER __attribute__((unused)) static

struct source {
	const struct pl_source_op *op;
	_Alignas(16) char params[16384];
	struct pl_source_field fields[PL_FIELDS_MAX];
	int n_fields;
	struct pl_listing listing;
	void *state;
	struct pl_scratch scratch;
	struct pl_sample sample;
	struct pl_err err;
};

SOURCE_HELPER void source_begin(struct source *s, const struct pl_source_op *op)
{
	memset(s, 0, sizeof(*s));
	cr_assert_leq(op->params_size, sizeof(s->params));
	s->op = op;
}

/* check, fields, list and open, as the probe, the lister and a worker do. 0 or what failed. */
SOURCE_HELPER int source_list(struct source *s, const char *dir)
{
	struct pl_listing_writer w;
	PL_AUTO_CLOSE int fd = -1;
	int r = s->op->check ? s->op->check(s->params, &s->err) : 0;

	if (r == 0)
		r = s->op->fields(s->params, dir, s->fields, &s->n_fields, &s->err);
	if (r)
		return r;
	pl_listing_writer_init(&w);
	r = s->op->list(s->params, dir, &w, &s->err);
	if (r == 0) {
		struct pl_err err = {0};

		fd = pl_listing_seal(&w);
		cr_assert_eq(pl_listing_map(&s->listing, fd, &err), 0, "%s", err.text);
		if (s->op->open)
			cr_assert_eq(s->op->open(s->params, &s->listing, &s->state, &err), 0, "%s",
				err.text);
		pl_scratch_init(&s->scratch, 64 << 20);
		s->sample.scratch = &s->scratch;
	}
	pl_listing_writer_finish(&w);
	return r;
}

/* Values go to s->sample.value[i], i as in s->fields. */
SOURCE_HELPER int source_read(struct source *s, uint64_t index)
{
	int field[PL_FIELDS_MAX];

	for (int i = 0; i < PL_FIELDS_MAX; i++)
		field[i] = i < s->n_fields ? i : -1;
	pl_scratch_reset(&s->scratch);
	memset(s->sample.value, 0, sizeof(s->sample.value));
	s->err = (struct pl_err){0};
	return s->op->read(
		s->params, s->state, &s->listing, index, field, false, &s->sample, &s->err);
}

SOURCE_HELPER uint64_t source_count(const struct source *s)
{
	return s->listing.head->n_records;
}

SOURCE_HELPER void source_end(struct source *s)
{
	if (!s->listing.head)
		return;
	if (s->op->close)
		s->op->close(s->state);
	pl_listing_unmap(&s->listing);
	pl_scratch_finish(&s->scratch);
}

/* Path of a file of tests/golden/cases. */
SOURCE_HELPER const char *case_path(const char *name)
{
	static char path[PATH_MAX];
	const char *root = getenv("PL_SOURCE");

	snprintf(path, sizeof(path), "%s/tests/golden/cases/%s", root ? root : ".", name);
	return path;
}
