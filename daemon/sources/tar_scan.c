/* daemon/sources/tar_scan.c - walks over the headers of an archive, one member after the other. */
#include "daemon/sources/tar_scan.h"

#include <errno.h>

#include "daemon/sources/tar_header.h"

#define ZEROS_MAX (1u << 20)

/* A header's bytes that speak of members to come. */
struct note {
	char *bytes; /* NULL: none */
	size_t n;
};

struct walk {
	struct pl_tar_scan *scan;
	struct pl_err *err;
	uint64_t at;      /* of the block in hand */
	uint64_t n_zeros; /* bytes of zeros just before it */
	struct pl_tar_header header;
	const uint8_t *block;
	struct note name, link, local, global;
	struct pl_tar_pax pax;    /* for the next member: what global and local say */
	struct pl_tar_pax common; /* what global says */
};

static void forget(struct note *note)
{
	free(note->bytes);
	*note = (struct note){0};
}

/* What spoke of the member in hand is over. */
static void next_member(struct walk *w)
{
	forget(&w->name);
	forget(&w->link);
	forget(&w->local);
	pl_tar_pax_finish(&w->pax);
	w->pax = w->common;
}

static void finish(struct walk *w)
{
	next_member(w);
	forget(&w->global);
}

static int damaged(struct walk *w, const char *what)
{
	return pl_err_set(w->err, -EBADMSG, "%s", what);
}

/* Moves behind n bytes of data, which begin behind the block, and their padding. */
static int skip(struct walk *w, uint64_t from, uint64_t n)
{
	if (n > (uint64_t)INT64_MAX - PL_TAR_BLOCK - from)
		return damaged(w, "a member of impossible size");
	w->at = from + pl_align_up(n, PL_TAR_BLOCK);
	return 0;
}

/* 0 when n bytes of data from `from` on are all there. */
static int require(struct walk *w, uint64_t from, uint64_t n)
{
	struct pl_forward *in = w->scan->in;
	const uint8_t *last;
	int64_t r;

	if (n == 0)
		return 0;
	if (n > (uint64_t)INT64_MAX - PL_TAR_BLOCK - from)
		return damaged(w, "a member of impossible size");
	if (in->is_size_known)
		return from + n <= in->size ? 0 : 1;
	r = pl_forward_peek(in, from + n - 1, 1, &last, w->err);
	return r < 0 ? (int)r : r == 0;
}

static int read_note(struct walk *w, struct note *note)
{
	uint64_t n = w->header.bytes;
	int r;

	if (n > PL_TAR_PAX_MAX)
		return damaged(w, "an extended header of more than 1 MiB");
	r = require(w, w->at + PL_TAR_BLOCK, n);
	if (r)
		return r < 0 ? r : damaged(w, "the file ends within an extended header");
	forget(note);
	note->bytes = malloc((size_t)n + 1);
	if (!note->bytes)
		return pl_err_set(w->err, -ENOMEM, "out of memory");
	r = pl_forward_read(w->scan->in, w->at + PL_TAR_BLOCK, note->bytes, (size_t)n, w->err);
	note->bytes[n] = '\0';
	note->n = (size_t)n;
	return r ? r : skip(w, w->at + PL_TAR_BLOCK, n);
}

/* GNU's long names end in a NUL, which is counted. */
static int read_long(struct walk *w, struct note *note)
{
	int r = read_note(w, note);

	note->n = r ? 0 : strlen(note->bytes);
	return r;
}

static int read_pax(struct walk *w)
{
	int r = read_note(w, &w->local);

	return r ? r : pl_tar_pax_parse(&w->pax, w->local.bytes, w->local.n, w->err);
}

/* Names of one member and maps have no place in a header for all. The texts of an earlier global
 * header end with it. */
static int read_global(struct walk *w)
{
	struct pl_tar_pax pax = {0};
	int r = read_note(w, &w->global);

	if (!r)
		r = pl_tar_pax_parse(&pax, w->global.bytes, w->global.n, w->err);
	w->common = (struct pl_tar_pax){
		.path = pax.path, .link = pax.link, .has_bytes = pax.has_bytes, .bytes = pax.bytes};
	pl_tar_pax_finish(&pax);
	pl_tar_pax_finish(&w->pax);
	w->pax = w->common;
	return r;
}

static struct pl_tar_text text_of(const char *text)
{
	return (struct pl_tar_text){text, strlen(text)};
}

static struct pl_tar_text name_of(const struct walk *w)
{
	if (w->pax.is_sparse && w->pax.sparse_name.text)
		return w->pax.sparse_name;
	if (w->pax.path.text)
		return w->pax.path;
	return w->name.bytes ? (struct pl_tar_text){w->name.bytes, w->name.n}
			     : text_of(w->header.name);
}

static struct pl_tar_text link_of(const struct walk *w)
{
	if (w->pax.link.text)
		return w->pax.link;
	return w->link.bytes ? (struct pl_tar_text){w->link.bytes, w->link.n}
			     : text_of(w->header.link);
}

/* The map of a sparse member; m->offset and *stored move behind a map that stands in the data. */
static int read_map(struct walk *w, struct pl_tar_member *m, uint64_t *stored)
{
	struct pl_tar_map *map = &w->pax.map;
	int r = 0;

	if (w->header.type == PL_TAR_SPARSE) {
		map->n = 0;
		r = pl_tar_map_read_old(map, w->block, w->scan->in, &m->offset, &m->bytes, w->err);
	} else {
		m->bytes = w->pax.has_real_bytes ? w->pax.real_bytes : *stored;
		if (w->pax.has_map_in_data)
			r = pl_tar_map_read_data(map, w->scan->in, &m->offset, stored, w->err);
	}
	m->map = map;
	return r ? r : pl_tar_map_check(map, m->bytes, *stored, w->err);
}

