/* daemon/sources/tar_links.c - where the members of an archive are that hard links name. */
#include "daemon/sources/tar_links.h"

#include <errno.h>
#include <xxhash.h>

#include "daemon/sources/tar_index.h"

void pl_tar_links_finish(struct pl_tar_links *l)
{
	free(l->link);
	*l = (struct pl_tar_links){0};
}

static uint64_t hash_of(struct pl_tar_text name)
{
	uint64_t hash = XXH3_64bits(name.text, name.n);

	return hash ? hash : 1;
}

/* The link of that hash, or the free place for it. */
static struct pl_tar_link *place_of(const struct pl_tar_links *l, uint64_t hash)
{
	size_t at = hash & (l->room - 1);

	while (l->link[at].hash && l->link[at].hash != hash)
		at = (at + 1) & (l->room - 1);
	return &l->link[at];
}

static int grow(struct pl_tar_links *l)
{
	struct pl_tar_links larger = {
		.is_kept = true, .n = l->n, .room = l->room ? l->room * 2 : 1024};

	larger.link = calloc(larger.room, sizeof(*larger.link));
	if (!larger.link)
		return -ENOMEM;
	for (size_t i = 0; i < l->room; i++)
		if (l->link[i].hash)
			*place_of(&larger, l->link[i].hash) = l->link[i];
	free(l->link);
	*l = larger;
	return 0;
}

static int add(struct pl_tar_links *l, struct pl_tar_text name, const struct pl_tar_target *target)
{
	uint64_t hash = hash_of(name);
	struct pl_tar_link *place;

	if (2 * (l->n + 1) > l->room) {
		int r = grow(l);

		if (r)
			return r;
	}
	place = place_of(l, hash);
	l->n += place->hash == 0;
	*place = (struct pl_tar_link){hash, *target};
	return 0;
}

int pl_tar_links_add(
	struct pl_tar_links *l, struct pl_tar_text name, const struct pl_tar_target *target)
{
	return l->is_kept ? add(l, name, target) : 0;
}

/* All members that the index has so far. */
static int catch_up(struct pl_tar_links *l, const struct pl_tar_index *ix)
{
	const struct pl_packed *m = &ix->members;
	struct pl_tar_index_walk walk = {.left = {m->data, m->data + m->used}};
	struct pl_tar_entry e;
	int r = 0;

	l->is_kept = true;
	if (!l->room)
		r = grow(l);
	while (!r && pl_tar_index_next(&walk, &e) > 0) {
		struct pl_tar_target target = {.offset = e.offset, .bytes = e.bytes};

		if (e.fault)
			continue;
		if (e.is_sparse) {
			target.map = (size_t)(e.map.at - m->data);
			target.n_map = (size_t)(e.map.end - e.map.at);
		}
		r = add(l, (struct pl_tar_text){e.name, e.n_name}, &target);
	}
	return r;
}

int pl_tar_links_find(struct pl_tar_links *l, const struct pl_tar_index *ix,
	struct pl_tar_text name, struct pl_tar_target *target)
{
	const struct pl_tar_link *place;
	int r = l->is_kept ? 0 : catch_up(l, ix);

	if (r)
		return r;
	place = place_of(l, hash_of(name));
	*target = place->target;
	return place->hash != 0;
}
