/* daemon/sources/parts.c - several sources inside one listing: what concat and mix share. */
#include "daemon/sources/parts.h"

#include <errno.h>
#include <stdio.h>

#define ALIKE "bring the same fields by to: and fields:, for by_source is not in this build yet"

enum { SECTION_ENTRIES = 1, SECTION_LISTINGS, SECTION_MAP };

static const char *name_of(const struct pl_source_field *field)
{
	return field->name ? field->name : field->own_name;
}

static int find(const struct pl_source_field *fields, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(name_of(&fields[i]), name) == 0)
			return i;
	return -1;
}

static int part_fields(const struct pl_source_part *part, const char *dir,
	struct pl_source_field *fields, int *n, struct pl_err *err)
{
	int r;

	memset(fields, 0, PL_FIELDS_MAX * sizeof(*fields));
	*n = 0;
	r = part->op->fields(part->params, dir, fields, n, err);
	if (r < 0)
		pl_err_prefix(err, "in '%s': ", part->name);
	return r;
}

/* Makes `all` what it and the part's field have in common. */
static int merge(const struct pl_source_part *part, struct pl_source_field *all,
	const struct pl_source_field *field, struct pl_err *err)
{
	struct pl_type *a = &all->type;
	const struct pl_type *b = &field->type;
	char have[200], want[200];

	if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank)
		return pl_err_set(err, -EINVAL,
			"in '%s': field '%s' is %s, in the first source %s: make them alike",
			part->name, name_of(field), pl_type_format(have, sizeof(have), b),
			pl_type_format(want, sizeof(want), a));
	for (int d = 0; d < a->rank; d++)
		a->shape[d] = a->shape[d] == b->shape[d] ? a->shape[d] : -1;
	all->is_known = all->is_known && field->is_known;
	return 0;
}

static int merge_part(const struct pl_source_part *part, struct pl_source_field *all, int n_all,
	const struct pl_source_field *fields, int n, struct pl_err *err)
{
	for (int i = 0; i < n_all; i++) {
		int at = find(fields, n, name_of(&all[i]));
		int r = at < 0 ? pl_err_set(err, -EINVAL,
					 "'%s' has no field '%s', which the first source "
					 "has: " ALIKE,
					 part->name, name_of(&all[i]))
			       : merge(part, &all[i], &fields[at], err);

		if (r)
			return r;
	}
	for (int i = 0; i < n; i++)
		if (find(all, n_all, name_of(&fields[i])) < 0)
			return pl_err_set(err, -EINVAL,
				"'%s' has a field '%s', which the first source hasn't: " ALIKE,
				part->name, name_of(&fields[i]));
	return 0;
}

int pl_parts_fields(const struct pl_param_sources *parts, const char *dir,
	struct pl_source_field *fields, int *n, struct pl_err *err)
{
	PL_AUTO_FREE struct pl_source_field *other = calloc(PL_FIELDS_MAX, sizeof(*other));
	int r = other ? part_fields(&parts->v[0], dir, fields, n, err)
		      : pl_err_set(err, -ENOMEM, "out of memory");

	for (int i = 1; i < parts->n && !r; i++) {
		int n_other = 0;

		r = part_fields(&parts->v[i], dir, other, &n_other, err);
		if (!r)
			r = merge_part(&parts->v[i], fields, *n, other, n_other, err);
	}
	return r;
}

/* The same class names as the parts before, or the first's. */
static int take_classes(const struct pl_source_part *part, bool is_first,
	struct pl_listing_writer *w, const struct pl_listing_writer *inner, struct pl_err *err)
{
	const struct pl_listing_section *mine = &w->section[0];
	const struct pl_listing_section *its = &inner->section[0];

	if (is_first) {
		w->n_classes = inner->n_classes;
		return pl_listing_append(w, 0, its->data, its->used);
	}
	if (mine->used != its->used || w->n_classes != inner->n_classes ||
		(its->used && memcmp(mine->data, its->data, its->used) != 0))
		return pl_err_set(err, -EINVAL,
			"'%s' has other classes than the first source, so that its labels would "
			"mean others: give all the same file by classes:",
			part->name);
	return 0;
}

static int list_part(const struct pl_param_sources *parts, int i, const char *dir, bool only_first,
	struct pl_listing_writer *w, struct pl_err *err)
{
	const struct pl_source_part *part = &parts->v[i];
	PL_CLEANUP(pl_listing_writer_finish) struct pl_listing_writer inner;
	struct pl_part_entry entry = {.offset = w->section[SECTION_LISTINGS].used};
	int r;

	pl_listing_writer_init(&inner);
	r = (only_first && part->op->list_first ? part->op->list_first : part->op->list)(
		part->params, dir, &inner, err);
	if (r < 0) {
		pl_err_prefix(err, "in '%s': ", part->name);
		return r;
	}
	r = take_classes(part, i == 0, w, &inner, err);
	if (!r)
		r = pl_listing_append_image(w, SECTION_LISTINGS, &inner);
	entry.bytes = w->section[SECTION_LISTINGS].used - entry.offset;
	entry.n_records = inner.n_records;
	if (!r)
		r = pl_listing_append(w, SECTION_ENTRIES, &entry, sizeof(entry));
	if (r == -ENOMEM)
		return pl_err_set(err, r, "out of memory for the listing");
	w->n_records += inner.n_records;
	return r;
}

