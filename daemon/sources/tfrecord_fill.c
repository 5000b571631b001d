/* daemon/sources/tfrecord_fill.c - the values of a record's fields, made of the features of an
 * Example. */
#include "daemon/sources/tfrecord_fill.h"

#include <errno.h>

#include "daemon/kit/text_list.h"
#include "daemon/sources/number_store.h"

struct filler {
	const struct pl_type *type;
	const struct pl_feature *feature;
	int field;
	struct pl_sample *sample;
	struct pl_err *err;
};

static const char *name_of(const struct pl_field_spec *spec)
{
	return *spec->where ? spec->where : spec->name;
}

int pl_tfrecord_fill_check(const struct pl_field_specs *specs, struct pl_err *err)
{
	for (int i = 0; i < specs->n; i++) {
		const struct pl_type *type = &specs->v[i].type;
		int n_unknown = 0;

		for (int d = 0; d < type->rank; d++)
			n_unknown += type->shape[d] < 0;
		if (n_unknown > 1)
			return pl_err_set(err, -EINVAL,
				"field '%s': a feature is a plain list, so at most one length can "
				"be unknown",
				specs->v[i].name);
	}
	return 0;
}

static const char *kind_name(enum pl_feature_kind kind)
{
	static const char *const names[] = {
		"no list", "a bytes list", "a float list", "an int64 list"};

	return names[kind];
}

static int wrong_kind(const struct filler *f, const char *wanted)
{
	return pl_err_set(f->err, -EINVAL, "it is %s, not %s", kind_name(f->feature->kind), wanted);
}

static void *make(struct filler *f, int rank, const int64_t *shape)
{
	const struct pl_scratch *scratch = f->sample->scratch;
	struct pl_tensor *t = &f->sample->value[f->field];
	size_t bytes = pl_dtype_size(f->type->dtype);
	bool is_good = true;

	*t = (struct pl_tensor){.dtype = f->type->dtype, .rank = rank};
	for (int d = rank - 1; d >= 0; d--) {
		t->shape[d] = shape[d];
		t->stride[d] = (int64_t)bytes;
		is_good = is_good && pl_size_mul(bytes, (size_t)shape[d], &bytes);
	}
	if (is_good && bytes <= scratch->limit - scratch->taken)
		t->data = pl_sample_alloc(f->sample, f->field, bytes);
	if (!t->data)
		pl_err_set(f->err, -EMSGSIZE, "it is more than the %zu bytes a sample may take",
			scratch->limit);
	return t->data;
}

/* Bytes where they are, as a tensor of that shape. */
static void lend(struct filler *f, struct pl_bytes_view bytes, int rank, const int64_t *shape)
{
	struct pl_tensor *t = &f->sample->value[f->field];
	int64_t stride = 1;

	*t = (struct pl_tensor){.data = (void *)(uintptr_t)bytes.at, .dtype = PL_U8, .rank = rank};
	for (int d = rank - 1; d >= 0; d--) {
		t->shape[d] = shape[d];
		t->stride[d] = stride;
		stride *= shape[d];
	}
}

static int fill_bytes(struct filler *f)
{
	struct pl_feature_walk w = {.lists = f->feature->lists};
	struct pl_bytes_view bytes;
	int64_t n;

	if (f->feature->kind != PL_FEATURE_BYTES && f->feature->kind != PL_FEATURE_EMPTY)
		return wrong_kind(f, "a bytes list");
	if (f->feature->n != 1 || !pl_feature_next_bytes(&w, &bytes))
		return pl_err_set(f->err, -EINVAL,
			"it has %llu values, not one (list(text) takes several)",
			(unsigned long long)f->feature->n);
	n = bytes.end - bytes.at;
	lend(f, bytes, 1, &n);
	return 0;
}

static int fill_list(struct filler *f)
{
	struct pl_feature_walk w = {.lists = f->feature->lists};
	struct pl_bytes_view bytes;
	int64_t n;
	char *to;

	if (f->feature->kind != PL_FEATURE_BYTES && f->feature->kind != PL_FEATURE_EMPTY)
		return wrong_kind(f, "a bytes list");
	n = (int64_t)pl_text_list_bytes(f->feature->n, f->feature->n_bytes);
	to = n ? make(f, 1, &n) : NULL;
	if (!to)
		return n ? -EMSGSIZE : pl_err_set(f->err, -EMSGSIZE, "the list is too long");
	pl_text_list_begin(to, (uint32_t)f->feature->n);
	for (uint32_t i = 0; i < f->feature->n && pl_feature_next_bytes(&w, &bytes); i++)
		pl_text_list_put(to, i, bytes.at, (size_t)(bytes.end - bytes.at));
	return 0;
}

