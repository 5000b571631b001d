/* daemon/sources/any_place.c - reads places in the files of a listing, plain or compressed. */
#include "daemon/sources/any_place.h"

#include <errno.h>
#include <fcntl.h>

static void close_stream(struct pl_any_place_stream *s)
{
	if (s->used_at)
		pl_forward_finish(&s->in);
	s->used_at = 0;
}

void pl_any_place_init(struct pl_any_place *p, const struct pl_record_listing *records)
{
	memset(p, 0, sizeof(*p));
	p->records = records;
	pl_open_files_init(&p->files, records);
}

void pl_any_place_finish(struct pl_any_place *p)
{
	for (int i = 0; i < PL_ANY_PLACE_STREAMS; i++)
		close_stream(&p->stream[i]);
	pl_open_files_finish(&p->files);
}

static int open_stream(
	struct pl_any_place *p, struct pl_any_place_stream *s, size_t file, struct pl_err *err)
{
	int fd = -1;
	int r = pl_open_files_get(&p->files, file, &fd, err);

	close_stream(s);
	if (r)
		return r;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return pl_err_set(err, -errno, "%s", strerror(errno));
	s->file = file;
	s->used_at = 1;
	return pl_forward_init(&s->in, fd, false, err);
}

/* The archive's stream, in the place of the one that was used longest ago. */
static int get_stream(struct pl_any_place *p, size_t file, struct pl_any_place_stream **stream,
	struct pl_err *err)
{
	struct pl_any_place_stream *s = &p->stream[0];
	int r = 0;

	for (int i = 0; i < PL_ANY_PLACE_STREAMS; i++) {
		struct pl_any_place_stream *other = &p->stream[i];

		if (other->used_at && other->file == file) {
			s = other;
			break;
		}
		if (other->used_at < s->used_at)
			s = other;
	}
	if (!s->used_at || s->file != file)
		r = open_stream(p, s, file, err);
	s->used_at = ++p->n_uses;
	if (r)
		close_stream(s);
	*stream = s;
	return r;
}

int pl_any_place_read(struct pl_any_place *p, size_t file, uint64_t offset, void *to, size_t n,
	struct pl_err *err)
{
	struct pl_any_place_stream *s;
	int r;

	if (p->records->file[file].form == PL_FORM_PLAIN)
		return pl_open_files_read(&p->files, file, offset, to, n, err);
	r = get_stream(p, file, &s, err);
	if (r)
		return r;
	r = pl_forward_read(&s->in, offset, to, n, err);
	if (r)
		close_stream(s);
	return r;
}