/* Which field of the whole each of the parts' is. */
static int list_map(const struct pl_param_sources *parts, const char *dir,
	struct pl_listing_writer *w, struct pl_err *err)
{
	PL_AUTO_FREE struct pl_source_field *all = calloc(2 * PL_FIELDS_MAX, sizeof(*all));
	struct pl_source_field *its = all ? all + PL_FIELDS_MAX : NULL;
	int32_t map[PL_FIELDS_MAX];
	int n_all = 0, n = 0;
	int r = all ? pl_parts_fields(parts, dir, all, &n_all, err) : -ENOMEM;

	for (int i = 0; i < parts->n && !r; i++) {
		r = part_fields(&parts->v[i], dir, its, &n, err);
		for (int k = 0; k < PL_FIELDS_MAX && !r; k++)
			map[k] = k < n ? find(all, n_all, name_of(&its[k])) : -1;
		if (!r)
			r = pl_listing_append(w, SECTION_MAP, map, sizeof(map));
	}
	return r == -ENOMEM ? pl_err_set(err, r, "out of memory for the listing") : r;
}

int pl_parts_list(const struct pl_param_sources *parts, const char *dir, bool only_first,
	struct pl_listing_writer *w, struct pl_err *err)
{
	char warning[sizeof(err->text)] = "";
	int r = list_map(parts, dir, w, err);

	for (int i = 0; i < parts->n && !r; i++) {
		r = list_part(parts, i, dir, only_first, w, err);
		if (!r && err && err->text[0] && !warning[0])
			snprintf(warning, sizeof(warning), "%s", err->text);
	}
	if (!r && err)
		pl_err_set(err, 0, "%s", warning);
	return r;
}

/* Part i of a listing, checked. */
static int view_part(
	struct pl_listing *out, const struct pl_listing *listing, int i, struct pl_err *err)
{
	size_t n_entries, n_images;
	const struct pl_part_entry *entry =
		pl_listing_section_at(listing, SECTION_ENTRIES, &n_entries);
	const char *images = pl_listing_section_at(listing, SECTION_LISTINGS, &n_images);

	if ((size_t)i >= n_entries / sizeof(*entry) || entry[i].offset % 64 ||
		entry[i].offset > n_images || entry[i].bytes > n_images - entry[i].offset)
		return pl_err_set(err, -EINVAL, "the listing is not one of several sources");
	return pl_listing_view(out, images + entry[i].offset, entry[i].bytes, err);
}

int pl_parts_open(struct pl_parts *p, const struct pl_param_sources *sources,
	const struct pl_listing *listing, struct pl_err *err)
{
	size_t n_map, n_entries;
	int r = 0;

	*p = (struct pl_parts){.sources = sources};
	p->entry = pl_listing_section_at(listing, SECTION_ENTRIES, &n_entries);
	p->map = pl_listing_section_at(listing, SECTION_MAP, &n_map);
	p->listing = calloc((size_t)sources->n, sizeof(*p->listing));
	p->state = calloc((size_t)sources->n, sizeof(*p->state));
	if (!p->listing || !p->state)
		return pl_err_set(err, -ENOMEM, "out of memory");
	if (n_map != (size_t)sources->n * PL_FIELDS_MAX * sizeof(*p->map))
		return pl_err_set(err, -EINVAL, "the listing is not one of these sources");
	for (int i = 0; i < sources->n && !r; i++) {
		const struct pl_source_part *part = &sources->v[i];

		r = view_part(&p->listing[i], listing, i, err);
		if (!r && part->op->open)
			r = part->op->open(part->params, &p->listing[i], &p->state[i], err);
	}
	return r;
}

void pl_parts_close(struct pl_parts *p)
{
	for (int i = 0; p->state && i < p->sources->n; i++)
		if (p->state[i] && p->sources->v[i].op->close)
			p->sources->v[i].op->close(p->state[i]);
	free(p->listing);
	free(p->state);
	*p = (struct pl_parts){0};
}

int pl_parts_read(struct pl_parts *p, int part, uint64_t index, const int *field, bool known_only,
	struct pl_sample *sample, struct pl_err *err)
{
	const struct pl_source_part *source = &p->sources->v[part];
	const int32_t *map = p->map + (size_t)part * PL_FIELDS_MAX;
	int its[PL_FIELDS_MAX];
	int r;

	for (int i = 0; i < PL_FIELDS_MAX; i++)
		its[i] = map[i] >= 0 && map[i] < PL_FIELDS_MAX ? field[map[i]] : -1;
	sample->where.source = source->name;
	r = source->op->read(source->params, p->state[part], &p->listing[part], index, its,
		known_only, sample, err);
	if (r < 0)
		pl_err_prefix(err, "%s: ", source->name);
	return r;
}

void pl_parts_describe(const struct pl_param_sources *sources, const struct pl_listing *listing,
	int part, uint64_t index, char *out, size_t n)
{
	const struct pl_source_part *source = &sources->v[part];
	struct pl_listing inner;
	int at = snprintf(out, n, "%s: ", source->name);

	if (at < 0 || (size_t)at >= n)
		return;
	if (view_part(&inner, listing, part, NULL))
		snprintf(out + at, n - (size_t)at, "record %llu", (unsigned long long)index);
	else
		source->op->describe(source->params, &inner, index, out + at, n - (size_t)at);
}