static int show(struct walk *w, struct pl_tar_member *m)
{
	if (m->name.n == 0 || m->name.text[m->name.n - 1] == '/')
		return 0;
	return w->scan->member(w->scan->context, m, w->err);
}

/* Shows it as cut, so that its sample is known, and says so. `r`: 1, or -EBADMSG when err says why
 * already. */
static int cut(struct walk *w, struct pl_tar_member *m, uint64_t stored, int r)
{
	char name[512];
	char text[PL_TAR_NAME_MAX + 1];
	int shown;

	m->is_cut = true;
	shown = show(w, m);
	if (shown < 0)
		return shown;
	if (r == -EBADMSG)
		return r;
	memcpy(text, m->name.text, m->name.n);
	text[m->name.n] = '\0';
	return pl_err_set(w->err, -EBADMSG,
		"member '%s' was cut: of its %llu bytes, which begin at byte %llu, the end is "
		"missing",
		pl_err_quote(name, sizeof(name), text), (unsigned long long)stored,
		(unsigned long long)m->offset);
}

static int read_file(struct walk *w)
{
	struct pl_tar_member m = {
		.name = name_of(w), .header = w->at, .offset = w->at + PL_TAR_BLOCK};
	uint64_t stored = w->pax.has_bytes ? w->pax.bytes : w->header.bytes;
	int r = 0;

	if (m.name.n > PL_TAR_NAME_MAX)
		return damaged(w, "a name of more than 4096 bytes");
	m.bytes = stored;
	if (w->header.type == PL_TAR_SPARSE || w->pax.is_sparse)
		r = read_map(w, &m, &stored);
	if (!r)
		r = require(w, m.offset, stored);
	if (r)
		return r > 0 || r == -EBADMSG ? cut(w, &m, stored, r) : r;
	r = show(w, &m);
	return r ? r : skip(w, m.offset, stored);
}

static int read_hard_link(struct walk *w)
{
	struct pl_tar_member m = {
		.name = name_of(w), .link = link_of(w), .header = w->at, .offset = w->at};
	int r;

	if (m.name.n > PL_TAR_NAME_MAX || m.link.n > PL_TAR_NAME_MAX)
		return damaged(w, "a name of more than 4096 bytes");
	r = show(w, &m);
	return r ? r : skip(w, w->at + PL_TAR_BLOCK, 0);
}

static int read_unknown(struct walk *w)
{
	uint64_t n = w->pax.has_bytes ? w->pax.bytes : w->header.bytes;
	int r = require(w, w->at + PL_TAR_BLOCK, n);

	w->scan->n_unknown++;
	if (r > 0)
		return damaged(w, "the file ends within a member of unknown type");
	return r ? r : skip(w, w->at + PL_TAR_BLOCK, n);
}

static int read_member(struct walk *w)
{
	int r;

	switch (w->header.type) {
	case PL_TAR_LONG_NAME:
		return read_long(w, &w->name);
	case PL_TAR_LONG_LINK:
		return read_long(w, &w->link);
	case PL_TAR_PAX:
		return read_pax(w);
	case PL_TAR_PAX_GLOBAL:
		return read_global(w);
	case PL_TAR_FILE:
	case PL_TAR_SPARSE:
		r = read_file(w);
		break;
	case PL_TAR_HARD_LINK:
		r = read_hard_link(w);
		break;
	case PL_TAR_NO_DATA:
		r = skip(w, w->at + PL_TAR_BLOCK, 0);
		break;
	default:
		r = read_unknown(w);
		break;
	}
	next_member(w);
	return r;
}

static bool is_zeros(const uint8_t *block, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (block[i])
			return false;
	return true;
}

/* A block that is no header, or only a part of one. PL_TAR_STOP: nothing but an end. */
static int read_no_header(struct walk *w, int64_t n)
{
	bool is_tail = w->n_zeros >= 2 * PL_TAR_BLOCK || is_zeros(w->block, n);

	if (is_tail || n == 0) {
		w->scan->has_tail = !is_zeros(w->block, n);
		return PL_TAR_STOP;
	}
	if (n < PL_TAR_BLOCK)
		damaged(w, "the file ends within a header");
	if (!w->scan->is_tar)
		pl_err_prefix(w->err, "it is no tar archive: ");
	return -EBADMSG;
}

static int read_zeros(struct walk *w)
{
	w->n_zeros += PL_TAR_BLOCK;
	w->at += PL_TAR_BLOCK;
	w->scan->has_end |= w->n_zeros >= 2 * PL_TAR_BLOCK;
	w->scan->is_tar = true;
	return w->n_zeros > ZEROS_MAX ? PL_TAR_STOP : 0;
}

static int read_block(struct walk *w)
{
	int64_t n = pl_forward_peek(w->scan->in, w->at, PL_TAR_BLOCK, &w->block, w->err);
	int r;

	if (n < 0)
		return (int)n;
	if (n == 0 && !w->scan->is_tar)
		return damaged(w, "it is empty: no tar archive");
	if (n < PL_TAR_BLOCK)
		return read_no_header(w, n);
	r = pl_tar_header_read(&w->header, w->block, w->err);
	if (r == PL_TAR_ZEROS)
		return read_zeros(w);
	if (r)
		return read_no_header(w, n);
	w->scan->is_tar = true;
	w->n_zeros = 0;
	return read_member(w);
}

int pl_tar_scan_run(struct pl_tar_scan *scan, struct pl_err *err)
{
	struct walk w = {.scan = scan, .err = err};
	int r;

	do
		r = read_block(&w);
	while (r == 0);
	finish(&w);
	if (r == -EBADMSG)
		pl_err_prefix(err, "byte %llu: ", (unsigned long long)w.at);
	return r < 0 ? r : 0;
}
