/* daemon/sources/range.c - counts: one integer a record, without any file. */
#include <errno.h>
#include <stdio.h>

#include "daemon/kit/listing.h"
#include "daemon/sources/table.h"

struct range_params {
	int64_t count;
	int64_t start;
};

static const struct pl_param params[] = {
	{
		.key = "count",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct range_params, count),
		.min = 1,
		.max = 0x1p53,
		.help = "number of records",
		.is_obvious = true,
	},
	{
		.key = "start",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct range_params, start),
		.def = "0",
		.help = "value of the first one",
	},
	{0},
};

static int range_check(void *data, struct pl_err *err)
{
	const struct range_params *p = data;
	int64_t end;

	if (__builtin_add_overflow(p->start, p->count, &end))
		return pl_err_set(err, -EINVAL, "start %lld and count %lld go beyond 64 bits",
			(long long)p->start, (long long)p->count);
	return 0;
}

static int range_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	fields[0] = (struct pl_source_field){
		.name = "value", .type = pl_type_scalar(PL_I64), .is_known = true};
	*n = 1;
	return 0;
}

static int range_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	const struct range_params *p = data;

	w->n_records = (uint64_t)p->count;
	return 0;
}

static int range_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	const struct range_params *p = data;
	int64_t *value;

	if (field[0] < 0)
		return 0;
	value = pl_scratch_alloc(sample->scratch, sizeof(*value));
	if (!value)
		return pl_err_set(err, -ENOMEM, "no memory for a value");
	*value = p->start + (int64_t)index;
	sample->value[field[0]] = (struct pl_tensor){.data = value, .dtype = PL_I64};
	return 0;
}

static void range_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	const struct range_params *p = data;

	snprintf(out, n, "value %lld", (long long)(p->start + (int64_t)index));
}

const struct pl_source_op pl_source_range = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "range",
	.help = "the integers from start on, in the field value",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct range_params),
	.check = range_check,
	.fields = range_fields,
	.list = range_list,
	.read = range_read,
	.describe = range_describe,
};
