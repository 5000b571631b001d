/* daemon/sources/tfrecord.c - tf.train.Example messages in TFRecord files. */
/*
 * Every CRC is checked: that of a record's length when the file is listed, that of its bytes when
 * it is read. Files may be compressed (gzip, zstd, xz, told by their first bytes); those are read
 * forwards, so shuffle them by blocks: `shuffle: {block: ...}`. A file that is cut or damaged gives
 * the records before that place and then a bad sample, which `on_error` decides about; a file that
 * begins with no record ends the listing. A feature that a record lacks is an error of that record.
 * SequenceExamples are refused by name.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/sources/any_place.h"
#include "daemon/sources/crc32c.h"
#include "daemon/sources/table.h"
#include "daemon/sources/tfrecord_fill.h"
#include "daemon/sources/tfrecord_list.h"
#include "daemon/sources/tfrecord_scan.h"

struct tfrecord_params {
	const char *path;
	struct pl_param_text_map fields;
	const char *index;
};

static const struct pl_param params[] = {
	{
		.key = "path",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct tfrecord_params, path),
		.help = "a file, a glob, or a range as in train-{00000..01023}; also compressed",
		.is_obvious = true,
	},
	{
		.key = "fields",
		.kind = PL_PARAM_TEXT_MAP,
		.offset = offsetof(struct tfrecord_params, fields),
		.help = "name: TYPE FEATURE, as in {data: bytes image/encoded, label: i64 "
			"image/class/label}",
	},
	{
		.key = "index",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct tfrecord_params, index),
		.def = "auto",
		.help = "where indexes of large files are kept: auto (beside them as FILE.plidx, "
			"else in a cache), none, or a folder",
		.is_tuning = true,
	},
	{0},
};

static bool has_text(const char *text)
{
	return text && *text;
}

static int make_fields(
	const struct tfrecord_params *p, struct pl_field_specs *specs, struct pl_err *err)
{
	int r = pl_field_specs_parse(specs, &p->fields, err);

	return r ? r : pl_tfrecord_fill_check(specs, err);
}

static int tfrecord_check(void *data, struct pl_err *err)
{
	const struct tfrecord_params *p = data;
	struct pl_field_specs specs;

	if (!has_text(p->path))
		return pl_err_set(err, -EINVAL,
			"path is empty: name a file, or many as in train-{00000..01023}");
	if (!has_text(p->index))
		return pl_err_set(err, -EINVAL, "index is empty: auto, none or a folder");
	return make_fields(p, &specs, err);
}

static int tfrecord_fields(const void *data, const char *dir, struct pl_source_field *fields,
	int *n, struct pl_err *err)
{
	const struct tfrecord_params *p = data;
	struct pl_field_specs specs;
	int r = make_fields(p, &specs, err);

	if (r)
		return r;
	for (int i = 0; i < specs.n; i++)
		fields[i] =
			(struct pl_source_field){.name = specs.v[i].name, .type = specs.v[i].type};
	*n = specs.n;
	return 0;
}

static int list_files(const void *data, const char *dir, bool only_first,
	struct pl_listing_writer *w, struct pl_err *err)
{
	const struct tfrecord_params *p = data;
	struct pl_tfrecord_listing l = {p->path, dir, p->index, only_first};

	return pl_tfrecord_list(&l, w, err);
}

static int tfrecord_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_files(data, dir, false, w, err);
}

static int tfrecord_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_files(data, dir, true, w, err);
}

struct tfrecord_state {
	struct pl_field_specs specs;
	struct pl_record_listing records;
	struct pl_any_place files;
};

static void tfrecord_close(void *state)
{
	struct tfrecord_state *s = state;

	if (!s)
		return;
	pl_any_place_finish(&s->files);
	free(s);
}

static int tfrecord_open(
	const void *data, const struct pl_listing *listing, void **state, struct pl_err *err)
{
	const struct tfrecord_params *p = data;
	struct tfrecord_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	pl_any_place_init(&s->files, &s->records);
	r = make_fields(p, &s->specs, err);
	if (!r)
		r = pl_record_listing_open(&s->records, listing, err);
	if (r)
		free(s);
	else
		*state = s;
	return r;
}

/* The record's bytes, in scratch memory. */
static int read_message(struct tfrecord_state *s, size_t file, uint64_t at,
	struct pl_scratch *scratch, struct pl_bytes_view *message, struct pl_err *err)
{
	uint8_t head[PL_TFRECORD_HEAD];
	uint8_t *to;
	uint64_t n;
	uint32_t crc;
	int r = pl_any_place_read(&s->files, file, at, head, sizeof(head), err);

