/* daemon/sources/token_file.c - where the tokens of a file begin, what they are and how many. */
#include "daemon/sources/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "daemon/sources/regular.h"

#define LLMC_HEAD_BYTES 1024u
#define IDX_HEAD_BYTES  34u
#define IDX_PIECE       8192u /* sequences looked at in one go */

static int agree(struct pl_token_file *t, enum pl_dtype found, enum pl_dtype wanted,
	const char *where, struct pl_err *err)
{
	if (wanted && wanted != found)
		return pl_err_set(err, -EINVAL, "dtype is %s, but %s says %s",
			pl_dtype_name(wanted), where, pl_dtype_name(found));
	t->dtype = found;
	return 0;
}

static int count(struct pl_token_file *t, uint64_t bytes, struct pl_err *err)
{
	size_t size = pl_dtype_size(t->dtype);

	if ((bytes - t->data_offset) % size)
		return pl_err_set(err, -EINVAL,
			"%llu bytes of tokens are no whole number of %s: another dtype, or cut "
			"short",
			(unsigned long long)(bytes - t->data_offset), pl_dtype_name(t->dtype));
	t->n_tokens = (bytes - t->data_offset) / size;
	return 0;
}

static int look_raw(
	struct pl_token_file *t, enum pl_dtype dtype, uint64_t bytes, struct pl_err *err)
{
	if (!dtype)
		return pl_err_set(err, -EINVAL,
			"a raw file doesn't say what its tokens are: write dtype: u16 or u32");
	t->dtype = dtype;
	return count(t, bytes, err);
}

static int look_llmc(
	struct pl_token_file *t, enum pl_dtype dtype, int fd, uint64_t bytes, struct pl_err *err)
{
	static const struct {
		int32_t magic;
		int32_t version;
		enum pl_dtype dtype;
	} known[] = {{20240520, 1, PL_U16}, {20240801, 7, PL_U32}};
	int32_t head[3];
	size_t i = 0;
	int r;

	if (bytes < LLMC_HEAD_BYTES)
		return pl_err_set(err, -EINVAL, "truncated llm.c header: %llu of 1024 bytes",
			(unsigned long long)bytes);
	r = pl_regular_read_at(fd, 0, head, sizeof(head), err);
	if (r)
		return r;
	while (i < PL_ARRAY_LEN(known) && known[i].magic != head[0])
		i++;
	if (i == PL_ARRAY_LEN(known))
		return pl_err_set(err, -EINVAL,
			"no llm.c header: magic %d (20240520 and 20240801 are known; format: raw "
			"has "
			"no header)",
			head[0]);
	if (head[1] != known[i].version)
		return pl_err_set(err, -EINVAL, "llm.c header version %d (%d is known)", head[1],
			known[i].version);
	t->data_offset = LLMC_HEAD_BYTES;
	r = agree(t, known[i].dtype, dtype, "the header", err);
	if (!r)
		r = count(t, bytes, err);
	if (!r && (head[2] < 0 || (uint64_t)head[2] != t->n_tokens))
		return pl_err_set(err, -EINVAL,
			"the llm.c header says %d tokens, the file has %llu", head[2],
			(unsigned long long)t->n_tokens);
	return r;
}

/* A MMIDIDX index under inspection. */
struct idx {
	int fd;
	uint64_t bytes;
	uint64_t n;           /* sequences */
	uint64_t n_documents; /* entries of the document index */
	uint64_t bin_bytes;
	size_t token_bytes;
	uint64_t end; /* where the sequences so far end in the .bin */
	struct pl_err *err;
};

static int idx_dtype(uint8_t code, enum pl_dtype *dtype, struct pl_err *err)
{
	static const enum pl_dtype known[] = {
		0, PL_U8, PL_I8, PL_I16, PL_I32, PL_I64, PL_F64, PL_F32, PL_U16};

	*dtype = code < PL_ARRAY_LEN(known) ? known[code] : 0;
	if (!*dtype || pl_dtype_is_float(*dtype))
		return pl_err_set(
			err, -EINVAL, "dtype code %d is none of whole numbers (1 to 5, 8)", code);
	return 0;
}

static int idx_head(struct idx *x, enum pl_dtype *dtype)
{
	unsigned char b[IDX_HEAD_BYTES];
	uint64_t version, room, a, need;
	int r;

	if (x->bytes < sizeof(b))
		return pl_err_set(x->err, -EINVAL, "truncated .idx: %llu bytes",
			(unsigned long long)x->bytes);
	r = pl_regular_read_at(x->fd, 0, b, sizeof(b), x->err);
	if (r)
		return r;
	if (memcmp(b, "MMIDIDX\0\0", 9) != 0)
		return pl_err_set(x->err, -EINVAL, "bad .idx magic: no MMIDIDX");
	memcpy(&version, b + 9, 8);
	if (version != 1)
		return pl_err_set(x->err, -EINVAL, ".idx version %llu (1 is known)",
			(unsigned long long)version);
	r = idx_dtype(b[17], dtype, x->err);
	if (r)
		return r;
	memcpy(&x->n, b + 18, 8);
	memcpy(&x->n_documents, b + 26, 8);
	room = x->bytes - sizeof(b);
	if (__builtin_mul_overflow(x->n, 12, &need) ||
		__builtin_mul_overflow(x->n_documents, 8, &a) ||
		__builtin_add_overflow(need, a, &need))
		return pl_err_set(x->err, -EINVAL,
			"a count of %llu sequences and %llu documents does not fit the file",
			(unsigned long long)x->n, (unsigned long long)x->n_documents);
	if (need > room)
		return pl_err_set(x->err, -EINVAL,
			"truncated .idx: %llu sequences and %llu documents need %llu bytes behind "
			"the head, %llu are there",
			(unsigned long long)x->n, (unsigned long long)x->n_documents,
			(unsigned long long)need, (unsigned long long)room);
	return 0;
}

