/* tests/unit/record_harness.h - lists the files of a record source and reads their records. */
#pragma once

#include "daemon/kit/listing.h"
#include "daemon/kit/text_list.h"
#include "daemon/sources/table.h"
#include "param_at.h"
#include "temp_tree.h"

struct records {
	const struct pl_source_op *op;
	char *params;
	struct pl_listing listing;
	void *state;
	struct pl_scratch scratch;
	struct pl_sample sample;
	struct pl_err err;
	struct pl_source_field field[PL_FIELDS_MAX];
	int n_fields;
	const char *dir;
};

#define RECORD_PARAM(r, type, key) PARAM(type, (r)->op->params, (r)->params, key)

TREE_HELPER void records_set(struct records *r, const struct pl_source_op *op, const char *path)
{
	memset(r, 0, sizeof(*r));
	r->op = op;
	r->dir = tree_root;
	r->params = calloc(1, op->params_size);
	RECORD_PARAM(r, const char *, "path") = path;
	if (op == &pl_source_text)
		RECORD_PARAM(r, const char *, "to") = "text";
	if (op == &pl_source_csv) {
		RECORD_PARAM(r, bool, "header") = true;
		RECORD_PARAM(r, const char *, "delimiter") = ",";
	}
}

TREE_HELPER void records_field(struct records *r, const char *name, const char *type)
{
	struct pl_param_text_map *map = &RECORD_PARAM(r, struct pl_param_text_map, "fields");

	map->v[map->n].key = name;
	map->v[map->n++].text = type;
}

/* What check, fields, list, seal and open said: 0 when records can be read. */
TREE_HELPER int records_list(struct records *r, bool only_first)
{
	struct pl_listing_writer w;
	PL_AUTO_CLOSE int fd = -1;
	int rc = r->op->check(r->params, &r->err);

	if (!rc)
		rc = r->op->fields(r->params, r->dir, r->field, &r->n_fields, &r->err);
	if (rc)
		return rc;
	pl_listing_writer_init(&w);
	rc = (only_first ? r->op->list_first : r->op->list)(r->params, r->dir, &w, &r->err);
	if (rc == 0) {
		fd = pl_listing_seal(&w);
		cr_assert_eq(pl_listing_map(&r->listing, fd, &r->err), 0, "%s", r->err.text);
		rc = r->op->open(r->params, &r->listing, &r->state, &r->err);
		pl_scratch_init(&r->scratch, 16 << 20);
		r->sample.scratch = &r->scratch;
	}
	pl_listing_writer_finish(&w);
	return rc;
}

TREE_HELPER void records_close(struct records *r)
{
	if (r->state)
		r->op->close(r->state);
	pl_listing_unmap(&r->listing);
	pl_scratch_finish(&r->scratch);
	free(r->params);
}

TREE_HELPER uint64_t records_count(const struct records *r)
{
	return r->listing.head->n_records;
}

TREE_HELPER const char *records_name(struct records *r, uint64_t index)
{
	static char name[PATH_MAX];

	r->op->describe(r->params, &r->listing, index, name, sizeof(name));
	return name;
}

TREE_HELPER int records_read(struct records *r, uint64_t index)
{
	int field[PL_FIELDS_MAX];

	for (int i = 0; i < PL_FIELDS_MAX; i++)
		field[i] = i;
	pl_scratch_reset(&r->scratch);
	memset(r->sample.value, 0, sizeof(r->sample.value));
	r->err = (struct pl_err){0};
	return r->op->read(
		r->params, r->state, &r->listing, index, field, false, &r->sample, &r->err);
}

TREE_HELPER size_t records_element(char *out, size_t n, enum pl_dtype dtype, const void *at)
{
	double f64;
	float f32;
	int64_t i64 = 0;
	uint64_t u64 = 0;

	if (dtype == PL_F64) {
		memcpy(&f64, at, sizeof(f64));
		return (size_t)snprintf(out, n, "%.17g", f64);
	}
	if (dtype == PL_F32) {
		memcpy(&f32, at, sizeof(f32));
		return (size_t)snprintf(out, n, "%.9g", (double)f32);
	}
	if (dtype >= PL_I8 && dtype <= PL_I64) {
		int unused = 64 - 8 * (int)pl_dtype_size(dtype);

		memcpy(&i64, at, pl_dtype_size(dtype));
		return (size_t)snprintf(
			out, n, "%lld", (long long)((int64_t)((uint64_t)i64 << unused) >> unused));
	}
	memcpy(&u64, at, pl_dtype_size(dtype));
	return (size_t)snprintf(out, n, "%llu", (unsigned long long)u64);
}

/* A field of the record read last: texts as they are, lists as "a|b", numbers as "[2,2] 1 2 3 4".
 */
TREE_HELPER const char *records_value(struct records *r, int field)
{
	static char out[1 << 16];
	const struct pl_tensor *t = &r->sample.value[field];
	enum pl_kind kind = r->field[field].type.kind;
	size_t at = 0;

	out[0] = '\0';
	if (kind == PL_KIND_TEXT || kind == PL_KIND_JSON) {
		snprintf(out, sizeof(out), "%.*s", (int)t->shape[0], (char *)t->data);
		return out;
	}
	if (kind == PL_KIND_LIST) {
		int64_t n = pl_text_list_count(t->data, (size_t)t->shape[0]);

		cr_assert_geq(n, 0);
		for (uint32_t i = 0; i < n; i++) {
			size_t bytes;
			const char *text = pl_text_list_at(t->data, i, &bytes);

			at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%.*s", i ? "|" : "",
				(int)bytes, text);
		}
		return out;
	}
	for (int d = 0; d < t->rank; d++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%lld%s", d ? "," : "[",
			(long long)t->shape[d], d + 1 == t->rank ? "]" : "");
	for (int64_t i = 0; i < pl_tensor_count(t); i++) {
		out[at] = ' ';
		at += i || t->rank;
		at += records_element(out + at, sizeof(out) - at, t->dtype,
			(char *)t->data + (size_t)i * pl_dtype_size(t->dtype));
	}
	return out;
}

/* Reads record `index` and compares its fields with the texts that follow. */
#define expect_record(r, index, ...)                                                               \
	do {                                                                                       \
		static const char *const wanted_[] = {__VA_ARGS__};                                \
		cr_assert_eq(records_read(r, index), 0, "%s: %s", records_name(r, index),          \
			(r)->err.text);                                                            \
		for (int i_ = 0; i_ < (int)PL_ARRAY_LEN(wanted_); i_++)                            \
			cr_expect_str_eq(records_value(r, i_), wanted_[i_]);                       \
	} while (0)

/* Reading record `index` fails with this in the reason. */
#define expect_bad(r, index, part)                                                                 \
	do {                                                                                       \
		cr_expect_lt(records_read(r, index), 0, "%s is read", records_name(r, index));     \
		expect_text((r)->err.text, part);                                                  \
	} while (0)
