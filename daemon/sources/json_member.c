/* daemon/sources/json_member.c - values inside of JSON as fields of a sample. */
#include "daemon/sources/json_member.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/kit/text_list.h"
#include "daemon/sources/number_store.h"

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a fraction";
	case JSON_NULL:
		return "null";
	default:
		return "true or false";
	}
}

static int is_no(const json_t *value, const char *wanted, struct pl_err *err)
{
	return pl_err_set(err, -EINVAL, "it is %s, not %s", type_name(value), wanted);
}

json_t *pl_json_member_parse(const char *text, size_t n, struct pl_err *err)
{
	json_error_t e;
	json_t *value = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);

	if (!value)
		pl_err_set(err, -EBADMSG, "not valid JSON at line %d, column %d: %s", e.line,
			e.column, e.text);
	return value;
}

/* Room for a value of that shape, which becomes the target's. */
static void *make(
	const struct pl_json_place *to, int rank, const int64_t *shape, struct pl_err *err)
{
	const struct pl_scratch *scratch = to->sample->scratch;
	struct pl_tensor *t = &to->sample->value[to->field];
	size_t bytes = pl_dtype_size(to->type->dtype);
	bool is_good = true;

	*t = (struct pl_tensor){.dtype = to->type->dtype, .rank = rank};
	for (int d = rank - 1; d >= 0; d--) {
		t->shape[d] = shape[d];
		t->stride[d] = (int64_t)bytes;
		is_good = is_good && pl_size_mul(bytes, (size_t)shape[d], &bytes);
	}
	if (is_good && bytes <= scratch->limit - scratch->taken)
		t->data = pl_sample_alloc(to->sample, to->field, bytes);
	if (!t->data)
		pl_err_set(err, -EMSGSIZE, "it is more than the %zu bytes a sample may take",
			scratch->limit);
	return t->data;
}

static int store(const json_t *value, enum pl_dtype dtype, void *to, struct pl_err *err)
{
	bool is_stored;

	if (json_is_boolean(value) && dtype == PL_BOOL)
		is_stored = pl_number_store_int(dtype, to, json_is_true(value));
	else if (json_is_integer(value) && dtype != PL_BOOL)
		is_stored = pl_number_store_int(dtype, to, json_integer_value(value));
	else if (json_is_real(value) && dtype != PL_BOOL)
		is_stored = pl_number_store_real(dtype, to, json_real_value(value));
	else
		return is_no(value, pl_dtype_name(dtype), err);
	return is_stored ? 0
			 : pl_err_set(err, -ERANGE, "%.17g is no %s", json_number_value(value),
				   pl_dtype_name(dtype));
}

/* The shape that the first elements have; rank levels of arrays. */
static int measure(
	const json_t *value, const struct pl_type *type, int64_t *shape, struct pl_err *err)
{
	for (int d = 0; d < type->rank; d++) {
		if (d > 0 && shape[d - 1] == 0) {
			shape[d] = type->shape[d] < 0 ? 0 : type->shape[d];
			continue;
		}
		if (!json_is_array(value))
			return is_no(value, "an array", err);
		shape[d] = (int64_t)json_array_size(value);
		if (type->shape[d] >= 0 && type->shape[d] != shape[d])
			return pl_err_set(err, -EINVAL, "an array has %lld elements, not %lld",
				(long long)shape[d], (long long)type->shape[d]);
		value = json_array_get(value, 0);
	}
	return 0;
}

/* Elements in row order; *at moves on. Recursion is no deeper than the rank. */
static int store_all(
	const json_t *value, const struct pl_tensor *t, int d, char **at, struct pl_err *err)
{
	int r = 0;

	if (d == t->rank) {
		r = store(value, t->dtype, *at, err);
		*at += pl_dtype_size(t->dtype);
		return r;
	}
	if (!json_is_array(value))
		return is_no(value, "an array", err);
	if ((int64_t)json_array_size(value) != t->shape[d])
		return pl_err_set(err, -EINVAL, "arrays side by side have %lld and %zu elements",
			(long long)t->shape[d], json_array_size(value));
	for (size_t i = 0; i < json_array_size(value) && !r; i++)
		r = store_all(json_array_get(value, i), t, d + 1, at, err);
	return r;
}

static int fill_numbers(const json_t *value, const struct pl_json_place *to, struct pl_err *err)
{
	int64_t shape[PL_RANK_MAX];
	int r = measure(value, to->type, shape, err);
	char *at;

	if (r)
		return r;
	at = make(to, to->type->rank, shape, err);
	return at ? store_all(value, &to->sample->value[to->field], 0, &at, err) : -EMSGSIZE;
}

static int fill_text(const json_t *value, const struct pl_json_place *to, struct pl_err *err)
{
	int64_t n = (int64_t)json_string_length(value);
	char *at;

	if (!json_is_string(value))
		return is_no(value, "a string", err);
	at = make(to, 1, &n, err);
	if (at)
		memcpy(at, json_string_value(value), (size_t)n);
	return at ? 0 : -EMSGSIZE;
}

