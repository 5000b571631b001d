/* daemon/sources/json_value.c - a JSON value as the value of a field. */
#include "daemon/sources/json_value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "daemon/kit/text_list.h"
#include "daemon/sources/line_text.h"
#include "daemon/sources/number.h"

bool pl_json_has_type(const struct pl_type *type)
{
	return type->kind != PL_KIND_BYTES;
}

/* "column 12: field 'a': '1.5' is no whole number". */
static int refuse(const struct pl_json_target *t, struct pl_json_span value, const char *reason,
	struct pl_err *err)
{
	char shown[256];

	return pl_err_set(err, -EINVAL, "column %td: field '%s': %s %s", value.at - t->line + 1,
		t->spec->name, pl_line_text_show(shown, sizeof(shown), value.at, value.n), reason);
}

static int store_text(const struct pl_json_target *t, struct pl_json_span value, struct pl_err *err)
{
	struct pl_json_span inside = {value.at + 1, value.n - 2};
	size_t n;
	char *to;

	if (*value.at != '"')
		return refuse(t, value, "is no text", err);
	if (!memchr(inside.at, '\\', inside.n))
		return pl_line_text_put(t->sample, t->field, inside.at, inside.n, err);
	to = pl_line_text_alloc(t->sample, t->field, inside.n, err);
	if (!to)
		return -ENOMEM;
	if (pl_json_unescape(inside, to, &n) && !t->replaces_halves)
		return refuse(t, value, "has an escape of half a surrogate pair", err);
	t->sample->value[t->field] = (struct pl_tensor){
		.data = to, .dtype = PL_U8, .rank = 1, .shape = {(int64_t)n}, .stride = {1}};
	return 0;
}

/* Texts of an array and the bytes between their quotes; -EINVAL with err. */
static int count_texts(const struct pl_json_target *t, struct pl_json_span value, size_t *n_texts,
	size_t *n_bytes, struct pl_err *err)
{
	struct pl_json j = {.at = value.at, .end = value.at + value.n};
	struct pl_json_span item;
	bool is_first;

	*n_texts = 0;
	*n_bytes = 0;
	if (*value.at != '[')
		return refuse(t, value, "is no array of texts", err);
	pl_json_begin(&j, &is_first);
	while (pl_json_next(&j, ']', &is_first) == 1) {
		if (pl_json_skip(&j, &item))
			return -EINVAL;
		if (*item.at != '"')
			return refuse(t, item, "is no text", err);
		*n_texts += 1;
		*n_bytes += item.n - 2;
	}
	return 0;
}

static int put_texts(const struct pl_json_target *t, struct pl_json_span value, char *list,
	char *undone, size_t *n_bytes, struct pl_err *err)
{
	struct pl_json j = {.at = value.at, .end = value.at + value.n};
	struct pl_json_span item;
	bool is_first;
	uint32_t i = 0;

	*n_bytes = 0;
	pl_json_begin(&j, &is_first);
	while (pl_json_next(&j, ']', &is_first) == 1) {
		size_t n;

		if (pl_json_string(&j, &item))
			return -EINVAL;
		if (pl_json_unescape(item, undone, &n) && !t->replaces_halves)
			return refuse(t, item, "has an escape of half a surrogate pair", err);
		pl_text_list_put(list, i++, undone, n);
		*n_bytes += n;
	}
	return 0;
}

static int store_list(const struct pl_json_target *t, struct pl_json_span value, struct pl_err *err)
{
	size_t n_texts, n_bytes, room;
	char *list;
	char *undone;
	int r = count_texts(t, value, &n_texts, &n_bytes, err);

	if (r)
		return r;
	room = pl_text_list_bytes(n_texts, n_bytes);
	if (!room)
		return refuse(t, value, "is more than 4 GiB of texts", err);
	list = pl_line_text_alloc(t->sample, t->field, room, err);
	undone = list ? pl_scratch_alloc(t->sample->scratch, n_bytes) : NULL;
	if (!undone)
		return pl_err_set(err, -ENOMEM, "no memory for %zu bytes of texts", n_bytes);
	pl_text_list_begin(list, (uint32_t)n_texts);
	r = put_texts(t, value, list, undone, &n_bytes, err);
	t->sample->value[t->field] = (struct pl_tensor){.data = list,
		.dtype = PL_U8,
		.rank = 1,
		.shape = {(int64_t)pl_text_list_bytes(n_texts, n_bytes)},
		.stride = {1}};
	return r;
}

