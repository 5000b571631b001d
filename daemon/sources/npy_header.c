/* daemon/sources/npy_header.c - the head of a NumPy .npy file, read strictly. */
/*
 * Magic, version, length, then a Python dictionary literal: {'descr': '<f4', 'fortran_order':
 * False, 'shape': (3, 4), }. Only that much of Python is understood: no expression, no nesting.
 */
#include "daemon/sources/npy_header.h"

#include <ctype.h>
#include <errno.h>

#include "daemon/sources/regular.h"

#define MAGIC_BYTES 8 /* with the version */

struct cursor {
	const char *at;
	const char *begin;
	const char *end;
	struct pl_err *err;
};

static int malformed(const struct cursor *c, const char *what)
{
	return pl_err_set(c->err, -EINVAL, "malformed .npy header: %s at its byte %zu", what,
		(size_t)(c->at - c->begin));
}

static void skip_space(struct cursor *c)
{
	while (c->at < c->end && isspace((unsigned char)*c->at))
		c->at++;
}

static bool accept(struct cursor *c, char sign)
{
	skip_space(c);
	if (c->at == c->end || *c->at != sign)
		return false;
	c->at++;
	return true;
}

static bool accept_word(struct cursor *c, const char *word)
{
	size_t n = strlen(word);

	skip_space(c);
	if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
		return false;
	c->at += n;
	return true;
}

/* A quoted text without escapes, as numpy writes them. */
static int read_text(struct cursor *c, const char **text, size_t *n)
{
	const char *end;
	char quote;

	skip_space(c);
	if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
		return malformed(c, "a quoted text is expected");
	quote = *c->at++;
	end = memchr(c->at, quote, (size_t)(c->end - c->at));
	if (!end || memchr(c->at, '\\', (size_t)(end - c->at)))
		return malformed(c, "a text without end, or with escapes");
	*text = c->at;
	*n = (size_t)(end - c->at);
	c->at = end + 1;
	return 0;
}