static int fill_json(const json_t *value, const struct pl_json_place *to, struct pl_err *err)
{
	size_t flags = JSON_ENCODE_ANY | JSON_COMPACT;
	int64_t n = (int64_t)json_dumpb(value, NULL, 0, flags);
	char *at = make(to, 1, &n, err);

	if (!at)
		return -EMSGSIZE;
	(void)json_dumpb(value, at, (size_t)n, flags);
	return 0;
}

static int fill_list(const json_t *value, const struct pl_json_place *to, struct pl_err *err)
{
	size_t count = json_array_size(value);
	size_t bytes = 0;
	int64_t n;
	char *at;

	if (!json_is_array(value))
		return is_no(value, "an array of strings", err);
	for (size_t i = 0; i < count; i++) {
		if (!json_is_string(json_array_get(value, i)))
			return is_no(json_array_get(value, i), "a string", err);
		bytes += json_string_length(json_array_get(value, i));
	}
	n = (int64_t)pl_text_list_bytes(count, bytes);
	at = n ? make(to, 1, &n, err) : NULL;
	if (!at)
		return n ? -EMSGSIZE : pl_err_set(err, -EMSGSIZE, "the list is too long");
	pl_text_list_begin(at, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		const json_t *text = json_array_get(value, i);

		pl_text_list_put(
			at, (uint32_t)i, json_string_value(text), json_string_length(text));
	}
	return 0;
}

/* The value of that name or number in `value`, or NULL. */
static json_t *step_into(json_t *value, const char *name, size_t n)
{
	char text[256];
	char *end;
	unsigned long long i;

	if (n == 0 || n >= sizeof(text))
		return NULL;
	memcpy(text, name, n);
	text[n] = '\0';
	if (json_is_object(value))
		return json_object_get(value, text);
	if (!json_is_array(value) || text[0] < '0' || text[0] > '9')
		return NULL;
	i = strtoull(text, &end, 10);
	return *end ? NULL : json_array_get(value, i);
}

static json_t *find(json_t *root, const char *path, struct pl_err *err)
{
	json_t *value = root;
	char quoted[512];

	for (const char *at = path; *at;) {
		size_t n = strcspn(at, ".");

		value = step_into(value, at, n);
		if (!value) {
			pl_err_set(err, -ENOENT, "the JSON has no '%s'",
				pl_err_quote(quoted, sizeof(quoted), path));
			return NULL;
		}
		at += n + (at[n] == '.');
	}
	return value;
}

static int fill(const json_t *value, const struct pl_json_place *to, struct pl_err *err)
{
	switch (to->type->kind) {
	case PL_KIND_TEXT:
		return fill_text(value, to, err);
	case PL_KIND_JSON:
		return fill_json(value, to, err);
	case PL_KIND_LIST:
		return fill_list(value, to, err);
	default:
		return fill_numbers(value, to, err);
	}
}

int pl_json_member_at(
	json_t *root, const char *path, const struct pl_json_place *to, struct pl_err *err)
{
	json_t *value = find(root, path, err);
	int r = value ? fill(value, to, err) : -ENOENT;

	if (value && r)
		pl_err_prefix(err, "%s: ", path);
	return r;
}

static const char *trim(const char *text, size_t *n)
{
	while (*n && strchr(" \t\r\n", *text) && *text) {
		text++;
		(*n)--;
	}
	while (*n && strchr(" \t\r\n", text[*n - 1]) && text[*n - 1])
		(*n)--;
	return text;
}

/* A number as JSON has it, and also 007, +1, .5, nan and inf; no hexadecimal. */
static bool store_text(const char *text, enum pl_dtype dtype, void *to)
{
	char *end;
	long long whole;
	double real;

	if (!*text || strcspn(text, "xXpP \t\r\n(") != strlen(text))
		return false;
	errno = 0;
	whole = strtoll(text, &end, 10);
	if (!*end)
		return errno == 0 && pl_number_store_int(dtype, to, whole);
	real = strtod(text, &end);
	return !*end && pl_number_store_real(dtype, to, real);
}

/* The text with a NUL; true and false are 1 and 0. False: it is too long for a number. */
static bool copy_number(const char *text, size_t n, enum pl_dtype dtype, char *to, size_t room)
{
	if (n >= room || memchr(text, 0, n))
		return false;
	memcpy(to, text, n);
	to[n] = '\0';
	if (dtype == PL_BOOL && (!strcmp(to, "true") || !strcmp(to, "false")))
		memcpy(to, to[0] == 't' ? "1" : "0", 2);
	return true;
}

int pl_json_member_of_text(
	const char *text, size_t n, const struct pl_json_place *to, struct pl_err *err)
{
	enum pl_dtype dtype = to->type->dtype;
	char number[128];
	char quoted[512];
	void *at = make(to, 0, NULL, err);

	if (!at)
		return -EMSGSIZE;
	text = trim(text, &n);
	if (copy_number(text, n, dtype, number, sizeof(number)) && store_text(number, dtype, at))
		return 0;
	snprintf(number, sizeof(number), "%.*s", (int)pl_min_u64(n, 64), text);
	return pl_err_set(err, -EINVAL, "'%s' is no %s",
		pl_err_quote(quoted, sizeof(quoted), number), pl_dtype_name(dtype));
}
