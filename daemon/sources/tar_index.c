/* daemon/sources/tar_index.c - all members of one archive in few bytes, in the archive's order. */
#include "daemon/sources/tar_index.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/sources/tar_header.h"
#include "daemon/sources/tar_links.h"

enum kind { WHOLE, SPARSE, FAULTY, KIND_BITS = 2, KIND_MASK = 3 };

/* A longer map is not repeated for each link: an archive could make any memory out of few links. */
#define LINKED_MAP_MAX 1024

struct builder {
	struct pl_tar_index *index;
	struct pl_tar_links links;
	uint64_t most;
	uint64_t block;
	size_t n_name;
	char name[PL_TAR_NAME_MAX];
};

void pl_tar_index_finish(struct pl_tar_index *ix)
{
	pl_packed_finish(&ix->members);
	free(ix->fault);
	*ix = (struct pl_tar_index){0};
}

static int put_name(struct builder *b, struct pl_tar_text name, enum kind kind)
{
	struct pl_packed *to = &b->index->members;
	size_t most = b->n_name < name.n ? b->n_name : name.n;
	size_t shared = 0;
	int r;

	while (shared < most && b->name[shared] == name.text[shared])
		shared++;
	r = pl_packed_put(to, (uint64_t)shared << KIND_BITS | kind);
	if (!r)
		r = pl_packed_put(to, name.n - shared);
	if (!r)
		r = pl_packed_put_bytes(to, name.text + shared, name.n - shared);
	memcpy(b->name + shared, name.text + shared, name.n - shared);
	b->n_name = name.n;
	return r;
}

static int put_place(struct builder *b, uint64_t offset, uint64_t bytes)
{
	struct pl_packed *to = &b->index->members;
	uint64_t block = offset / PL_TAR_BLOCK;
	int r = pl_packed_put_signed(to, (int64_t)(block - b->block));

	b->block = block + bytes / PL_TAR_BLOCK;
	return r ? r : pl_packed_put(to, bytes);
}

static int put_map(struct builder *b, const struct pl_tar_map *map)
{
	struct pl_packed *to = &b->index->members;
	uint64_t end = 0;
	int r = pl_packed_put(to, map->n);

	for (size_t i = 0; i < map->n && !r; i++) {
		r = pl_packed_put(to, map->span[i].offset - end);
		if (!r)
			r = pl_packed_put(to, map->span[i].bytes);
		end = map->span[i].offset + map->span[i].bytes;
	}
	return r;
}

static int put_fault(
	struct builder *b, struct pl_tar_text name, struct pl_tar_text link, const char *reason)
{
	char target[512];
	char quoted[1024];
	char text[1200];
	int n, r = put_name(b, name, FAULTY);

	snprintf(target, sizeof(target), "%.*s", (int)link.n, link.text);
	n = snprintf(text, sizeof(text), "it is a hard link to '%s', which is %s",
		pl_err_quote(quoted, sizeof(quoted), target), reason);
	if (!r)
		r = pl_packed_put(&b->index->members, (uint64_t)n);
	return r ? r : pl_packed_put_bytes(&b->index->members, text, (size_t)n);
}

/* The map of the member that is linked to, once more. */
static int put_same_map(struct builder *b, struct pl_tar_target *target)
{
	struct pl_packed *to = &b->index->members;
	size_t at = to->used;
	PL_AUTO_FREE uint8_t *copy = malloc(target->n_map + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, to->data + target->map, target->n_map);
	target->map = at;
	return pl_packed_put_bytes(to, copy, target->n_map);
}

static int put_link(struct builder *b, const struct pl_tar_member *m)
{
	struct pl_tar_target target;
	int r = pl_tar_links_find(&b->links, b->index, m->link, &target);

	if (r < 0)
		return r;
	if (r == 0)
		return put_fault(b, m->name, m->link, "no earlier member of the archive");
	if (target.n_map > LINKED_MAP_MAX)
		return put_fault(b, m->name, m->link, "a sparse member of too many parts");
	r = put_name(b, m->name, target.n_map ? SPARSE : WHOLE);
	if (!r)
		r = put_place(b, target.offset, target.bytes);
	if (!r && target.n_map)
		r = put_same_map(b, &target);
	return r ? r : pl_tar_links_add(&b->links, m->name, &target);
}

/* Its sample is known by it; the archive's fault says the rest. */
static int put_cut(struct builder *b, const struct pl_tar_member *m)
{
	int r = put_name(b, m->name, FAULTY);

	return r ? r : pl_packed_put(&b->index->members, 0);
}

