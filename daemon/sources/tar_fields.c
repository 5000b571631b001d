/* daemon/sources/tar_fields.c - which members of a sample its fields are made of. */
#include "daemon/sources/tar_fields.h"

#include <errno.h>
#include <strings.h>

int pl_tar_slot_find(const struct pl_tar_slot *slot, const char *suffix, size_t n)
{
	for (int i = 0; i < slot->n; i++)
		if (slot->suffix[i].n == n && !strncasecmp(slot->suffix[i].text, suffix, n))
			return i;
	return -1;
}

/* Length of the suffix at the front of `text`: up to and with its first part "json", else all. */
static size_t suffix_length(const char *text, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t part = 0;

		while (at + part < n && text[at + part] != '.' && text[at + part] != '[')
			part++;
		if (part == 4 && !strncasecmp(text + at, "json", 4))
			return at + part;
		at += part + 1;
	}
	return n;
}

static int bad_where(const struct pl_field_spec *spec, const char *reason, struct pl_err *err)
{
	return pl_err_set(err, -EINVAL, "field '%s': '%s': %s", spec->name, spec->where, reason);
}

/* The path behind a suffix, up to the end of `where`. */
static int read_path(struct pl_tar_fields *f, int i, const char *text, struct pl_err *err)
{
	const struct pl_field_spec *spec = &f->specs.v[i];
	int r;

	f->has_path[i] = true;
	if (f->slot_of[i] > 0 || strchr(text, '|'))
		return bad_where(spec, "a JSON path needs a single suffix", err);
	r = pl_json_path_parse(&f->path[i], text, err);
	if (r)
		pl_err_prefix(err, "field '%s': ", spec->name);
	return r;
}

/* Cuts `where` into suffixes and the path behind the only one. */
static int cut_where(struct pl_tar_fields *f, int i, struct pl_tar_slot *slot, struct pl_err *err)
{
	const struct pl_field_spec *spec = &f->specs.v[i];
	const char *at = *spec->where ? spec->where : spec->name;

	f->has_path[i] = false;
	for (slot->n = 0;; at++) {
		size_t n = strcspn(at, "|");
		size_t length = suffix_length(at, n);

		if (slot->n == PL_TAR_SUFFIXES_MAX)
			return bad_where(spec, "more than 16 suffixes", err);
		if (n == 0 || *at == '.' || at[length - 1] == '.' || strcspn(at, "/ ") < length)
			return bad_where(spec, "not a suffix such as jpg, seg.png or jpg|png", err);
		f->slot_of[i] = slot->n;
		slot->suffix[slot->n++] = (struct pl_tar_suffix){at, length};
		if (length < n)
			return read_path(f, i, at + length, err);
		at += n;
		if (!*at)
			return 0;
	}
}

static bool is_same(const struct pl_tar_slot *a, const struct pl_tar_slot *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (a->suffix[i].n != b->suffix[i].n ||
			strncasecmp(a->suffix[i].text, b->suffix[i].text, a->suffix[i].n) != 0)
			return false;
	return true;
}

static int find_slot(struct pl_tar_fields *f, const struct pl_tar_slot *slot)
{
	int i = 0;

	while (i < f->n_slots && !is_same(&f->slot[i], slot))
		i++;
	if (i == f->n_slots)
		f->slot[f->n_slots++] = *slot;
	return i;
}

/* What a field that is not there would be: nothing, or not a number. */
static bool has_absence(const struct pl_type *type)
{
	switch (type->kind) {
	case PL_KIND_BYTES:
	case PL_KIND_TEXT:
	case PL_KIND_JSON:
		return true;
	default:
		return type->rank == 0 && (type->dtype == PL_F32 || type->dtype == PL_F64);
	}
}

static int find_field(const struct pl_tar_fields *f, const char *name)
{
	for (int i = 0; i < f->specs.n; i++)
		if (!strcmp(f->specs.v[i].name, name))
			return i;
	return -1;
}

static int apply_require(
	struct pl_tar_fields *f, const struct pl_param_texts *require, struct pl_err *err)
{
	bool is_required[PL_PARAM_LIST_MAX] = {0};
	bool is_all = require->n == 1 && !strcmp(require->v[0], "all");

	for (int i = 0; i < require->n && !is_all; i++) {
		int field = find_field(f, require->v[i]);

		if (field < 0)
			return pl_err_set(err, -EINVAL,
				"require: '%s' is none of the fields (or write require: all)",
				require->v[i]);
		is_required[field] = true;
	}
	for (int i = 0; i < f->specs.n; i++) {
		const struct pl_field_spec *spec = &f->specs.v[i];

		if (is_all || is_required[i])
			f->slot[f->slot_of[i]].is_required = true;
		else if (!has_absence(&spec->type))
			return pl_err_set(err, -EINVAL,
				"require: '%s' must be among them: only bytes, text, json, f32 and "
				"f64 can be left out by a sample",
				spec->name);
	}
	return 0;
}

int pl_tar_fields_init(struct pl_tar_fields *f, const struct pl_param_text_map *map,
	const struct pl_param_texts *require, struct pl_err *err)
{
	int r = pl_field_specs_parse(&f->specs, map, err);

	f->n_slots = 0;
	for (int i = 0; i < f->specs.n && !r; i++) {
		struct pl_tar_slot slot = {.field = f->specs.v[i].name};

		r = cut_where(f, i, &slot, err);
		if (!r)
			f->slot_of[i] = find_slot(f, &slot);
	}
	return r ? r : apply_require(f, require, err);
}