/* One element. */
static int store_number(
	const struct pl_json_target *t, struct pl_json_span value, void *to, struct pl_err *err)
{
	enum pl_dtype dtype = t->spec->type.dtype;
	bool is_number = *value.at == '-' || (*value.at >= '0' && *value.at <= '9');
	const char *reason;

	if (dtype == PL_BOOL) {
		*(uint8_t *)to = *value.at == 't';
		return *value.at == 't' || *value.at == 'f'
			       ? 0
			       : refuse(t, value, "is neither true nor false", err);
	}
	if (*value.at == 'n' && pl_dtype_is_float(dtype)) {
		pl_number_parse_f64(dtype, NAN, to);
		return 0;
	}
	reason = is_number ? pl_number_parse(dtype, value.at, value.n, to) : "is no number";
	return reason ? refuse(t, value, reason, err) : 0;
}

/* Arrays in arrays: first measured, then, with `to`, stored. */
struct nested {
	const struct pl_json_target *t;
	struct pl_err *err;
	struct pl_json j;
	int64_t shape[PL_RANK_MAX];
	bool is_known[PL_RANK_MAX];
	char *to;
	size_t element;
};

/* An array of this depth has n items: as declared, and as its neighbours? */
static int check_length(struct nested *w, int depth, const char *at, int64_t n)
{
	int64_t declared = w->t->spec->type.shape[depth];
	struct pl_json_span array = {at, (size_t)(w->j.at - at)};
	char reason[160];

	if (declared >= 0 && n != declared)
		snprintf(reason, sizeof(reason), "has %lld items, where the type has %lld",
			(long long)n, (long long)declared);
	else if (w->is_known[depth] && n != w->shape[depth])
		snprintf(reason, sizeof(reason), "has %lld items, the arrays before it %lld",
			(long long)n, (long long)w->shape[depth]);
	else
		reason[0] = '\0';
	w->shape[depth] = n;
	w->is_known[depth] = true;
	return reason[0] ? refuse(w->t, array, reason, w->err) : 0;
}

static int walk_item(struct nested *w)
{
	struct pl_json_span item;
	int r;

	if (pl_json_skip(&w->j, &item))
		return -EINVAL;
	if (!w->to)
		return 0;
	r = store_number(w->t, item, w->to, w->err);
	w->to += w->element;
	return r;
}

static int walk_nested(struct nested *w, int depth)
{
	const struct pl_type *type = &w->t->spec->type;
	char c = pl_json_peek(&w->j);
	const char *begin = w->j.at;
	bool is_first;
	int64_t n = 0;
	int r = 0;

	if (depth == type->rank)
		return walk_item(w);
	if (c != '[') {
		struct pl_json_span value = {begin, 0};

		if (pl_json_skip(&w->j, &value))
			return -EINVAL;
		return refuse(w->t, value, "is no array, and the type has another length", w->err);
	}
	pl_json_begin(&w->j, &is_first);
	for (; !r && pl_json_next(&w->j, ']', &is_first) == 1; n++)
		r = walk_nested(w, depth + 1);
	return r ? r : check_length(w, depth, begin, n);
}

static int store_tensor(
	const struct pl_json_target *t, struct pl_json_span value, struct pl_err *err)
{
	const struct pl_type *type = &t->spec->type;
	struct nested w = {.t = t, .err = err, .element = pl_dtype_size(type->dtype)};
	struct pl_tensor *out = &t->sample->value[t->field];
	void *data;
	int r;

	for (int d = 0; d < type->rank; d++)
		w.shape[d] = type->shape[d] > 0 ? type->shape[d] : 0;
	w.j = (struct pl_json){.at = value.at, .end = value.at + value.n};
	r = walk_nested(&w, 0);
	if (r)
		return r;
	r = pl_tensor_init(out, NULL, type->dtype, type->rank, w.shape);
	if (r)
		return refuse(t, value, "is too large", err);
	data = pl_line_text_alloc(t->sample, t->field, (size_t)pl_tensor_bytes(out), err);
	if (!data)
		return -ENOMEM;
	out->data = data;
	w.to = data;
	w.j = (struct pl_json){.at = value.at, .end = value.at + value.n};
	return walk_nested(&w, 0);
}

static int store_scalar(
	const struct pl_json_target *t, struct pl_json_span value, struct pl_err *err)
{
	void *to = pl_line_text_alloc(t->sample, t->field, sizeof(uint64_t), err);

	if (!to)
		return -ENOMEM;
	t->sample->value[t->field] = (struct pl_tensor){.data = to, .dtype = t->spec->type.dtype};
	return store_number(t, value, to, err);
}

int pl_json_store(const struct pl_json_target *t, struct pl_json_span value, struct pl_err *err)
{
	switch (t->spec->type.kind) {
	case PL_KIND_TEXT:
		return store_text(t, value, err);
	case PL_KIND_LIST:
		return store_list(t, value, err);
	case PL_KIND_JSON:
		return pl_line_text_put(t->sample, t->field, value.at, value.n, err);
	case PL_KIND_SCALAR:
		return store_scalar(t, value, err);
	default:
		return store_tensor(t, value, err);
	}
}