static int idx_sequence(struct idx *x, uint64_t i, int32_t tokens, int64_t pointer)
{
	uint64_t bytes = (uint64_t)tokens * x->token_bytes;

	if (tokens < 0)
		return pl_err_set(x->err, -EINVAL, "sequence %llu has a negative length",
			(unsigned long long)i);
	if (pointer < 0)
		return pl_err_set(x->err, -EINVAL, "sequence %llu has a negative pointer",
			(unsigned long long)i);
	if ((uint64_t)pointer > x->bin_bytes || bytes > x->bin_bytes - (uint64_t)pointer)
		return pl_err_set(x->err, -EINVAL,
			"sequence %llu (%lld+%llu bytes) ends past the .bin (%llu bytes)",
			(unsigned long long)i, (long long)pointer, (unsigned long long)bytes,
			(unsigned long long)x->bin_bytes);
	if ((uint64_t)pointer != x->end)
		return pl_err_set(x->err, -EINVAL,
			"sequence %llu begins at byte %lld of the .bin, the one before ends at "
			"%llu: "
			"gaps are not supported",
			(unsigned long long)i, (long long)pointer, (unsigned long long)x->end);
	x->end += bytes;
	return 0;
}

static int idx_sequences(struct idx *x)
{
	PL_AUTO_FREE int32_t *tokens = malloc(IDX_PIECE * sizeof(*tokens));
	PL_AUTO_FREE int64_t *pointer = malloc(IDX_PIECE * sizeof(*pointer));
	uint64_t sizes = IDX_HEAD_BYTES, pointers = sizes + x->n * 4;
	int r = tokens && pointer ? 0 : pl_err_set(x->err, -ENOMEM, "out of memory");

	for (uint64_t at = 0; at < x->n && !r; at += IDX_PIECE) {
		uint64_t n = pl_min_u64(IDX_PIECE, x->n - at);

		r = pl_regular_read_at(x->fd, sizes + at * 4, tokens, n * 4, x->err);
		if (!r)
			r = pl_regular_read_at(x->fd, pointers + at * 8, pointer, n * 8, x->err);
		for (uint64_t i = 0; i < n && !r; i++)
			r = idx_sequence(x, at + i, tokens[i], pointer[i]);
	}
	return r;
}

/* Documents end with the last sequence, else the index is of another file. */
static int idx_documents(struct idx *x)
{
	uint64_t at = IDX_HEAD_BYTES + x->n * 12;
	int64_t last;
	int r;

	if (x->n_documents == 0)
		return 0;
	r = pl_regular_read_at(x->fd, at + (x->n_documents - 1) * 8, &last, sizeof(last), x->err);
	if (!r && (last < 0 || (uint64_t)last != x->n))
		r = pl_err_set(x->err, -EINVAL, "last document index %lld != %llu sequences",
			(long long)last, (unsigned long long)x->n);
	return r;
}

static int idx_check(struct idx *x, struct pl_token_file *t, enum pl_dtype dtype)
{
	enum pl_dtype found = 0;
	int r = idx_head(x, &found);

	if (r)
		return r;
	x->token_bytes = pl_dtype_size(found);
	r = agree(t, found, dtype, "the index", x->err);
	if (!r)
		r = idx_sequences(x);
	if (!r)
		r = idx_documents(x);
	if (!r && x->end != x->bin_bytes)
		r = pl_err_set(x->err, -EINVAL,
			"the sequences end at byte %llu of the .bin, which has %llu",
			(unsigned long long)x->end, (unsigned long long)x->bin_bytes);
	return r;
}

static int look_megatron(struct pl_token_file *t, enum pl_dtype dtype, const char *path,
	uint64_t bytes, struct pl_err *err)
{
	PL_AUTO_CLOSE int fd = -1;
	struct idx x = {.bin_bytes = bytes, .err = err};
	char name[PATH_MAX], quoted[1024];
	size_t n = strlen(path);
	int r;

	if (n < 4 || strcmp(path + n - 4, ".bin") != 0 || n >= sizeof(name))
		return pl_err_set(err, -EINVAL, "format: megatron needs a name that ends in .bin");
	memcpy(name, path, n - 4);
	memcpy(name + n - 4, ".idx", 5);
	r = pl_regular_open(AT_FDCWD, name, &fd, &x.bytes, err);
	x.fd = fd;
	if (!r)
		r = idx_check(&x, t, dtype);
	if (r) {
		pl_err_prefix(err, "its index %s: ", pl_err_quote(quoted, sizeof(quoted), name));
		return r;
	}
	return count(t, bytes, err);
}

int pl_token_file_look(struct pl_token_file *t, enum pl_token_format format, enum pl_dtype dtype,
	const char *path, int fd, uint64_t bytes, struct pl_err *err)
{
	*t = (struct pl_token_file){0};
	switch (format) {
	case PL_TOKENS_LLMC:
		return look_llmc(t, dtype, fd, bytes, err);
	case PL_TOKENS_MEGATRON:
		return look_megatron(t, dtype, path, bytes, err);
	case PL_TOKENS_RAW:
		break;
	}
	return look_raw(t, dtype, bytes, err);
}
