/* daemon/sources/line_reader.c - a process's way to the bytes of any record of a line listing. */
#include "daemon/sources/line_reader.h"

#include <errno.h>
#include <fcntl.h>

#define AHEAD_BYTES ((size_t)64 << 10)

int pl_line_reader_init(struct pl_line_reader *r, const struct pl_listing *l, struct pl_err *err)
{
	int rc;

	*r = (struct pl_line_reader){.next_index = UINT64_MAX};
	for (int i = 0; i < PL_LINE_STREAMS_MAX; i++)
		r->stream[i].stream.fd = -1;
	rc = pl_record_listing_open(&r->records, l, err);
	pl_open_files_init(&r->files, &r->records);
	return rc;
}

void pl_line_reader_finish(struct pl_line_reader *r)
{
	if (!r)
		return;
	for (int i = 0; i < PL_LINE_STREAMS_MAX; i++)
		pl_file_stream_close(&r->stream[i].stream);
	pl_open_files_finish(&r->files);
	free(r->ahead);
	r->ahead = NULL;
}

static int stream_begin(
	struct pl_line_reader *r, struct pl_line_stream *s, size_t file, struct pl_err *err)
{
	int fd = -1;
	int rc = pl_open_files_get(&r->files, file, &fd, err);

	if (rc)
		return rc;
	pl_file_stream_close(&s->stream);
	s->used_at = 0;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return pl_err_set(err, -errno, "%s", strerror(errno));
	rc = pl_file_stream_open(&s->stream, fd, err);
	if (rc) {
		pl_file_stream_close(&s->stream);
		return rc;
	}
	s->number = file;
	return 0;
}

/* The stream of a file at or before `at`. */
static int stream_for(struct pl_line_reader *r, size_t file, uint64_t at,
	struct pl_line_stream **out, struct pl_err *err)
{
	struct pl_line_stream *s = &r->stream[0];
	int rc = 0;

	for (int i = 0; i < PL_LINE_STREAMS_MAX; i++) {
		if (r->stream[i].used_at && r->stream[i].number == file) {
			s = &r->stream[i];
			break;
		}
		if (r->stream[i].used_at < s->used_at)
			s = &r->stream[i];
	}
	if (!s->used_at || s->number != file || s->stream.at > at)
		rc = stream_begin(r, s, file, err);
	if (!rc)
		s->used_at = ++r->n_uses;
	*out = s;
	return rc;
}

static int read_packed(
	struct pl_line_reader *r, size_t file, uint64_t at, char *to, size_t n, struct pl_err *err)
{
	struct pl_line_stream *s;
	size_t got = 0;
	int rc = stream_for(r, file, at, &s, err);

	if (rc)
		return rc;
	rc = pl_file_stream_skip_to(&s->stream, at, err);
	if (!rc)
		rc = pl_file_stream_read(&s->stream, to, n, &got, err);
	if (!rc && got < n)
		rc = pl_err_set(err, -EIO, "it ends at byte %llu of its unpacked text",
			(unsigned long long)s->stream.at);
	if (rc) { /* where it stands now can't be trusted */
		pl_file_stream_close(&s->stream);
		s->used_at = 0;
	}
	return rc;
}

static bool is_ahead(const struct pl_line_reader *r, size_t file, uint64_t at, size_t n)
{
	return r->ahead_bytes && r->ahead_file == file && at >= r->ahead_at &&
	       at - r->ahead_at <= r->ahead_bytes && n <= r->ahead_bytes - (at - r->ahead_at);
}

static int read_ahead(struct pl_line_reader *r, size_t file, uint64_t at, struct pl_err *err)
{
	uint64_t left = r->records.file[file].bytes - at;
	size_t n = (size_t)pl_min_u64(AHEAD_BYTES, left);
	int rc;

	r->ahead_bytes = 0;
	if (!r->ahead)
		r->ahead = malloc(AHEAD_BYTES);
	if (!r->ahead)
		return pl_err_set(err, -ENOMEM, "out of memory");
	rc = pl_open_files_read(&r->files, file, at, r->ahead, n, err);
	if (!rc) {
		r->ahead_file = file;
		r->ahead_at = at;
		r->ahead_bytes = n;
	}
	return rc;
}

static int read_plain(struct pl_line_reader *r, uint64_t index, uint64_t at, size_t file, char *to,
	size_t n, struct pl_err *err)
{
	bool is_next = index == r->next_index;
	int rc = 0;

	r->next_index = index + 1;
	if (!is_ahead(r, file, at, n)) {
		if (!is_next || n > AHEAD_BYTES / 2)
			return pl_open_files_read(&r->files, file, at, to, n, err);
		rc = read_ahead(r, file, at, err);
	}
	if (!rc)
		memcpy(to, r->ahead + (at - r->ahead_at), n);
	return rc;
}

/* Where the record's bytes end. */
static uint64_t end_of(const struct pl_line_reader *r, size_t file, uint64_t index)
{
	return index + 1 < pl_record_listing_end(&r->records, file)
		       ? r->records.place[index + 1]
		       : pl_line_form_bytes(r->records.file[file].form);
}

int pl_line_reader_get(struct pl_line_reader *r, uint64_t index, struct pl_scratch *scratch,
	char **bytes, size_t *n, struct pl_err *err)
{
	size_t file;
	uint64_t at, end;
	int rc;

	if (index >= r->records.n_records)
		return pl_err_set(
			err, -EINVAL, "the listing has no record %llu", (unsigned long long)index);
	file = pl_record_listing_file_of(&r->records, index);
	at = r->records.place[index];
	end = end_of(r, file, index);
	if (end < at || index < r->records.file[file].first)
		return pl_err_set(err, -EINVAL, "the listing is broken");
	if (end - at >= scratch->limit - scratch->taken)
		return pl_err_set(err, -EMSGSIZE,
			"%llu bytes up to the next record are more than the %zu bytes a sample may "
			"take",
			(unsigned long long)(end - at), scratch->limit);
	*n = (size_t)(end - at);
	*bytes = pl_scratch_alloc(scratch, *n + 1);
	if (!*bytes)
		return pl_err_set(err, -ENOMEM, "no memory for %zu bytes", *n + 1);
	(*bytes)[*n] = '\0';
	if (pl_line_form_codec(r->records.file[file].form) == PL_CODEC_NONE)
		rc = read_plain(r, index, at, file, *bytes, *n, err);
	else
		rc = read_packed(r, file, at, *bytes, *n, err);
	return rc;
}
