/* daemon/sources/inflate.c - the bytes that a compressed file holds, forwards. */
#include "daemon/sources/inflate.h"

#include <errno.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#define INPUT_BYTES (64u << 10)

/* An xz file may ask for a dictionary of 4 GiB; `xz -9` asks for 64 MiB. zstd refuses windows of
 * more than 128 MiB by itself. */
#define XZ_MEMORY_MAX (256u << 20)

struct pl_inflate {
	const struct codec *codec;
	int fd;
	uint64_t offset; /* of the file's bytes that were taken */
	bool is_all_in;
	bool is_whole; /* the input may end here */
	bool is_over;
	const uint8_t *in; /* not yet used */
	size_t n_in;
	union {
		z_stream gzip;
		ZSTD_DStream *zstd;
		lzma_stream xz;
	};
	uint8_t input[INPUT_BYTES];
};

/* step moves in, n_in and *out forwards, and sets is_whole. 0, or -EBADMSG with the reason. */
struct codec {
	const char *name;
	uint8_t magic[6];
	size_t n_magic;
	bool (*begin)(struct pl_inflate *f);
	int (*step)(struct pl_inflate *f, uint8_t **out, size_t n, const char **reason);
	void (*end)(struct pl_inflate *f);
};

static bool gzip_begin(struct pl_inflate *f)
{
	return inflateInit2(&f->gzip, 15 + 16) == Z_OK;
}

/* Behind a member: another one, or the zeros that a tape or a file system left. */
static int gzip_next(struct pl_inflate *f, const char **reason)
{
	while (f->n_in && *f->in == 0) {
		f->in++;
		f->n_in--;
	}
	if (f->n_in == 0)
		return 0;
	if (*f->in != 0x1f || inflateReset(&f->gzip) != Z_OK) {
		*reason = "what follows the last gzip member is not gzip";
		return -EBADMSG;
	}
	f->is_whole = false;
	return 0;
}

static int gzip_step(struct pl_inflate *f, uint8_t **out, size_t n, const char **reason)
{
	int r;

	if (f->is_whole) {
		r = gzip_next(f, reason);
		if (r || f->is_whole)
			return r;
	}
	f->gzip.next_in = (Bytef *)(uintptr_t)f->in;
	f->gzip.avail_in = (uInt)f->n_in;
	f->gzip.next_out = *out;
	f->gzip.avail_out = (uInt)n;
	r = inflate(&f->gzip, Z_NO_FLUSH);
	f->in = f->gzip.next_in;
	f->n_in = f->gzip.avail_in;
	*out = f->gzip.next_out;
	f->is_whole = r == Z_STREAM_END;
	if (r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR)
		return 0;
	*reason = f->gzip.msg ? f->gzip.msg : zError(r);
	return -EBADMSG;
}

static void gzip_end(struct pl_inflate *f)
{
	inflateEnd(&f->gzip);
}

static bool zstd_begin(struct pl_inflate *f)
{
	f->zstd = ZSTD_createDStream();
	return f->zstd != NULL;
}

static int zstd_step(struct pl_inflate *f, uint8_t **out, size_t n, const char **reason)
{
	ZSTD_inBuffer in = {f->in, f->n_in, 0};
	ZSTD_outBuffer to = {*out, n, 0};
	size_t r;

	if (f->is_whole && f->n_in == 0)
		return 0;
	r = ZSTD_decompressStream(f->zstd, &to, &in);
	f->in += in.pos;
	f->n_in -= in.pos;
	*out += to.pos;
	f->is_whole = r == 0;
	if (!ZSTD_isError(r))
		return 0;
	*reason = ZSTD_getErrorName(r);
	return -EBADMSG;
}

static void zstd_end(struct pl_inflate *f)
{
	ZSTD_freeDStream(f->zstd);
}

static bool xz_begin(struct pl_inflate *f)
{
	f->xz = (lzma_stream)LZMA_STREAM_INIT;
	return lzma_stream_decoder(&f->xz, XZ_MEMORY_MAX, LZMA_CONCATENATED) == LZMA_OK;
}

static const char *xz_reason(lzma_ret r)
{
	switch (r) {
	case LZMA_MEMLIMIT_ERROR:
		return "its dictionary is too large: compress with xz -9 or less";
	case LZMA_OPTIONS_ERROR:
		return "it needs options that this xz library lacks";
	case LZMA_FORMAT_ERROR:
		return "what follows the last xz stream is not xz";
	default:
		return "incorrect data or checksum";
	}
}