static int put_file(struct builder *b, const struct pl_tar_member *m)
{
	struct pl_tar_target target = {.offset = m->offset, .bytes = m->bytes};
	int r = put_name(b, m->name, m->map ? SPARSE : WHOLE);

	if (!r)
		r = put_place(b, m->offset, m->bytes);
	target.map = b->index->members.used;
	if (!r && m->map)
		r = put_map(b, m->map);
	target.n_map = b->index->members.used - target.map;
	return r ? r : pl_tar_links_add(&b->links, m->name, &target);
}

static int put_member(void *context, const struct pl_tar_member *m, struct pl_err *err)
{
	struct builder *b = context;
	int r = m->is_cut ? put_cut(b, m) : m->link.text ? put_link(b, m) : put_file(b, m);

	if (r)
		return pl_err_set(err, r, "out of memory");
	return ++b->index->n_members == b->most ? PL_TAR_STOP : 0;
}

static int scan(struct builder *b, struct pl_forward *in, struct pl_err *err)
{
	struct pl_tar_scan scan = {.in = in, .member = put_member, .context = b};
	struct pl_tar_index *ix = b->index;
	int r = pl_tar_scan_run(&scan, err);

	ix->has_end = scan.has_end;
	ix->has_tail = scan.has_tail;
	ix->n_unknown = scan.n_unknown;
	ix->is_packed = in->is_packed;
	if (r != -EBADMSG || !scan.is_tar)
		return r;
	ix->fault = strdup(err->text);
	*err = (struct pl_err){0};
	return ix->fault ? 0 : pl_err_set(err, -ENOMEM, "out of memory");
}

int pl_tar_index_build(struct pl_tar_index *ix, int fd, uint64_t most, struct pl_err *err)
{
	struct pl_forward in;
	struct builder *b = calloc(1, sizeof(*b));
	int r = pl_forward_init(&in, fd, false, err);

	*ix = (struct pl_tar_index){0};
	if (!b)
		r = pl_err_set(err, -ENOMEM, "out of memory");
	if (!r) {
		b->index = ix;
		b->most = most;
		r = scan(b, &in, err);
		pl_tar_links_finish(&b->links);
	}
	free(b);
	pl_forward_finish(&in);
	if (r)
		pl_tar_index_finish(ix);
	return r;
}

static bool next_name(struct pl_tar_index_walk *walk, uint64_t shared)
{
	uint64_t n;
	const char *rest;

	if (shared > walk->n_name || !pl_packed_get(&walk->left, &n) ||
		n > PL_TAR_NAME_MAX - shared || !pl_packed_get_bytes(&walk->left, n, &rest))
		return false;
	memcpy(walk->name + shared, rest, n);
	walk->n_name = shared + n;
	walk->name[walk->n_name] = '\0';
	return walk->n_name > 0;
}

static bool next_place(struct pl_tar_index_walk *walk, struct pl_tar_entry *e)
{
	int64_t blocks;

	if (!pl_packed_get_signed(&walk->left, &blocks) || !pl_packed_get(&walk->left, &e->bytes))
		return false;
	walk->block += (uint64_t)blocks;
	if (walk->block > INT64_MAX / PL_TAR_BLOCK || e->bytes > INT64_MAX)
		return false;
	e->offset = walk->block * PL_TAR_BLOCK;
	walk->block += e->bytes / PL_TAR_BLOCK;
	return true;
}

static bool next_map(struct pl_unpacked *left, struct pl_unpacked *map)
{
	uint64_t n, number;

	map->at = left->at;
	if (!pl_packed_get(left, &n) || n > PL_TAR_SPANS_MAX)
		return false;
	for (uint64_t i = 0; i < 2 * n; i++)
		if (!pl_packed_get(left, &number))
			return false;
	map->end = left->at;
	return true;
}

int pl_tar_index_next(struct pl_tar_index_walk *walk, struct pl_tar_entry *e)
{
	uint64_t head;
	bool is_good;

	*e = (struct pl_tar_entry){0};
	if (walk->left.at == walk->left.end)
		return 0;
	is_good = pl_packed_get(&walk->left, &head) && next_name(walk, head >> KIND_BITS);
	e->name = walk->name;
	e->n_name = walk->n_name;
	e->is_sparse = is_good && (head & KIND_MASK) == SPARSE;
	if (is_good && (head & KIND_MASK) == FAULTY)
		is_good = pl_packed_get(&walk->left, &e->n_fault) &&
			  pl_packed_get_bytes(&walk->left, e->n_fault, &e->fault);
	else
		is_good = is_good && next_place(walk, e);
	if (e->is_sparse)
		is_good = is_good && next_map(&walk->left, &e->map);
	return is_good ? 1 : -EBADMSG;
}
