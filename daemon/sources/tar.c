/* daemon/sources/tar.c - samples in tar archives (WebDataset): members that share a name but for
 * what follows its first dot. */
/*
 * A sample is the members `KEY.SUFFIX` that stand side by side in one archive; the key is the path
 * up to the first dot of its last part. Equal keys in two archives are two samples; equal keys in
 * one, apart, are an error. Suffixes are compared without regard to case, and of `jpg|png` the
 * first that a sample has is taken. Plain archives are read in any order. Compressed ones (gzip,
 * zstd, xz, told by their first bytes) are read forwards, so shuffle those by blocks:
 * `shuffle: {block: ...}`.
 *
 * An archive that is cut or damaged gives the samples before that place; the one it happened in is
 * a bad sample, which `on_error` decides about. A file that is no archive at all ends the listing.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/sources/table.h"
#include "daemon/sources/tar_fill.h"
#include "daemon/sources/tar_list.h"

struct tar_params {
	const char *path;
	struct pl_param_text_map fields;
	struct pl_param_texts require;
	const char *index;
};

static const struct pl_param params[] = {
	{
		.key = "path",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct tar_params, path),
		.help = "an archive, a glob, or a range as in {0000..1023}.tar; also .tar.gz, "
			".tar.zst and .tar.xz",
		.is_obvious = true,
	},
	{
		.key = "fields",
		.kind = PL_PARAM_TEXT_MAP,
		.offset = offsetof(struct tar_params, fields),
		.help = "name: TYPE SUFFIX, as in {data: bytes jpg|png, label: i64 cls, "
			"width: i64 json.width}",
	},
	{
		.key = "require",
		.kind = PL_PARAM_TEXTS,
		.offset = offsetof(struct tar_params, require),
		.def = "all",
		.help = "fields without which a sample is an error; bytes, text, json that are "
			"not there are empty, f32 and f64 NaN",
	},
	{
		.key = "index",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct tar_params, index),
		.def = "auto",
		.help = "where indexes of large archives are kept: auto (beside them as "
			"FILE.plidx, else in a cache), none, or a folder",
		.is_tuning = true,
	},
	{0},
};

static bool has_text(const char *text)
{
	return text && *text;
}

static int make_fields(const struct tar_params *p, struct pl_tar_fields *f, struct pl_err *err)
{
	int r = pl_tar_fields_init(f, &p->fields, &p->require, err);

	return r ? r : pl_tar_fill_check(f, err);
}

static int tar_check(void *data, struct pl_err *err)
{
	const struct tar_params *p = data;
	struct pl_tar_fields f;

	if (!has_text(p->path))
		return pl_err_set(err, -EINVAL,
			"path is empty: name an archive, or many as in shards/{000..511}.tar");
	if (!has_text(p->index))
		return pl_err_set(err, -EINVAL, "index is empty: auto, none or a folder");
	return make_fields(p, &f, err);
}

static int tar_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	const struct tar_params *p = data;
	struct pl_tar_fields f;
	int r = make_fields(p, &f, err);

	if (r)
		return r;
	for (int i = 0; i < f.specs.n; i++)
		fields[i] = (struct pl_source_field){
			.name = f.specs.v[i].name, .type = f.specs.v[i].type};
	*n = f.specs.n;
	return 0;
}

static int list_archives(const void *data, const char *dir, bool only_first,
	struct pl_listing_writer *w, struct pl_err *err)
{
	const struct tar_params *p = data;
	struct pl_tar_fields f;
	struct pl_tar_listing l = {.path = p->path,
		.dir = dir,
		.index = p->index,
		.fields = &f,
		.only_first = only_first};
	int r = make_fields(p, &f, err);

	return r ? r : pl_tar_list(&l, w, err);
}

static int tar_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_archives(data, dir, false, w, err);
}

static int tar_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_archives(data, dir, true, w, err);
}

struct tar_state {
	struct pl_tar_fields fields;
	struct pl_record_listing records;
	struct pl_any_place files;
	struct pl_tar_sample sample;
};

static void tar_close(void *state)
{
	struct tar_state *s = state;

	if (!s)
		return;
	pl_any_place_finish(&s->files);
	free(s);
}

static int tar_open(
	const void *data, const struct pl_listing *listing, void **state, struct pl_err *err)
{
	const struct tar_params *p = data;
	struct tar_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	r = make_fields(p, &s->fields, err);
	if (!r)
		r = pl_record_listing_open(&s->records, listing, err);
	pl_any_place_init(&s->files, &s->records);
	if (r)
		free(s);
	else
		*state = s;
	return r;
}

static int read_sample(struct tar_state *s, const struct pl_listing *listing, uint64_t index,
	const int *field, struct pl_sample *sample, struct pl_err *err)
{
	const struct pl_tar_sample *found = &s->sample;
	size_t file = pl_record_listing_file_of(&s->records, index);
	int r = pl_tar_sample_get(&s->sample, listing, s->records.place[index], &s->fields);

	if (r)
		return pl_err_set(err, r, "the listing is broken");
	if (found->fault)
		return pl_err_set(err, -EBADMSG, "%.*s", (int)found->n_fault, found->fault);
	return pl_tar_fill(&s->fields, &s->files, file, found, field, sample, err);
}

static int tar_read(const void *data, void *state, const struct pl_listing *listing, uint64_t index,
	const int *field, bool known_only, struct pl_sample *sample, struct pl_err *err)
{
	struct tar_state *s = state;
	const struct pl_record_listing *records = &s->records;
	char quoted[1024];
	int r;

	if (index >= records->n_records)
		return pl_err_set(
			err, -EINVAL, "the listing has no record %llu", (unsigned long long)index);
	if (known_only)
		return 0;
	r = read_sample(s, listing, index, field, sample, err);
	if (r)
		pl_err_prefix(err, "%s: ",
			pl_err_quote(quoted, sizeof(quoted),
				pl_record_listing_path(
					records, pl_record_listing_file_of(records, index))));
	return r;
}

/* The record's file and sample; false: no such record. */
static bool find(const struct pl_listing *listing, uint64_t index, const char **path,
	struct pl_tar_sample *sample)
{
	struct pl_record_listing records;

	if (pl_record_listing_open(&records, listing, NULL) || index >= records.n_records)
		return false;
	*path = pl_record_listing_path(&records, pl_record_listing_file_of(&records, index));
	return pl_tar_sample_get(sample, listing, records.place[index], NULL) == 0;
}

static void tar_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	struct pl_tar_sample sample;
	const char *path;
	const char *slash;

	if (!find(listing, index, &path, &sample)) {
		snprintf(out, n, "record %llu", (unsigned long long)index);
		return;
	}
	slash = strrchr(path, '/');
	snprintf(out, n, "%s: %.*s", slash ? slash + 1 : path, (int)sample.n_key, sample.key);
}

static void tar_key(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	struct pl_tar_sample sample;
	const char *path;

	if (find(listing, index, &path, &sample))
		snprintf(out, n, "%.*s", (int)sample.n_key, sample.key);
	else
		snprintf(out, n, "record %llu", (unsigned long long)index);
}

const struct pl_source_op pl_source_tar = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "tar",
	.help = "samples in tar archives, as WebDataset has them: KEY.jpg, KEY.txt, ... side by "
		"side",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct tar_params),
	.check = tar_check,
	.fields = tar_fields,
	.list = tar_list,
	.list_first = tar_list_first,
	.open = tar_open,
	.close = tar_close,
	.read = tar_read,
	.describe = tar_describe,
	.key = tar_key,
};
