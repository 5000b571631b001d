/* daemon/sources/tar_samples.c - the samples of archives in a listing: members of one key, side by
 * side. */
#include "daemon/sources/tar_samples.h"

#include <errno.h>
#include <stdio.h>
#include <xxhash.h>

#include "daemon/sources/tar_header.h"

_Static_assert(PL_PARAM_LIST_MAX <= 64, "a sample's slots are the bits of one number");

struct grouper {
	struct pl_listing_writer *w;
	const struct pl_tar_index *index;
	const struct pl_tar_fields *fields;
	struct pl_tar_passed *passed;
	struct pl_err *err;

	uint64_t *seen; /* hashes of keys, 0: free */
	uint64_t seen_mask;

	struct pl_packed record; /* reused */

	/* The sample in hand. */
	bool is_open;
	size_t n_key;
	char key[PL_TAR_NAME_MAX];
	uint64_t has;
	struct pl_tar_part part[PL_PARAM_LIST_MAX];
	char fault[1536];
};

/* Length of the key; 0: the name has no key or no suffix. */
static size_t key_length(const char *name, size_t n)
{
	size_t base = n;
	const char *dot;

	while (base > 0 && name[base - 1] != '/')
		base--;
	dot = memchr(name + base, '.', n - base);
	return !dot || dot == name + base || dot + 1 == name + n ? 0 : (size_t)(dot - name);
}

static int put_part(struct grouper *g, const struct pl_tar_part *part, uint64_t *block)
{
	struct pl_packed *to = &g->record;
	uint64_t at = part->offset / PL_TAR_BLOCK;
	int r = pl_packed_put_signed(to, (int64_t)(at - *block));

	*block = at;
	if (!r)
		r = pl_packed_put(to, part->bytes);
	if (!r)
		r = pl_packed_put(to, (uint64_t)part->suffix << 1 | part->is_sparse);
	if (!r && part->is_sparse)
		r = pl_packed_put_bytes(to, part->map.at, (size_t)(part->map.end - part->map.at));
	return r;
}

static int put_parts(struct grouper *g)
{
	uint64_t block = 0;
	int r = pl_packed_put(&g->record, g->has);

	for (int i = 0; i < g->fields->n_slots && !r; i++)
		if (g->has >> i & 1)
			r = put_part(g, &g->part[i], &block);
	return r;
}

static int put_fault(struct grouper *g)
{
	size_t n = strlen(g->fault);
	int r = pl_packed_put(&g->record, n);

	return r ? r : pl_packed_put_bytes(&g->record, g->fault, n);
}

static int put_sample(struct grouper *g)
{
	bool is_faulty = g->fault[0];
	int r;

	if (!is_faulty && !g->has) {
		g->passed->n_samples++;
		return 0;
	}
	g->record.used = 0;
	r = pl_packed_put(&g->record, (uint64_t)g->n_key << 1 | is_faulty);
	if (!r)
		r = pl_packed_put_bytes(&g->record, g->key, g->n_key);
	if (!r)
		r = is_faulty ? put_fault(g) : put_parts(g);
	if (!r)
		r = pl_record_listing_add(g->w, g->w->section[PL_TAR_SECTION_SAMPLES].used);
	if (!r)
		r = pl_listing_append(g->w, PL_TAR_SECTION_SAMPLES, g->record.data, g->record.used);
	return r ? pl_err_set(g->err, r, "out of memory") : 0;
}

static int begin_seen(struct grouper *g)
{
	uint64_t room = 64;

	while (room < 2 * g->index->n_members)
		room *= 2;
	g->seen = calloc(room, sizeof(*g->seen));
	g->seen_mask = room - 1;
	return g->seen ? 0 : pl_err_set(g->err, -ENOMEM, "out of memory");
}

/* True when the key was not seen before. */
static bool add_seen(struct grouper *g, const char *key, size_t n)
{
	uint64_t hash = XXH3_64bits(key, n);
	uint64_t at;

	hash = hash ? hash : 1;
	for (at = hash & g->seen_mask; g->seen[at] != hash; at = (at + 1) & g->seen_mask) {
		if (g->seen[at] == 0) {
			g->seen[at] = hash;
			return true;
		}
	}
	return false;
}

/* Where the first member of that key stands. */
static uint64_t first_of(const struct grouper *g, const char *key, size_t n)
{
	const struct pl_packed *m = &g->index->members;
	struct pl_tar_index_walk walk = {.left = {m->data, m->data + m->used}};
	struct pl_tar_entry e;

	while (pl_tar_index_next(&walk, &e) > 0)
		if (key_length(e.name, e.n_name) == n && !memcmp(e.name, key, n))
			return e.offset;
	return 0;
}

static int torn(struct grouper *g, const struct pl_tar_entry *e, size_t n)
{
	char key[256];
	char quoted[1024];

	snprintf(key, sizeof(key), "%.*s", (int)n, e->name);
	return pl_err_set(g->err, -EINVAL,
		"the members of key '%s' are apart: some at byte %llu, more at byte %llu, others "
		"between them; write the archive sorted by name (tar --sort=name)",
		pl_err_quote(quoted, sizeof(quoted), key),
		(unsigned long long)first_of(g, e->name, n), (unsigned long long)e->offset);
}

static int begin_sample(struct grouper *g, const struct pl_tar_entry *e, size_t n_key)
{
	int r = g->is_open ? put_sample(g) : 0;

	if (r)
		return r;
	if (!add_seen(g, e->name, n_key))
		return torn(g, e, n_key);
	g->is_open = true;
	g->n_key = n_key;
	memcpy(g->key, e->name, n_key);
	g->has = 0;
	g->fault[0] = '\0';
	return 0;
}

