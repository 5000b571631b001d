/* daemon/sources/tar_pax.c - the records of a pax extended header: "LENGTH KEY=VALUE\n". */
#include "daemon/sources/tar_pax.h"

#include <errno.h>

static int malformed(struct pl_err *err, const char *what)
{
	return pl_err_set(err, -EBADMSG, "malformed pax header: %s", what);
}

static int read_number(struct pl_tar_text value, uint64_t *number, struct pl_err *err)
{
	*number = 0;
	for (size_t i = 0; i < value.n; i++) {
		if (value.text[i] < '0' || value.text[i] > '9' || *number > INT64_MAX / 10 - 1)
			return malformed(err, "a size is no number");
		*number = *number * 10 + (uint64_t)(value.text[i] - '0');
	}
	return value.n ? 0 : malformed(err, "a size is no number");
}

static int read_name(struct pl_tar_text value, struct pl_tar_text *name, struct pl_err *err)
{
	if (memchr(value.text, 0, value.n))
		return malformed(err, "a name has a NUL byte");
	*name = value.n ? value : (struct pl_tar_text){NULL, 0};
	return 0;
}

static int take_path(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	return read_name(v, &pax->path, err);
}

static int take_link(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	return read_name(v, &pax->link, err);
}

static int take_bytes(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	pax->has_bytes = v.n > 0;
	return v.n ? read_number(v, &pax->bytes, err) : 0;
}

static int take_sparse_name(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	return read_name(v, &pax->sparse_name, err);
}

static int take_real_bytes(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	pax->is_sparse = pax->has_real_bytes = true;
	return read_number(v, &pax->real_bytes, err);
}

static int take_major(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	pax->is_sparse = true;
	pax->has_map_in_data = v.n == 1 && v.text[0] == '1';
	if (v.n == 1 && (v.text[0] == '0' || v.text[0] == '1'))
		return 0;
	return malformed(err, "a sparse member of a form later than 1.0");
}

static int take_span_offset(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	pax->is_sparse = pax->has_span_offset = true;
	return read_number(v, &pax->span_offset, err);
}

static int take_span_bytes(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	uint64_t bytes;
	int r = read_number(v, &bytes, err);

	if (r)
		return r;
	if (!pax->has_span_offset)
		return malformed(err, "a sparse part without an offset");
	pax->has_span_offset = false;
	return pl_tar_map_add(&pax->map, pax->span_offset, bytes, err);
}

static int take_map(struct pl_tar_pax *pax, struct pl_tar_text v, struct pl_err *err)
{
	pax->is_sparse = true;
	pax->map.n = 0;
	return pl_tar_map_read_text(&pax->map, v.text, v.n, err);
}

static const struct {
	const char *key;
	int (*take)(struct pl_tar_pax *pax, struct pl_tar_text value, struct pl_err *err);
} keys[] = {
	{"path", take_path},
	{"linkpath", take_link},
	{"size", take_bytes},
	{"GNU.sparse.name", take_sparse_name},
	{"GNU.sparse.size", take_real_bytes},
	{"GNU.sparse.realsize", take_real_bytes},
	{"GNU.sparse.major", take_major},
	{"GNU.sparse.offset", take_span_offset},
	{"GNU.sparse.numbytes", take_span_bytes},
	{"GNU.sparse.map", take_map},
};

static int take(struct pl_tar_pax *pax, struct pl_tar_text key, struct pl_tar_text value,
	struct pl_err *err)
{
	for (size_t i = 0; i < PL_ARRAY_LEN(keys); i++)
		if (strlen(keys[i].key) == key.n && !memcmp(keys[i].key, key.text, key.n))
			return keys[i].take(pax, value, err);
	return 0;
}

/* One record at the start of n bytes: how long it is, -EBADMSG or -ENOMEM with err. */
static int64_t parse_record(struct pl_tar_pax *pax, const char *at, size_t n, struct pl_err *err)
{
	const char *equals;
	struct pl_tar_text key, value;
	size_t length = 0;
	size_t i = 0;
	int r;

	for (; i < n && at[i] >= '0' && at[i] <= '9' && length <= n; i++)
		length = length * 10 + (size_t)(at[i] - '0');
	if (i == 0 || i == n || at[i] != ' ')
		return malformed(err, "a record doesn't begin with its length");
	if (length > n || length < i + 4)
		return malformed(err, "a record's length is not within the header");
	if (at[length - 1] != '\n')
		return malformed(err, "a record doesn't end where its length says");
	key.text = at + i + 1;
	equals = memchr(key.text, '=', length - i - 2);
	if (!equals || equals == key.text)
		return malformed(err, "a record has no key=value");
	key.n = (size_t)(equals - key.text);
	value.text = equals + 1;
	value.n = (size_t)(at + length - 1 - value.text);
	r = take(pax, key, value, err);
	return r ? r : (int64_t)length;
}

int pl_tar_pax_parse(struct pl_tar_pax *pax, const char *bytes, size_t n, struct pl_err *err)
{
	while (n) {
		int64_t length = parse_record(pax, bytes, n, err);

		if (length < 0)
			return (int)length;
		bytes += length;
		n -= (size_t)length;
	}
	return 0;
}

void pl_tar_pax_finish(struct pl_tar_pax *pax)
{
	pl_tar_map_finish(&pax->map);
	*pax = (struct pl_tar_pax){0};
}