	if (r)
		return r;
	if (!pl_tfrecord_head(head, &n))
		return pl_err_set(err, -EBADMSG, "the CRC of its length is wrong");
	to = n < scratch->limit - scratch->taken
		     ? pl_scratch_alloc(scratch, (size_t)n + PL_TFRECORD_FOOT)
		     : NULL;
	if (!to)
		return pl_err_set(err, -EMSGSIZE,
			"%llu bytes are more than the %zu bytes a sample may take",
			(unsigned long long)n, scratch->limit);
	r = pl_any_place_read(
		&s->files, file, at + PL_TFRECORD_HEAD, to, (size_t)n + PL_TFRECORD_FOOT, err);
	if (r)
		return r;
	memcpy(&crc, to + n, sizeof(crc));
	if (crc != pl_crc32c_mask(pl_crc32c(to, (size_t)n)))
		return pl_err_set(
			err, -EBADMSG, "the CRC of its %llu bytes is wrong", (unsigned long long)n);
	*message = (struct pl_bytes_view){to, to + n};
	return 0;
}

static int read_fault(const struct pl_listing *listing, uint64_t place, struct pl_err *err)
{
	size_t n;
	const char *text = pl_listing_section_at(listing, PL_TFRECORD_SECTION_FAULTS, &n);
	uint64_t at = place & ~PL_TFRECORD_FAULT;

	if (at >= n)
		return pl_err_set(err, -EINVAL, "the listing is broken");
	return pl_err_set(err, -EBADMSG, "%.*s", (int)strnlen(text + at, n - at), text + at);
}

static int read_record(struct tfrecord_state *s, const struct pl_listing *listing, uint64_t index,
	const int *field, struct pl_sample *sample, struct pl_err *err)
{
	size_t file = pl_record_listing_file_of(&s->records, index);
	uint64_t place = s->records.place[index];
	struct pl_bytes_view message;
	int r;

	if (place & PL_TFRECORD_FAULT)
		return read_fault(listing, place, err);
	r = read_message(s, file, place, sample->scratch, &message, err);
	if (!r)
		r = pl_tfrecord_fill(&s->specs, message, field, sample, err);
	if (r)
		pl_err_prefix(err, "record %llu at byte %llu: ",
			(unsigned long long)(index - s->records.file[file].first),
			(unsigned long long)place);
	return r;
}

static int tfrecord_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	struct tfrecord_state *s = state;
	char quoted[1024];
	int r;

	if (index >= s->records.n_records)
		return pl_err_set(
			err, -EINVAL, "the listing has no record %llu", (unsigned long long)index);
	if (known_only)
		return 0;
	r = read_record(s, listing, index, field, sample, err);
	if (r)
		pl_err_prefix(err, "%s: ",
			pl_err_quote(quoted, sizeof(quoted),
				pl_record_listing_path(&s->records,
					pl_record_listing_file_of(&s->records, index))));
	return r;
}

static void tfrecord_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	struct pl_record_listing records;
	const char *path;
	const char *slash;
	size_t file;

	if (pl_record_listing_open(&records, listing, NULL) || index >= records.n_records) {
		snprintf(out, n, "record %llu", (unsigned long long)index);
		return;
	}
	file = pl_record_listing_file_of(&records, index);
	path = pl_record_listing_path(&records, file);
	slash = strrchr(path, '/');
	snprintf(out, n, "%s: record %llu", slash ? slash + 1 : path,
		(unsigned long long)(index - records.file[file].first));
}

const struct pl_source_op pl_source_tfrecord = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "tfrecord",
	.help = "tf.train.Example messages in TFRecord files",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct tfrecord_params),
	.check = tfrecord_check,
	.fields = tfrecord_fields,
	.list = tfrecord_list,
	.list_first = tfrecord_list_first,
	.open = tfrecord_open,
	.close = tfrecord_close,
	.read = tfrecord_read,
	.describe = tfrecord_describe,
};
