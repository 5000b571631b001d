/* tests/unit/declared_harness.h - lists and reads sources whose fields are declared: tar, tfrecord.
 */
#pragma once

#include "daemon/kit/listing.h"
#include "daemon/kit/text_list.h"
#include "daemon/sources/table.h"
#include "tests/unit/param_at.h"
#include "tests/unit/temp_tree.h"

#define RECORD_FIELDS_MAX 16

struct records {
	const struct pl_source_op *op;
	char params[8192];
	char text[1024]; /* the fields' names and types */
	struct pl_source_field field[PL_FIELDS_MAX];
	int n_fields;
	struct pl_listing listing;
	void *state;
	struct pl_scratch scratch;
	struct pl_sample sample;
	struct pl_err err;
	int listed; /* what list returned */
	char warning[2048];
};

/* Sets path and fields, written as "data: bytes jpg|png, label: i64 cls". */
TREE_HELPER void records_set(
	struct records *r, const struct pl_source_op *op, const char *path, const char *fields)
{
	struct pl_param_text_map *map;
	char *at = r->text;

	memset(r, 0, sizeof(*r));
	cr_assert_leq(op->params_size, sizeof(r->params));
	r->op = op;
	PARAM(const char *, op->params, r->params, "path") = path;
	PARAM(const char *, op->params, r->params, "index") = "none";
	if (op == &pl_source_tar) {
		struct pl_param_texts *require = param_at(op->params, r->params, "require");

		*require = (struct pl_param_texts){1, {"all"}};
	}
	map = param_at(op->params, r->params, "fields");
	snprintf(r->text, sizeof(r->text), "%s", fields);
	while (*at) {
		char *end = at + strcspn(at, ",");
		bool is_last = !*end;

		*end = '\0';
		map->v[map->n].key = at;
		at = strchr(at, ':');
		cr_assert_not_null(at);
		*at = '\0';
		map->v[map->n++].text = at + 2;
		at = is_last ? end : end + 1 + (end[1] == ' ');
	}
}

TREE_HELPER int records_list_in(struct records *r, const char *dir, bool only_first)
{
	struct pl_listing_writer w;
	PL_AUTO_CLOSE int fd = -1;

	r->listed = r->op->check(r->params, &r->err);
	if (r->listed)
		return r->listed;
	pl_listing_writer_init(&w);
	r->listed = (only_first ? r->op->list_first : r->op->list)(r->params, dir, &w, &r->err);
	snprintf(r->warning, sizeof(r->warning), "%s", r->err.text);
	if (r->listed == 0) {
		struct pl_err err = {0};

		cr_assert_eq(r->err.code, 0, "%s", r->err.text);
		cr_assert_eq(r->op->fields(r->params, dir, r->field, &r->n_fields, &err), 0);
		fd = pl_listing_seal(&w);
		cr_assert_eq(pl_listing_map(&r->listing, fd, &err), 0, "%s", err.text);
		cr_assert_eq(
			r->op->open(r->params, &r->listing, &r->state, &err), 0, "%s", err.text);
		pl_scratch_init(&r->scratch, 64 << 20);
		r->sample.scratch = &r->scratch;
	}
	pl_listing_writer_finish(&w);
	return r->listed;
}

TREE_HELPER int records_list(struct records *r)
{
	return records_list_in(r, tree_root, false);
}

TREE_HELPER void records_open(
	struct records *r, const struct pl_source_op *op, const char *path, const char *fields)
{
	records_set(r, op, path, fields);
	cr_assert_eq(records_list(r), 0, "%s", r->err.text);
}

TREE_HELPER void records_close(struct records *r)
{
	if (r->listed == 0) {
		r->op->close(r->state);
		pl_listing_unmap(&r->listing);
		pl_scratch_finish(&r->scratch);
	}
}

TREE_HELPER uint64_t records_n(const struct records *r)
{
	return r->listing.head->n_records;
}

TREE_HELPER int records_read(struct records *r, uint64_t index)
{
	static const int field[PL_FIELDS_MAX] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

	pl_scratch_reset(&r->scratch);
	memset(r->sample.value, 0, sizeof(r->sample.value));
	r->err = (struct pl_err){0};
	return r->op->read(
		r->params, r->state, &r->listing, index, field, false, &r->sample, &r->err);
}

