/* tests/unit/test_sources_list.c - list gives the values of the file, whatever they are. */
#include <errno.h>

#include "daemon/kit/listing.h"
#include "daemon/sources/table.h"
#include "param_at.h"

static const struct pl_source_op *const op = &pl_source_list;

static const int64_t integers[] = {0, -5, INT64_MAX};
static const double fractions[] = {0.5, 2};
static const char *const texts[] = {"cat", "", "a\nb"};

static struct pl_tensor read_at(struct pl_param_values *values, uint64_t index, int wanted)
{
	struct pl_sample sample = {0};
	struct pl_err err = {0};
	const int field[] = {2};

	cr_expect_eq(op->read(values, NULL, NULL, index, field, true, &sample, &err), wanted);
	if (wanted)
		expect_text(err.text, "the list has no record 3");
	return sample.value[2];
}

static const char *describe(struct pl_param_values *values, uint64_t index)
{
	static char name[64];

	op->describe(values, NULL, index, name, sizeof(name));
	return name;
}

static struct pl_type type_of(struct pl_param_values *values)
{
	struct pl_source_field fields[PL_FIELDS_MAX];
	int n;

	cr_assert_eq(op->params_size, sizeof(*values));
	cr_expect_eq(op->check(values, NULL), 0);
	cr_expect_eq(op->fields(values, "/", fields, &n, NULL), 0);
	cr_expect(n == 1 && fields[0].is_known);
	cr_expect_str_eq(fields[0].name, "value");
	return fields[0].type;
}

Test(sources_list, integers)
{
	struct pl_param_values v = {.n = 3, .dtype = PL_I64, .integers = integers};
	struct pl_listing_writer w;

	cr_expect_eq(type_of(&v).dtype, PL_I64);
	pl_listing_writer_init(&w);
	cr_expect_eq(op->list(&v, "/", &w, NULL), 0);
	cr_expect_eq(w.n_records, 3);
	cr_expect_eq(*(int64_t *)read_at(&v, 2, 0).data, INT64_MAX);
	cr_expect_str_eq(describe(&v, 1), "value -5");
}

Test(sources_list, fractions)
{
	struct pl_param_values v = {.n = 2, .dtype = PL_F64, .floats = fractions};

	cr_expect_eq(type_of(&v).dtype, PL_F64);
	cr_expect_eq(*(double *)read_at(&v, 0, 0).data, 0.5);
	cr_expect_str_eq(describe(&v, 0), "value 0.5");
}

Test(sources_list, texts)
{
	struct pl_param_values v = {.n = 3, .texts = texts};
	struct pl_tensor t;

	cr_expect_eq(type_of(&v).kind, PL_KIND_TEXT);
	t = read_at(&v, 0, 0);
	cr_expect(t.dtype == PL_U8 && t.rank == 1 && t.shape[0] == 3 && t.stride[0] == 1);
	cr_expect(!memcmp(t.data, "cat", 3));
	cr_expect_eq(read_at(&v, 1, 0).shape[0], 0);
	cr_expect_str_eq(describe(&v, 0), "value cat");
	cr_expect_str_eq(describe(&v, 2), "value a\\x0Ab");
}

Test(sources_list, what_is_not_there)
{
	struct pl_param_values v = {.n = 3, .dtype = PL_I64, .integers = integers};
	struct pl_sample sample = {0};
	const int nobody[] = {-1};
	struct pl_err err = {0};

	cr_expect_eq(op->read(&v, NULL, NULL, 0, nobody, true, &sample, &err), 0);
	cr_expect_eq((int)sample.value[0].dtype, 0);
	read_at(&v, 3, -EINVAL);
	cr_expect_str_eq(describe(&v, 3), "record 3");
	v.n = 0;
	cr_expect_eq(op->check(&v, &err), -EINVAL);
	expect_text(err.text, "at least one value");
}
