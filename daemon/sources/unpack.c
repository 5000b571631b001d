/* daemon/sources/unpack.c - gzip, zstd and xz streams, told by their first bytes and unpacked piece
 * by piece. */
#include "daemon/sources/unpack.h"

#include <errno.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#define XZ_MEMORY_MAX ((uint64_t)128 << 20)

/* zlib: 15 bits of window, and a gzip head, not one of zlib's own. */
#define GZIP_WINDOW (15 + 16)

struct pl_unpack {
	enum pl_codec codec;
	bool is_inside;  /* of a member or frame */
	bool is_padding; /* behind the last member: zeros only */
	bool is_at_end;
	z_stream gzip;
	ZSTD_DCtx *zstd;
	lzma_stream xz;
};

static const struct {
	const char *name;
	uint8_t magic[PL_CODEC_HEAD];
	size_t n_magic;
} codecs[PL_CODEC_END] = {
	[PL_CODEC_NONE] = {"none", {0}, 0},
	[PL_CODEC_GZIP] = {"gzip", {0x1f, 0x8b}, 2},
	[PL_CODEC_ZSTD] = {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4},
	[PL_CODEC_XZ] = {"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6},
};

/* A zstd file may also begin with a skippable frame: any of sixteen numbers. */
static bool is_skippable(const uint8_t *head, size_t n)
{
	return n >= 4 && (head[0] & 0xf0) == 0x50 && head[1] == 0x2a && head[2] == 0x4d &&
	       head[3] == 0x18;
}

enum pl_codec pl_codec_of(const void *head, size_t n)
{
	for (int c = PL_CODEC_GZIP; c < PL_CODEC_END; c++)
		if (n >= codecs[c].n_magic && !memcmp(head, codecs[c].magic, codecs[c].n_magic))
			return (enum pl_codec)c;
	return is_skippable(head, n) ? PL_CODEC_ZSTD : PL_CODEC_NONE;
}

const char *pl_codec_name(enum pl_codec codec)
{
	return codecs[codec].name;
}

struct pl_unpack *pl_unpack_create(enum pl_codec codec, struct pl_err *err)
{
	struct pl_unpack *u = calloc(1, sizeof(*u));
	bool is_ok = u != NULL;

	if (u)
		u->codec = codec;
	if (u && codec == PL_CODEC_GZIP)
		is_ok = inflateInit2(&u->gzip, GZIP_WINDOW) == Z_OK;
	if (u && codec == PL_CODEC_ZSTD)
		is_ok = (u->zstd = ZSTD_createDCtx()) != NULL;
	if (u && codec == PL_CODEC_XZ)
		is_ok = lzma_stream_decoder(&u->xz, XZ_MEMORY_MAX, LZMA_CONCATENATED) == LZMA_OK;
	if (is_ok)
		return u;
	pl_unpack_destroy(u);
	pl_err_set(err, -ENOMEM, "out of memory");
	return NULL;
}

void pl_unpack_destroy(struct pl_unpack *u)
{
	if (!u)
		return;
	if (u->codec == PL_CODEC_GZIP)
		inflateEnd(&u->gzip);
	ZSTD_freeDCtx(u->zstd);
	lzma_end(&u->xz);
	free(u);
}

static int damaged(const struct pl_unpack *u, const char *reason, struct pl_err *err)
{
	return pl_err_set(err, -EBADMSG, "its %s stream is damaged: %s", pl_codec_name(u->codec),
		reason ? reason : "invalid data");
}

static int cut(const struct pl_unpack *u, struct pl_err *err)
{
	return pl_err_set(err, -ENODATA, "its %s stream is cut short", pl_codec_name(u->codec));
}

/* Between two gzip members: the next one begins, or zeros follow up to the end. */
static int gzip_between(struct pl_unpack *u, struct pl_unpack_io *io, struct pl_err *err)
{
	while (io->n_in && *io->in == 0) {
		u->is_padding = true;
		io->in++;
		io->n_in--;
	}
	if (io->n_in == 0)
		return 0;
	if (u->is_padding || *io->in != codecs[PL_CODEC_GZIP].magic[0])
		return damaged(u, "other bytes follow it", err);
	u->is_inside = true;
	return inflateReset(&u->gzip) == Z_OK ? 0 : damaged(u, u->gzip.msg, err);
}

static int gzip_inflate(struct pl_unpack *u, struct pl_unpack_io *io, struct pl_err *err)
{
	z_stream *z = &u->gzip;
	int r;

	z->next_in = (uint8_t *)(uintptr_t)io->in;
	z->avail_in = (uInt)pl_min_u64(io->n_in, UINT32_MAX);
	z->next_out = io->out;
	z->avail_out = (uInt)pl_min_u64(io->n_out, UINT32_MAX);
	r = inflate(z, Z_NO_FLUSH);
	io->n_in -= (size_t)(z->next_in - io->in);
	io->in = z->next_in;
	io->n_out -= (size_t)(z->next_out - io->out);
	io->out = z->next_out;
	if (r == Z_STREAM_END)
		u->is_inside = false;
	if (r == Z_OK || r == Z_STREAM_END)
		return 0;
	if (r == Z_BUF_ERROR)
		return io->n_in == 0 && io->is_last ? cut(u, err) : 0;
	return r == Z_MEM_ERROR ? pl_err_set(err, -ENOMEM, "out of memory")
				: damaged(u, z->msg, err);
}

static int gzip_run(struct pl_unpack *u, struct pl_unpack_io *io, struct pl_err *err)
{
	int r = 0;

	while (!r && io->n_out && (io->n_in || (u->is_inside && io->is_last)))
		r = u->is_inside ? gzip_inflate(u, io, err) : gzip_between(u, io, err);
	return r;
}

static int zstd_run(struct pl_unpack *u, struct pl_unpack_io *io, struct pl_err *err)
{
	while (io->n_out && (io->n_in || (u->is_inside && io->is_last))) {
		ZSTD_inBuffer in = {io->in, io->n_in, 0};
		ZSTD_outBuffer out = {io->out, io->n_out, 0};
		size_t r = ZSTD_decompressStream(u->zstd, &out, &in);

		io->in += in.pos;
		io->n_in -= in.pos;
		io->out += out.pos;
		io->n_out -= out.pos;
		if (ZSTD_isError(r))
			return damaged(u, ZSTD_getErrorName(r), err);
		u->is_inside = r != 0;
		if (in.pos == 0 && out.pos == 0)
			return io->is_last && u->is_inside ? cut(u, err) : 0;
	}
	return 0;
}

static int xz_fail(const struct pl_unpack *u, lzma_ret r, struct pl_err *err)
{
	switch (r) {
	case LZMA_MEM_ERROR:
		return pl_err_set(err, -ENOMEM, "out of memory");
	case LZMA_MEMLIMIT_ERROR:
		return pl_err_set(err, -E2BIG, "its xz stream needs more than 128 MiB to unpack");
	case LZMA_BUF_ERROR:
		return cut(u, err);
	default:
		return damaged(u, r == LZMA_FORMAT_ERROR ? "other bytes follow it" : NULL, err);
	}
}

static int xz_run(struct pl_unpack *u, struct pl_unpack_io *io, struct pl_err *err)
{
	while (io->n_out && (io->n_in || io->is_last) && !u->is_at_end) {
		size_t n_in = io->n_in;
		lzma_ret r;

		u->xz.next_in = io->in;
		u->xz.avail_in = io->n_in;
		u->xz.next_out = io->out;
		u->xz.avail_out = io->n_out;
		r = lzma_code(&u->xz, io->is_last ? LZMA_FINISH : LZMA_RUN);
		io->in = u->xz.next_in;
		io->n_in = u->xz.avail_in;
		io->out = u->xz.next_out;
		io->n_out = u->xz.avail_out;
		u->is_at_end = r == LZMA_STREAM_END;
		if (r != LZMA_OK && r != LZMA_STREAM_END)
			return xz_fail(u, r, err);
		if (!n_in && !io->is_last)
			break;
	}
	return 0;
}

int pl_unpack_run(struct pl_unpack *u, struct pl_unpack_io *io, struct pl_err *err)
{
	switch (u->codec) {
	case PL_CODEC_GZIP:
		return gzip_run(u, io, err);
	case PL_CODEC_ZSTD:
		return zstd_run(u, io, err);
	case PL_CODEC_XZ:
		return xz_run(u, io, err);
	default:
		return -EINVAL;
	}
}