static void set_fault(struct grouper *g, const struct pl_tar_entry *e, const char *text, size_t n)
{
	char quoted[512];

	if (!g->fault[0])
		snprintf(g->fault, sizeof(g->fault), "member '%s': %.*s",
			pl_err_quote(quoted, sizeof(quoted), e->name), (int)n, text);
}

/* The first suffix of a slot that is there is the slot's part, whatever the order in the archive.
 */
static void take_part(struct grouper *g, const struct pl_tar_entry *e, int i, int suffix)
{
	static const char twice[] = "the sample has it twice";
	struct pl_tar_part *part = &g->part[i];
	bool has_it = g->has >> i & 1;

	if (has_it && part->suffix == suffix)
		set_fault(g, e, twice, sizeof(twice) - 1);
	if (has_it && part->suffix <= suffix)
		return;
	g->has |= (uint64_t)1 << i;
	*part = (struct pl_tar_part){.offset = e->offset,
		.bytes = e->bytes,
		.suffix = suffix,
		.is_sparse = e->is_sparse,
		.map = e->map};
}

static int take_member(struct grouper *g, const struct pl_tar_entry *e)
{
	size_t n_key = key_length(e->name, e->n_name);
	int r;

	if (n_key == 0) {
		g->passed->n_names++;
		return 0;
	}
	if (!g->is_open || n_key != g->n_key || memcmp(g->key, e->name, n_key) != 0) {
		r = begin_sample(g, e, n_key);
		if (r)
			return r;
	}
	for (int i = 0; i < g->fields->n_slots; i++) {
		int suffix = pl_tar_slot_find(
			&g->fields->slot[i], e->name + n_key + 1, e->n_name - n_key - 1);

		if (suffix >= 0 && e->fault)
			set_fault(g, e, e->fault, e->n_fault);
		else if (suffix >= 0)
			take_part(g, e, i, suffix);
	}
	return 0;
}

/* The last sample; when the archive is damaged behind it, it may lack a member, so it counts as
 * damaged. */
static int end_samples(struct grouper *g)
{
	static const char unnamed[] = "(damaged)";

	if (g->index->fault && !g->is_open) {
		g->n_key = sizeof(unnamed) - 1;
		memcpy(g->key, unnamed, g->n_key);
	}
	if (g->index->fault)
		snprintf(g->fault, sizeof(g->fault), "%s", g->index->fault);
	return g->is_open || g->index->fault ? put_sample(g) : 0;
}

static int group(struct grouper *g)
{
	const struct pl_packed *m = &g->index->members;
	struct pl_tar_index_walk walk = {.left = {m->data, m->data + m->used}};
	struct pl_tar_entry e;
	int r = begin_seen(g);

	while (!r) {
		r = pl_tar_index_next(&walk, &e);
		if (r <= 0)
			break;
		r = take_member(g, &e);
	}
	return r == -EBADMSG ? pl_err_set(g->err, r, "the index is broken") : r;
}

int pl_tar_samples_add(struct pl_listing_writer *w, const struct pl_tar_index *ix,
	const struct pl_tar_fields *fields, struct pl_tar_passed *passed, struct pl_err *err)
{
	struct grouper *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return pl_err_set(err, -ENOMEM, "out of memory");
	g->w = w;
	g->index = ix;
	g->fields = fields;
	g->passed = passed;
	g->err = err;
	r = group(g);
	if (!r)
		r = end_samples(g);
	pl_packed_finish(&g->record);
	free(g->seen);
	free(g);
	return r;
}

static bool get_map(struct pl_unpacked *u, struct pl_unpacked *map)
{
	uint64_t n, number;

	map->at = u->at;
	if (!pl_packed_get(u, &n) || n > PL_TAR_SPANS_MAX)
		return false;
	for (uint64_t i = 0; i < 2 * n; i++)
		if (!pl_packed_get(u, &number))
			return false;
	map->end = u->at;
	return true;
}

static bool get_part(struct pl_unpacked *u, struct pl_tar_part *part, uint64_t *block)
{
	uint64_t suffix;
	int64_t blocks;

	if (!pl_packed_get_signed(u, &blocks) || !pl_packed_get(u, &part->bytes) ||
		!pl_packed_get(u, &suffix))
		return false;
	*block += (uint64_t)blocks;
	if (*block > INT64_MAX / PL_TAR_BLOCK || suffix >> 1 >= PL_TAR_SUFFIXES_MAX)
		return false;
	part->offset = *block * PL_TAR_BLOCK;
	part->suffix = (int)(suffix >> 1);
	part->is_sparse = suffix & 1;
	return !part->is_sparse || get_map(u, &part->map);
}

int pl_tar_sample_get(struct pl_tar_sample *s, const struct pl_listing *listing, uint64_t place,
	const struct pl_tar_fields *fields)
{
	size_t n;
	const uint8_t *at = pl_listing_section_at(listing, PL_TAR_SECTION_SAMPLES, &n);
	struct pl_unpacked u = {at + place, at + n};
	uint64_t head, block = 0;

	s->fault = NULL;
	s->has = 0;
	if (place >= n || !pl_packed_get(&u, &head) || !pl_packed_get_bytes(&u, head >> 1, &s->key))
		return -EINVAL;
	s->n_key = head >> 1;
	if (head & 1)
		return pl_packed_get(&u, &s->n_fault) &&
				       pl_packed_get_bytes(&u, s->n_fault, &s->fault)
			       ? 0
			       : -EINVAL;
	if (!fields)
		return 0;
	if (!pl_packed_get(&u, &s->has))
		return -EINVAL;
	for (int i = 0; i < fields->n_slots; i++)
		if (s->has >> i & 1 && !get_part(&u, &s->part[i], &block))
			return -EINVAL;
	return 0;
}
