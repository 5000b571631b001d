/* daemon/sources/list.c - values written in the pipeline file, one a record. */
#include <errno.h>
#include <stdio.h>

#include "daemon/kit/listing.h"
#include "daemon/kit/trace.h"
#include "daemon/sources/table.h"

struct list_params {
	struct pl_param_values values;
};

static const struct pl_param params[] = {
	{
		.key = "values",
		.kind = PL_PARAM_VALUES,
		.offset = offsetof(struct list_params, values),
		.help = "all integers, all fractions or all texts",
		.is_obvious = true,
	},
	{0},
};

static int list_check(void *data, struct pl_err *err)
{
	const struct list_params *p = data;

	if (p->values.n < 1)
		return pl_err_set(err, -EINVAL, "a list needs at least one value");
	return 0;
}

static int list_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	const struct list_params *p = data;

	fields[0] = (struct pl_source_field){.name = "value", .is_known = true};
	fields[0].type =
		p->values.dtype ? pl_type_scalar(p->values.dtype) : pl_type_bytes(PL_KIND_TEXT);
	*n = 1;
	return 0;
}

static int list_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	const struct list_params *p = data;

	w->n_records = (uint64_t)p->values.n;
	return 0;
}

/* The value where the plan keeps it: it lives longer than any sample. */
static struct pl_tensor value_at(const struct pl_param_values *values, uint64_t index)
{
	struct pl_tensor t = {.dtype = values->dtype};

	if (values->dtype == PL_I64) {
		t.data = (void *)(uintptr_t)&values->integers[index];
	} else if (values->dtype == PL_F64) {
		t.data = (void *)(uintptr_t)&values->floats[index];
	} else {
		t.data = (void *)(uintptr_t)values->texts[index];
		t.dtype = PL_U8;
		t.rank = 1;
		t.shape[0] = (int64_t)strlen(values->texts[index]);
		t.stride[0] = 1;
	}
	return t;
}

static int list_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	const struct list_params *p = data;

	if (field[0] < 0)
		return 0;
	if (index >= (uint64_t)p->values.n)
		return pl_err_set(
			err, -EINVAL, "the list has no record %llu", (unsigned long long)index);
	sample->value[field[0]] = value_at(&p->values, index);
	return 0;
}

static void list_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	const struct list_params *p = data;
	struct pl_tensor value;
	char text[256];

	if (index >= (uint64_t)p->values.n) {
		snprintf(out, n, "record %llu", (unsigned long long)index);
		return;
	}
	value = value_at(&p->values, index);
	snprintf(out, n, "value %s", pl_trace_format(text, sizeof(text), &value, value.rank == 1));
}

const struct pl_source_op pl_source_list = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "list",
	.help = "the values written here, in the field value",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct list_params),
	.check = list_check,
	.fields = list_fields,
	.list = list_list,
	.read = list_read,
	.describe = list_describe,
};