static int xz_step(struct pl_inflate *f, uint8_t **out, size_t n, const char **reason)
{
	lzma_ret r;

	f->xz.next_in = f->in;
	f->xz.avail_in = f->n_in;
	f->xz.next_out = *out;
	f->xz.avail_out = n;
	r = lzma_code(&f->xz, f->is_all_in ? LZMA_FINISH : LZMA_RUN);
	f->in = f->xz.next_in;
	f->n_in = f->xz.avail_in;
	*out = f->xz.next_out;
	f->is_whole = r == LZMA_STREAM_END;
	f->is_over = f->is_whole;
	if (r == LZMA_OK || r == LZMA_STREAM_END || r == LZMA_BUF_ERROR)
		return 0;
	*reason = xz_reason(r);
	return r == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

static void xz_end(struct pl_inflate *f)
{
	lzma_end(&f->xz);
}

static const struct codec codecs[] = {
	{"gzip", {0x1f, 0x8b, 0x08}, 3, gzip_begin, gzip_step, gzip_end},
	{"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, zstd_begin, zstd_step, zstd_end},
	{"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, xz_begin, xz_step, xz_end},
};

static const struct codec *find(const void *head, size_t n)
{
	for (size_t i = 0; i < PL_ARRAY_LEN(codecs); i++)
		if (n >= codecs[i].n_magic && !memcmp(head, codecs[i].magic, codecs[i].n_magic))
			return &codecs[i];
	return NULL;
}

const char *pl_inflate_format(const void *head, size_t n)
{
	const struct codec *codec = find(head, n);

	return codec ? codec->name : NULL;
}

/* More of the file into `input`, which is used up. */
static int fill(struct pl_inflate *f, struct pl_err *err)
{
	ssize_t r;

	do
		r = pread(f->fd, f->input, sizeof(f->input), (off_t)f->offset);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return pl_err_set(err, -errno, "%s at byte %llu", strerror(errno),
			(unsigned long long)f->offset);
	f->in = f->input;
	f->n_in = (size_t)r;
	f->offset += (size_t)r;
	f->is_all_in = r == 0;
	return 0;
}

struct pl_inflate *pl_inflate_create(int fd, struct pl_err *err)
{
	struct pl_inflate *f = calloc(1, sizeof(*f));

	if (!f) {
		pl_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	f->fd = fd;
	if (fill(f, err)) {
		free(f);
		return NULL;
	}
	f->codec = find(f->in, f->n_in);
	if (!f->codec || !f->codec->begin(f)) {
		pl_err_set(err, f->codec ? -ENOMEM : -EBADMSG, "%s",
			f->codec ? "out of memory" : "it is not compressed data");
		free(f);
		return NULL;
	}
	return f;
}

void pl_inflate_destroy(struct pl_inflate *f)
{
	if (!f)
		return;
	f->codec->end(f);
	free(f);
}

static int damaged(struct pl_inflate *f, const char *reason, struct pl_err *err)
{
	return pl_err_set(err, -EBADMSG, "the %s data %s at byte %llu of the file: %s",
		f->codec->name, f->is_all_in ? "ends" : "is damaged",
		(unsigned long long)(f->offset - f->n_in), reason);
}

int64_t pl_inflate_read(struct pl_inflate *f, void *to, size_t n, struct pl_err *err)
{
	uint8_t *out = to;
	uint8_t *end = out + n;
	const char *reason = "";
	int r;

	while (out < end && !f->is_over) {
		const uint8_t *before = out;

		r = f->n_in || f->is_all_in ? 0 : fill(f, err);
		if (r)
			return r;
		r = f->codec->step(f, &out,
			(size_t)(end - out) < INT32_MAX ? (size_t)(end - out) : INT32_MAX, &reason);
		if (r == -ENOMEM)
			return pl_err_set(err, r, "out of memory");
		if (r)
			return damaged(f, reason, err);
		if (out > before || !f->is_all_in)
			continue;
		if (!f->is_whole)
			return damaged(f, "it was cut", err);
		f->is_over = true;
	}
	return out - (uint8_t *)to;
}