TREE_HELPER const char *records_key(const struct records *r, uint64_t index)
{
	static char key[8192];

	pl_source_key(r->op, r->params, &r->listing, index, key, sizeof(key));
	return key;
}

TREE_HELPER const char *records_name(const struct records *r, uint64_t index)
{
	static char name[8192];

	r->op->describe(r->params, &r->listing, index, name, sizeof(name));
	return name;
}

/* Bytes as text when they are short and readable, else <their number>. */
TREE_HELPER size_t records_format_bytes(char *out, size_t n, const char *data, size_t bytes)
{
	bool is_text = bytes <= 32;

	for (size_t i = 0; i < bytes && is_text; i++)
		is_text = (data[i] >= ' ' && data[i] < 127) || data[i] == '\n';
	if (is_text)
		return (size_t)snprintf(out, n, "%.*s", (int)bytes, data);
	return (size_t)snprintf(out, n, "<%zu>", bytes);
}

TREE_HELPER size_t records_format_number(char *out, size_t n, const struct pl_tensor *t, int64_t i)
{
	const char *at = (const char *)t->data + i * (int64_t)pl_dtype_size(t->dtype);
	int64_t whole = 0;
	float single;
	double real;

	memcpy(&single, at, t->dtype == PL_F32 ? 4 : 0);
	memcpy(&real, at, t->dtype == PL_F64 ? 8 : 0);
	if (t->dtype == PL_F32)
		return (size_t)snprintf(out, n, "%g", (double)single);
	if (t->dtype == PL_F64)
		return (size_t)snprintf(out, n, "%g", real);
	memcpy(&whole, at, pl_dtype_size(t->dtype));
	return (size_t)snprintf(out, n, "%lld", (long long)whole);
}

TREE_HELPER size_t records_format_value(
	char *out, size_t n, const struct pl_tensor *t, const struct pl_type *type)
{
	size_t at = 0;

	if (type->kind == PL_KIND_LIST) {
		int64_t count = pl_text_list_count(t->data, (size_t)t->shape[0]);

		cr_assert_geq(count, 0);
		for (uint32_t i = 0; i < count; i++) {
			size_t bytes;
			const char *text = pl_text_list_at(t->data, i, &bytes);

			at += (size_t)snprintf(out + at, n - at, i ? "|" : "");
			at += records_format_bytes(out + at, n - at, text, bytes);
		}
		return at;
	}
	if (type->rank == 1 && type->kind != PL_KIND_TENSOR)
		return records_format_bytes(out, n, t->data, (size_t)t->shape[0]);
	for (int64_t i = 0; i < pl_tensor_count(t); i++) {
		at += (size_t)snprintf(out + at, n - at, i ? "," : "");
		at += records_format_number(out + at, n - at, t, i);
	}
	return at;
}

/* One record, of TFRecords by its number: "key field=value field=value", or "key ERROR". */
TREE_HELPER size_t records_format(struct records *r, uint64_t index, char *out, size_t n)
{
	const char *key = records_key(r, index);
	const char *number = strstr(key, ": record ");
	size_t at = (size_t)snprintf(out, n, "%.40s", number ? number + 9 : key);

	if (records_read(r, index)) {
		cr_expect_neq(r->err.text[0], '\0');
		return at + (size_t)snprintf(out + at, n - at, " ERROR");
	}
	for (int i = 0; i < r->n_fields; i++) {
		const struct pl_tensor *t = &r->sample.value[i];

		cr_assert(t->data && t->dtype == r->field[i].type.dtype &&
				  t->rank == r->field[i].type.rank,
			"%s", r->field[i].name);
		at += (size_t)snprintf(out + at, n - at, " %s=", r->field[i].name);
		at += records_format_value(out + at, n - at, t, &r->field[i].type);
	}
	return at;
}

/* All of them, with "; " between. Static. The last error stays in r->err. */
TREE_HELPER const char *records_all(struct records *r)
{
	static char all[16384];
	struct pl_err last = {0};
	size_t at = 0;

	all[0] = '\0';
	for (uint64_t i = 0; i < records_n(r); i++) {
		at += (size_t)snprintf(all + at, sizeof(all) - at, i ? "; " : "");
		at += records_format(r, i, all + at, sizeof(all) - at);
		cr_assert_lt(at, sizeof(all));
		if (r->err.code)
			last = r->err;
	}
	r->err = last;
	return all;
}