/* A picture, or what else is bytes in row order. */
static int fill_raw(struct filler *f)
{
	struct pl_feature_walk w = {.lists = f->feature->lists};
	struct pl_bytes_view bytes;
	int64_t shape[PL_RANK_MAX];
	int r;

	if (f->feature->n != 1 || !pl_feature_next_bytes(&w, &bytes))
		return pl_err_set(f->err, -EINVAL, "it has %llu values, not one",
			(unsigned long long)f->feature->n);
	r = pl_number_shape(f->type, (uint64_t)(bytes.end - bytes.at), shape, f->err);
	if (!r)
		lend(f, bytes, f->type->rank, shape);
	return r;
}

static int fill_ints(struct filler *f, char *to)
{
	struct pl_feature_walk w = {.lists = f->feature->lists};
	size_t size = pl_dtype_size(f->type->dtype);
	int64_t number;

	for (; pl_feature_next_int(&w, &number); to += size)
		if (!pl_number_store_int(f->type->dtype, to, number))
			return pl_err_set(f->err, -ERANGE, "%lld is no %s", (long long)number,
				pl_dtype_name(f->type->dtype));
	return 0;
}

static int fill_floats(struct filler *f, char *to)
{
	struct pl_feature_walk w = {.lists = f->feature->lists};
	size_t size = pl_dtype_size(f->type->dtype);
	float number;

	for (; pl_feature_next_float(&w, &number); to += size) {
		if (f->type->dtype == PL_F32)
			memcpy(to, &number, sizeof(number)); /* a NaN stays the one it was */
		else if (!pl_number_store_real(f->type->dtype, to, (double)number))
			return pl_err_set(f->err, -ERANGE, "%.9g is no %s", (double)number,
				pl_dtype_name(f->type->dtype));
	}
	return 0;
}

static int fill_numbers(struct filler *f)
{
	int64_t shape[PL_RANK_MAX];
	char *to;
	int r;

	if (f->feature->kind == PL_FEATURE_BYTES && f->type->dtype == PL_U8 && f->type->rank > 0)
		return fill_raw(f);
	if (f->feature->kind == PL_FEATURE_BYTES)
		return wrong_kind(f, "an int64 or float list");
	r = pl_number_shape(f->type, f->feature->n, shape, f->err);
	if (r)
		return r;
	to = make(f, f->type->rank, shape);
	if (!to)
		return -EMSGSIZE;
	return f->feature->kind == PL_FEATURE_FLOATS ? fill_floats(f, to) : fill_ints(f, to);
}

static int fill(struct filler *f)
{
	switch (f->type->kind) {
	case PL_KIND_BYTES:
	case PL_KIND_TEXT:
	case PL_KIND_JSON:
		return fill_bytes(f);
	case PL_KIND_LIST:
		return fill_list(f);
	default:
		return fill_numbers(f);
	}
}

static int fill_field(const struct pl_field_spec *spec, const struct pl_feature *feature,
	bool has_it, int field, struct pl_sample *sample, struct pl_err *err)
{
	struct filler f = {&spec->type, feature, field, sample, err};
	int r;

	if (!has_it)
		return pl_err_set(err, -ENOENT, "the record has no feature '%s' (field '%s')",
			name_of(spec), spec->name);
	r = fill(&f);
	if (r)
		pl_err_prefix(err, "feature '%s' (field '%s'): ", name_of(spec), spec->name);
	return r;
}

int pl_tfrecord_fill(const struct pl_field_specs *specs, struct pl_bytes_view message,
	const int *field, struct pl_sample *sample, struct pl_err *err)
{
	const char *name[PL_PARAM_LIST_MAX];
	struct pl_feature feature[PL_PARAM_LIST_MAX];
	bool has_it[PL_PARAM_LIST_MAX];
	int r;

	for (int i = 0; i < specs->n; i++)
		name[i] = name_of(&specs->v[i]);
	r = pl_example_parse(message, (size_t)specs->n, name, feature, has_it, err);
	for (int i = 0; i < specs->n && !r; i++)
		if (field[i] >= 0)
			r = fill_field(&specs->v[i], &feature[i], has_it[i], field[i], sample, err);
	return r;
}
