/* daemon/sources/forward.c - the bytes of a file, or of what a compressed one holds, by offset. */
#include "daemon/sources/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define BUFFER_BYTES PL_FORWARD_PEEK_MAX

/* Whoever skips more than this skips again: then only what is asked for is read. Below it, copying
 * what lies between is cheaper than a call. */
#define NEAR_BYTES (16u << 10)

/* A compressed file from its beginning. */
static int begin_stream(struct pl_forward *f, struct pl_err *err)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	f->at = f->n = 0;
	if (fd < 0)
		return pl_err_set(err, -errno, "%s", strerror(errno));
	return pl_file_stream_open(&f->stream, fd, err);
}

int pl_forward_init(struct pl_forward *f, int fd, bool is_plain, struct pl_err *err)
{
	uint8_t head[PL_CODEC_HEAD];
	struct stat st;
	ssize_t n;

	*f = (struct pl_forward){.fd = fd, .stream = {.fd = -1}};
	f->buffer = malloc(BUFFER_BYTES);
	if (!f->buffer) {
		close(fd);
		return pl_err_set(err, -ENOMEM, "out of memory");
	}
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0 || fstat(fd, &st))
		return pl_err_set(err, -errno, "%s", strerror(errno));
	f->is_packed = !is_plain && pl_codec_of(head, (size_t)n) != PL_CODEC_NONE;
	if (f->is_packed)
		return begin_stream(f, err);
	f->size = (uint64_t)st.st_size;
	f->is_size_known = true;
	return 0;
}

void pl_forward_finish(struct pl_forward *f)
{
	if (!f->buffer)
		return;
	pl_file_stream_close(&f->stream);
	free(f->buffer);
	close(f->fd);
	*f = (struct pl_forward){0};
}

/* pread of up to n bytes; fewer at the end only. */
static int64_t read_plain(
	struct pl_forward *f, uint64_t offset, uint8_t *to, size_t n, struct pl_err *err)
{
	size_t done = 0;

	if (offset > INT64_MAX - n)
		return 0;
	while (done < n) {
		ssize_t r = pread(f->fd, to + done, n - done, (off_t)(offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return pl_err_set(err, -errno, "%s at byte %llu", strerror(errno),
				(unsigned long long)(offset + done));
		if (r == 0)
			break;
		done += (size_t)r;
	}
	return (int64_t)done;
}

static int64_t peek_plain(
	struct pl_forward *f, uint64_t offset, size_t n, const uint8_t **bytes, struct pl_err *err)
{
	bool is_near = offset >= f->at && offset - f->at < f->n + NEAR_BYTES;
	int64_t got = read_plain(f, offset, f->buffer, is_near ? BUFFER_BYTES : n, err);

	f->at = offset;
	f->n = got < 0 ? 0 : (size_t)got;
	*bytes = f->buffer;
	return got < 0 ? got : (int64_t)pl_min_u64((uint64_t)got, n);
}

/* Begins a compressed file anew when `offset` was left behind. */
static int rewind_to(struct pl_forward *f, uint64_t offset, struct pl_err *err)
{
	if (offset >= f->at)
		return 0;
	pl_file_stream_close(&f->stream);
	return begin_stream(f, err);
}

/* Up to n bytes more of a compressed file. One that is cut is as bad as one that is damaged. */
static int64_t read_stream(struct pl_forward *f, uint8_t *to, size_t n, struct pl_err *err)
{
	size_t got = 0;
	int r = pl_file_stream_read(&f->stream, to, n, &got, err);

	if (r == -ENODATA || r == -E2BIG)
		r = -EBADMSG;
	return r ? r : (int64_t)got;
}

static int64_t inflate_more(struct pl_forward *f, struct pl_err *err)
{
	int64_t got = read_stream(f, f->buffer + f->n, BUFFER_BYTES - f->n, err);

	if (got < 0)
		return got;
	if ((size_t)got < BUFFER_BYTES - f->n) {
		f->size = f->at + f->n + (size_t)got;
		f->is_size_known = true;
	}
	f->n += (size_t)got;
	return got;
}

/* Moves the buffer on until it begins at `offset`. */
static int64_t skip_to(struct pl_forward *f, uint64_t offset, struct pl_err *err)
{
	int64_t r;

	while (offset - f->at >= f->n) {
		f->at += f->n;
		f->n = 0;
		r = inflate_more(f, err);
		if (r <= 0)
			return r;
	}
	memmove(f->buffer, f->buffer + (offset - f->at), f->n - (offset - f->at));
	f->n -= offset - f->at;
	f->at = offset;
	return 1;
}

static int64_t peek_packed(
	struct pl_forward *f, uint64_t offset, size_t n, const uint8_t **bytes, struct pl_err *err)
{
	int64_t r = rewind_to(f, offset, err);

	if (r < 0)
		return r;
	r = skip_to(f, offset, err);
	if (r <= 0)
		return r;
	if (f->n < n)
		r = inflate_more(f, err);
	*bytes = f->buffer;
	return r < 0 ? r : (int64_t)pl_min_u64(f->n, n);
}

int64_t pl_forward_peek(
	struct pl_forward *f, uint64_t offset, size_t n, const uint8_t **bytes, struct pl_err *err)
{
	if (offset >= f->at && offset - f->at <= f->n && n <= f->n - (offset - f->at)) {
		*bytes = f->buffer + (offset - f->at);
		return (int64_t)n;
	}
	return f->is_packed ? peek_packed(f, offset, n, bytes, err)
			    : peek_plain(f, offset, n, bytes, err);
}

/* What the buffer has, then the rest straight to where it shall be. */
static int64_t read_packed(
	struct pl_forward *f, uint64_t offset, uint8_t *to, size_t n, struct pl_err *err)
{
	int64_t r = rewind_to(f, offset, err);
	size_t had;

	if (r == 0)
		r = skip_to(f, offset, err);
	if (r <= 0)
		return r;
	had = f->n < n ? f->n : n;
	memcpy(to, f->buffer, had);
	if (had == n)
		return (int64_t)n;
	r = read_stream(f, to + had, n - had, err);
	f->at = offset + had + (r > 0 ? (uint64_t)r : 0);
	f->n = 0;
	return r < 0 ? r : (int64_t)had + r;
}

int pl_forward_read(struct pl_forward *f, uint64_t offset, void *to, size_t n, struct pl_err *err)
{
	int64_t r;

	if (n == 0)
		return 0;
	r = f->is_packed ? read_packed(f, offset, to, n, err) : read_plain(f, offset, to, n, err);
	if (r < 0)
		return (int)r;
	if ((size_t)r < n)
		return pl_err_set(err, -EBADMSG, "it ends %llu bytes too early",
			(unsigned long long)(n - (size_t)r));
	return 0;
}
