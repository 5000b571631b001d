/* tests/unit/test_sources_range.c - range counts from its start. */
#include <errno.h>
#include <limits.h>

#include "daemon/kit/listing.h"
#include "daemon/sources/table.h"
#include "param_at.h"

static const struct pl_source_op *const op = &pl_source_range;

static void set(int64_t *params, int64_t count, int64_t start)
{
	PARAM(int64_t, op->params, params, "count") = count;
	PARAM(int64_t, op->params, params, "start") = start;
}

Test(sources_range, lists_and_reads)
{
	int64_t params[4];
	struct pl_source_field fields[PL_FIELDS_MAX];
	struct pl_listing_writer w;
	struct pl_sample sample = {0};
	struct pl_scratch scratch;
	const int field[] = {5};
	const int nobody[] = {-1};
	char name[32];
	int n;

	set(params, 1000000, -3);
	cr_expect_eq(op->check(params, NULL), 0);
	cr_expect_eq(op->fields(params, "/", fields, &n, NULL), 0);
	cr_expect_eq(n, 1);
	cr_expect_str_eq(fields[0].name, "value");
	cr_expect(fields[0].is_known && fields[0].type.dtype == PL_I64 && fields[0].type.rank == 0);
	pl_listing_writer_init(&w);
	cr_expect_eq(op->list(params, "/", &w, NULL), 0);
	cr_expect_eq(w.n_records, 1000000);
	pl_scratch_init(&scratch, 4096);
	sample.scratch = &scratch;
	cr_expect_eq(op->read(params, NULL, NULL, 999999, field, true, &sample, NULL), 0);
	cr_expect_eq(*(int64_t *)sample.value[5].data, 999996);
	cr_expect_eq(op->read(params, NULL, NULL, 0, nobody, true, &sample, NULL), 0);
	op->describe(params, NULL, 2, name, sizeof(name));
	cr_expect_str_eq(name, "value -1");
	pl_scratch_finish(&scratch);
}

Test(sources_range, a_sample_without_room_is_an_error)
{
	int64_t params[4];
	struct pl_sample sample = {0};
	struct pl_scratch scratch;
	struct pl_err err = {0};
	const int field[] = {0};

	set(params, 10, 0);
	pl_scratch_init(&scratch, 1);
	sample.scratch = &scratch;
	cr_expect_eq(op->read(params, NULL, NULL, 0, field, true, &sample, &err), -ENOMEM);
	expect_text(err.text, "no memory for a value");
	pl_scratch_finish(&scratch);
}

Test(sources_range, values_stay_within_64_bits)
{
	int64_t params[4];
	struct pl_err err = {0};

	set(params, 1, INT64_MAX);
	cr_expect_eq(op->check(params, &err), -EINVAL);
	expect_text(err.text, "go beyond 64 bits");
	set(params, 1, INT64_MAX - 1);
	cr_expect_eq(op->check(params, &err), 0);
}
