/* daemon/sources/file_stream.c - a file's bytes from front to back, unpacked when it is packed. */
#include "daemon/sources/file_stream.h"

#include <errno.h>
#include <stdio.h>

#define PACKED_BYTES ((size_t)128 << 10)
#define SKIP_BYTES   ((size_t)64 << 10)

/* Up to n bytes of the file; less only at its end. */
static int read_file(struct pl_file_stream *s, void *to, size_t n, size_t *got, struct pl_err *err)
{
	*got = 0;
	while (*got < n) {
		ssize_t r = pread(s->fd, (char *)to + *got, n - *got, (off_t)s->file_at);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return pl_err_set(err, -errno, "%s at byte %llu", strerror(errno),
				(unsigned long long)s->file_at);
		if (r == 0)
			break;
		*got += (size_t)r;
		s->file_at += (uint64_t)r;
	}
	return 0;
}

int pl_file_stream_open(struct pl_file_stream *s, int fd, struct pl_err *err)
{
	uint8_t head[PL_CODEC_HEAD];
	size_t n;
	int r;

	*s = (struct pl_file_stream){.fd = fd};
	r = read_file(s, head, sizeof(head), &n, err);
	if (r)
		return r;
	s->file_at = 0;
	s->codec = pl_codec_of(head, n);
	if (s->codec == PL_CODEC_NONE)
		return 0;
	s->packed = malloc(PACKED_BYTES);
	if (!s->packed)
		return pl_err_set(err, -ENOMEM, "out of memory");
	s->unpack = pl_unpack_create(s->codec, err);
	return s->unpack ? 0 : -ENOMEM;
}

void pl_file_stream_close(struct pl_file_stream *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	pl_unpack_destroy(s->unpack);
	free(s->packed);
	*s = (struct pl_file_stream){.fd = -1};
}

static int refill(struct pl_file_stream *s, struct pl_err *err)
{
	int r;

	s->packed_used = 0;
	r = read_file(s, s->packed, PACKED_BYTES, &s->n_packed, err);
	s->is_at_end = s->n_packed < PACKED_BYTES;
	return r;
}

static int run(struct pl_file_stream *s, struct pl_unpack_io *io, struct pl_err *err)
{
	char reason[256];
	int r;

	io->in = s->packed + s->packed_used;
	io->n_in = s->n_packed - s->packed_used;
	io->is_last = s->is_at_end;
	r = pl_unpack_run(s->unpack, io, err);
	s->packed_used = s->n_packed - io->n_in;
	if (!r)
		return 0;
	snprintf(reason, sizeof(reason), "%.255s", err ? err->text : "");
	return pl_err_set(err, r, "%s, near byte %llu of the file", reason,
		(unsigned long long)(s->file_at - io->n_in));
}

static int read_packed(
	struct pl_file_stream *s, void *to, size_t n, size_t *got, struct pl_err *err)
{
	struct pl_unpack_io io = {.out = to, .n_out = n};
	int r = 0;

	while (!r && io.n_out) {
		size_t before = io.n_out;
		bool was_last = s->is_at_end && s->packed_used == s->n_packed;

		r = run(s, &io, err);
		if (!r && io.n_out && s->packed_used == s->n_packed && !s->is_at_end)
			r = refill(s, err);
		else if (was_last && io.n_out == before)
			break;
	}
	*got = n - io.n_out;
	return r;
}

int pl_file_stream_read(
	struct pl_file_stream *s, void *to, size_t n, size_t *got, struct pl_err *err)
{
	int r = s->codec == PL_CODEC_NONE ? read_file(s, to, n, got, err)
					  : read_packed(s, to, n, got, err);

	s->at += *got;
	return r;
}

int pl_file_stream_skip_to(struct pl_file_stream *s, uint64_t offset, struct pl_err *err)
{
	PL_AUTO_FREE void *waste = NULL;
	int r = 0;

	if (s->codec == PL_CODEC_NONE)
		s->at = s->file_at = offset;
	if (s->at >= offset)
		return 0;
	waste = malloc(SKIP_BYTES);
	if (!waste)
		return pl_err_set(err, -ENOMEM, "out of memory");
	while (!r && s->at < offset) {
		size_t want = (size_t)pl_min_u64(SKIP_BYTES, offset - s->at);
		size_t got;

		r = pl_file_stream_read(s, waste, want, &got, err);
		if (!r && got < want)
			return pl_err_set(err, -EIO, "it ends at byte %llu of its unpacked text",
				(unsigned long long)s->at);
	}
	return r;
}