static int read_length(struct cursor *c, int64_t *length)
{
	skip_space(c);
	if (c->at < c->end && *c->at == '-')
		return malformed(c, "negative dimension");
	if (c->at == c->end || !isdigit((unsigned char)*c->at))
		return malformed(c, "a whole number is expected in shape");
	for (*length = 0; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
		if (__builtin_mul_overflow(*length, 10, length) ||
			__builtin_add_overflow(*length, *c->at - '0', length))
			return malformed(c, "a dimension doesn't fit 64 bits");
	if (c->at < c->end && *c->at == 'L') /* written by Python 2 */
		c->at++;
	return 0;
}

static int read_shape(struct cursor *c, struct pl_npy_header *h)
{
	bool has_comma = false;

	if (!accept(c, '('))
		return malformed(c, "shape must be a tuple");
	while (!accept(c, ')')) {
		int r;

		if (h->rank > 0 && !has_comma)
			return malformed(c, "',' or ')' is expected in shape");
		if (h->rank == PL_RANK_MAX)
			return pl_err_set(c->err, -EINVAL, "the array has more than %d dimensions",
				PL_RANK_MAX);
		r = read_length(c, &h->shape[h->rank]);
		if (r)
			return r;
		h->rank++;
		has_comma = accept(c, ',');
	}
	if (h->rank == 1 && !has_comma)
		return malformed(c, "shape is no tuple ('(12)' is a number, '(12,)' a tuple)");
	return 0;
}

static int read_descr(struct cursor *c, struct pl_npy_header *h)
{
	static const struct {
		const char *code;
		enum pl_dtype dtype;
	} codes[] = {
		{"b1", PL_BOOL},
		{"u1", PL_U8},
		{"u2", PL_U16},
		{"u4", PL_U32},
		{"u8", PL_U64},
		{"i1", PL_I8},
		{"i2", PL_I16},
		{"i4", PL_I32},
		{"i8", PL_I64},
		{"f2", PL_F16},
		{"f4", PL_F32},
		{"f8", PL_F64},
	};
	const char *text;
	size_t n;
	int r;

	skip_space(c);
	if (c->at < c->end && *c->at == '[')
		return pl_err_set(c->err, -EINVAL,
			"a structured dtype is not supported: save each of its fields as an array");
	r = read_text(c, &text, &n);
	if (r)
		return r;
	for (size_t i = 0; n == 3 && i < PL_ARRAY_LEN(codes); i++) {
		if (memcmp(codes[i].code, text + 1, 2) != 0 || !strchr("<>=|", text[0]))
			continue;
		h->dtype = codes[i].dtype;
		h->is_swapped = text[0] == '>' && pl_dtype_size(h->dtype) > 1;
		return 0;
	}
	if (n >= 2 && text[1] == 'O')
		return pl_err_set(c->err, -EINVAL,
			"object arrays (dtype '|O') hold pickled Python: not supported");
	return pl_err_set(c->err, -EINVAL,
		"dtype '%.*s' is none of the numbers: bool, u1 to u8, i1 to i8, f2 to f8",
		(int)(n < 32 ? n : 32), text);
}

static int read_order(struct cursor *c, struct pl_npy_header *h)
{
	h->is_fortran = accept_word(c, "True");
	return h->is_fortran || accept_word(c, "False")
		       ? 0
		       : malformed(c, "fortran_order must be True or False");
}

static int read_dictionary(struct cursor *c, struct pl_npy_header *h)
{
	static const struct {
		const char *key;
		int (*read)(struct cursor *c, struct pl_npy_header *h);
	} keys[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
	unsigned seen = 0;

	if (!accept(c, '{'))
		return malformed(c, "a dictionary is expected");
	while (!accept(c, '}')) {
		const char *key;
		size_t n, k = 0;
		int r = read_text(c, &key, &n);

		if (r)
			return r;
		while (k < PL_ARRAY_LEN(keys) &&
			(strlen(keys[k].key) != n || memcmp(keys[k].key, key, n) != 0))
			k++;
		if (k == PL_ARRAY_LEN(keys) || seen & 1u << k)
			return malformed(c, "an unknown key, or one twice,");
		seen |= 1u << k;
		r = accept(c, ':') ? keys[k].read(c, h) : malformed(c, "':' is expected");
		if (r)
			return r;
		skip_space(c);
		if (!accept(c, ',') && (c->at == c->end || *c->at != '}'))
			return malformed(c, "an expression, where a literal is expected,");
	}
	skip_space(c);
	if (c->at < c->end)
		return malformed(c, "more than a dictionary");
	return seen == 7 ? 0 : malformed(c, "descr, fortran_order or shape is missing");
}

/* Bytes of the length field and the length it holds. */
static int read_frame(int fd, uint64_t file_bytes, uint64_t *begin, uint64_t *n, struct pl_err *err)
{
	unsigned char b[12] = {0};
	size_t have = file_bytes < sizeof(b) ? (size_t)file_bytes : sizeof(b);
	int r = pl_regular_read_at(fd, 0, b, have, err);

	if (r)
		return r;
	if (memcmp(b, "\x93NUMPY", pl_min_u64(have, 6)) != 0)
		return pl_err_set(err, -EINVAL, "not a .npy file: its first bytes are others");
	if (have < MAGIC_BYTES + 2 || (b[6] > 1 && have < MAGIC_BYTES + 4))
		return pl_err_set(err, -EINVAL, "truncated .npy header: the file has %llu bytes",
			(unsigned long long)file_bytes);
	if (b[6] < 1 || b[6] > 3 || b[7] != 0)
		return pl_err_set(err, -EINVAL, "version %d.%d of .npy is unknown (1.0 to 3.0 are)",
			b[6], b[7]);
	*begin = MAGIC_BYTES + (b[6] == 1 ? 2 : 4);
	*n = (uint64_t)b[8] | (uint64_t)b[9] << 8;
	if (b[6] > 1)
		*n |= (uint64_t)b[10] << 16 | (uint64_t)b[11] << 24;
	if (*n > PL_NPY_HEADER_MAX)
		return pl_err_set(err, -EINVAL, "the .npy header is too long: %llu bytes",
			(unsigned long long)*n);
	if (*n > file_bytes - *begin)
		return pl_err_set(err, -EINVAL,
			"truncated .npy header: %llu of %llu bytes are there",
			(unsigned long long)(file_bytes - *begin), (unsigned long long)*n);
	return 0;
}

static int check_data(struct pl_npy_header *h, uint64_t file_bytes, struct pl_err *err)
{
	struct pl_tensor t;
	char shape[256];

	if (pl_tensor_init(&t, NULL, h->dtype, h->rank, h->shape) < 0)
		return pl_err_set(err, -EINVAL, "malformed .npy header: shape %s overflows",
			pl_shape_format(shape, sizeof(shape), h->rank, h->shape));
	h->data_bytes = (uint64_t)pl_tensor_bytes(&t);
	if (h->data_bytes > file_bytes - h->data_offset)
		return pl_err_set(err, -EINVAL,
			"data too short: shape %s of %s needs %llu bytes behind the header, %llu "
			"are there",
			pl_shape_format(shape, sizeof(shape), h->rank, h->shape),
			pl_dtype_name(h->dtype), (unsigned long long)h->data_bytes,
			(unsigned long long)(file_bytes - h->data_offset));
	return 0;
}

int pl_npy_header_read(struct pl_npy_header *h, int fd, uint64_t file_bytes, struct pl_err *err)
{
	PL_AUTO_FREE char *text = NULL;
	struct cursor c = {.err = err};
	uint64_t begin = 0, n = 0;
	int r = read_frame(fd, file_bytes, &begin, &n, err);

	*h = (struct pl_npy_header){.data_offset = begin + n};
	if (r)
		return r;
	text = malloc(n + 1);
	if (!text)
		return pl_err_set(err, -ENOMEM, "out of memory");
	r = pl_regular_read_at(fd, begin, text, n, err);
	if (r)
		return r;
	c.at = c.begin = text;
	c.end = text + n;
	r = read_dictionary(&c, h);
	return r ? r : check_data(h, file_bytes, err);
}
