/* daemon/sources/tfrecord_scan.c - where the records of one TFRecord file begin. */
#include "daemon/sources/tfrecord_scan.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/sources/crc32c.h"

bool pl_tfrecord_head(const uint8_t head[PL_TFRECORD_HEAD], uint64_t *bytes)
{
	uint32_t crc;

	memcpy(bytes, head, sizeof(*bytes));
	memcpy(&crc, head + sizeof(*bytes), sizeof(crc));
	return pl_crc32c_mask(pl_crc32c(head, sizeof(*bytes))) == crc;
}

int pl_tfrecord_open(struct pl_forward *f, int fd, struct pl_err *err)
{
	uint8_t head[PL_TFRECORD_HEAD];
	uint64_t bytes;
	bool is_plain = pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
			pl_tfrecord_head(head, &bytes);

	return pl_forward_init(f, fd, is_plain, err);
}

void pl_tfrecord_index_finish(struct pl_tfrecord_index *ix)
{
	pl_packed_finish(&ix->lengths);
	free(ix->fault);
	*ix = (struct pl_tfrecord_index){0};
}

static int damaged(
	const struct pl_tfrecord_index *ix, uint64_t at, const char *what, struct pl_err *err)
{
	return pl_err_set(err, -EBADMSG, "record %llu at byte %llu: %s", (unsigned long long)ix->n,
		(unsigned long long)at, what);
}

/* 1 when the n bytes behind `from` are all there, 0 when not. */
static int is_there(struct pl_forward *in, uint64_t from, uint64_t n, struct pl_err *err)
{
	const uint8_t *last;

	if (n > (uint64_t)INT64_MAX - from)
		return 0;
	if (in->is_size_known)
		return from + n <= in->size;
	return (int)pl_forward_peek(in, from + n - 1, 1, &last, err);
}

/* Moves *at behind the record there. 0, 1 at the end, or -errno with err. */
static int read_head(
	struct pl_tfrecord_index *ix, struct pl_forward *in, uint64_t *at, struct pl_err *err)
{
	const uint8_t *head;
	uint64_t n;
	int64_t got = pl_forward_peek(in, *at, PL_TFRECORD_HEAD, &head, err);
	int r;

	if (got <= 0)
		return got < 0 ? (int)got : 1;
	if (got < PL_TFRECORD_HEAD && ix->n > 0)
		return damaged(ix, *at, "the file ends within its length", err);
	if (got < PL_TFRECORD_HEAD || !pl_tfrecord_head(head, &n))
		return damaged(ix, *at,
			ix->n ? "the CRC of its length is wrong"
			      : "not a TFRecord file, the CRC of the length is wrong",
			err);
	ix->is_tfrecord = true;
	r = n > (uint64_t)INT64_MAX - PL_TFRECORD_HEAD - PL_TFRECORD_FOOT
		    ? 0
		    : is_there(in, *at, PL_TFRECORD_HEAD + n + PL_TFRECORD_FOOT, err);
	if (r < 0)
		return r;
	if (r == 0) {
		char text[128];

		snprintf(text, sizeof(text), "it was cut: its %llu bytes are not all there",
			(unsigned long long)n);
		return damaged(ix, *at, text, err);
	}
	*at += PL_TFRECORD_HEAD + n + PL_TFRECORD_FOOT;
	ix->n++;
	return pl_packed_put(&ix->lengths, n);
}

static int scan(
	struct pl_tfrecord_index *ix, struct pl_forward *in, uint64_t most, struct pl_err *err)
{
	uint64_t at = 0;
	int r = 0;

	ix->is_packed = in->is_packed;
	while (!r && ix->n < most)
		r = read_head(ix, in, &at, err);
	if (r == -ENOMEM)
		return pl_err_set(err, r, "out of memory");
	if (r != -EBADMSG)
		return r < 0 ? r : 0;
	if (!ix->is_tfrecord)
		return r;
	ix->fault = strdup(err->text);
	*err = (struct pl_err){0};
	return ix->fault ? 0 : pl_err_set(err, -ENOMEM, "out of memory");
}

int pl_tfrecord_index_build(struct pl_tfrecord_index *ix, int fd, uint64_t most, struct pl_err *err)
{
	struct pl_forward in;
	int r = pl_tfrecord_open(&in, fd, err);

	*ix = (struct pl_tfrecord_index){0};
	if (!r)
		r = scan(ix, &in, most, err);
	pl_forward_finish(&in);
	if (r)
		pl_tfrecord_index_finish(ix);
	return r;
}
