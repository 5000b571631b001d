/* daemon/sources/example.c - reads tf.train.Example, a protocol buffer of named lists. */
#include "daemon/sources/example.h"

#include <errno.h>

enum wire { VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 };

/* Groups in groups: deeper ones are refused. */
#define DEPTH_MAX 64

/* One field of a message. */
struct item {
	uint64_t field;
	enum wire wire;
	struct pl_bytes_view bytes; /* of BYTES, FIXED32 and FIXED64 */
	uint64_t number;            /* of VARINT */
};

static bool get_varint(struct pl_bytes_view *v, uint64_t *number)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70 && v->at < v->end; shift += 7) {
		uint8_t byte = *v->at++;

		if (shift == 63 && byte > 1)
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*number = value;
			return true;
		}
	}
	return false;
}

static bool get_bytes(struct pl_bytes_view *v, uint64_t n, struct pl_bytes_view *bytes)
{
	if (n > (uint64_t)(v->end - v->at))
		return false;
	*bytes = (struct pl_bytes_view){v->at, v->at + n};
	v->at += n;
	return true;
}

static bool get_key(struct pl_bytes_view *v, struct item *item)
{
	uint64_t key;

	if (!get_varint(v, &key) || key >> 3 == 0 || key > UINT32_MAX)
		return false;
	item->field = key >> 3;
	item->wire = (enum wire)(key & 7);
	return true;
}

/* What follows a key, but for groups. */
static bool get_value(struct pl_bytes_view *v, struct item *item)
{
	switch (item->wire) {
	case VARINT:
		return get_varint(v, &item->number);
	case FIXED64:
		return get_bytes(v, 8, &item->bytes);
	case BYTES:
		return get_varint(v, &item->number) && get_bytes(v, item->number, &item->bytes);
	case FIXED32:
		return get_bytes(v, 4, &item->bytes);
	default:
		return false;
	}
}

/* Passes over a group whose start was read: each end must be that of the innermost one. */
static bool skip_group(struct pl_bytes_view *v, uint64_t field)
{
	uint64_t open[DEPTH_MAX] = {field};
	int depth = 1;
	struct item item;

	while (depth > 0) {
		if (!get_key(v, &item))
			return false;
		if (item.wire == GROUP && depth == DEPTH_MAX)
			return false;
		if (item.wire == GROUP)
			open[depth++] = item.field;
		else if (item.wire == GROUP_END && open[depth - 1] != item.field)
			return false;
		else if (item.wire == GROUP_END)
			depth--;
		else if (!get_value(v, &item))
			return false;
	}
	return true;
}

/* 1 with the next field that is no group, 0 at the end, -1 when the message is malformed. */
static int next(struct pl_bytes_view *v, struct item *item)
{
	while (v->at < v->end) {
		if (!get_key(v, item))
			return -1;
		if (item->wire != GROUP)
			return get_value(v, item) ? 1 : -1;
		if (!skip_group(v, item->field))
			return -1;
	}
	return 0;
}

static bool is_message(const struct item *item, uint64_t field)
{
	return item->field == field && item->wire == BYTES;
}

/* Numbers of a packed list; false when it ends within one. */
static bool count_packed(struct pl_bytes_view v, enum pl_feature_kind kind, uint64_t *n)
{
	uint64_t number;

	if (kind == PL_FEATURE_FLOATS) {
		*n += (uint64_t)(v.end - v.at) / 4;
		return (v.end - v.at) % 4 == 0;
	}
	for (; v.at < v.end; (*n)++)
		if (!get_varint(&v, &number))
			return false;
	return true;
}

/* One BytesList, FloatList or Int64List. Values of a wrong wire type are unknown fields. */
static bool count_list(struct pl_bytes_view v, struct pl_feature *f)
{
	struct item item;
	int r;

	while ((r = next(&v, &item)) > 0) {
		if (item.field != 1)
			continue;
		if (f->kind == PL_FEATURE_BYTES && item.wire == BYTES) {
			f->n++;
			f->n_bytes += (uint64_t)(item.bytes.end - item.bytes.at);
		} else if (item.wire == BYTES) {
			if (!count_packed(item.bytes, f->kind, &f->n))
				return false;
		} else if ((f->kind == PL_FEATURE_FLOATS && item.wire == FIXED32) ||
			   (f->kind == PL_FEATURE_INTS && item.wire == VARINT)) {
			f->n++;
		}
	}
	return r == 0;
}

static bool is_list(const struct item *item)
{
	return item->wire == BYTES && item->field >= PL_FEATURE_BYTES &&
	       item->field <= PL_FEATURE_INTS;
}

/* A later list of another kind takes the place of the earlier ones: then the feature begins at it.
 */
static bool read_feature(struct pl_bytes_view v, struct pl_feature *f)
{
	struct item item;
	const uint8_t *at = v.at;
	int r;

	*f = (struct pl_feature){.lists = v};
	for (; (r = next(&v, &item)) > 0; at = v.at) {
		if (!is_list(&item))
			continue;
		if (f->kind != (enum pl_feature_kind)item.field)
			*f = (struct pl_feature){.kind = (enum pl_feature_kind)item.field,
				.lists = {at, f->lists.end}};
		if (!count_list(item.bytes, f))
			return false;
	}
	return r == 0;
}

struct parser {
	const uint8_t *begin;
	size_t n_names;
	const char *const *name;
	struct pl_feature *found;
	bool *has_it;
	struct pl_err *err;
};

static int malformed(const struct parser *p, const uint8_t *at, const char *what)
{
	return pl_err_set(p->err, -EBADMSG, "malformed Example: %s that begins at its byte %lld",
		what, (long long)(at - p->begin));
}

static void keep(const struct parser *p, struct pl_bytes_view key, const struct pl_feature *feature)
{
	size_t n = (size_t)(key.end - key.at);

	for (size_t i = 0; i < p->n_names; i++)
		if (strlen(p->name[i]) == n && !memcmp(p->name[i], key.at, n)) {
			p->found[i] = *feature;
			p->has_it[i] = true;
		}
}

/* One entry of the map: key = 1, value = 2. */
static int parse_entry(const struct parser *p, struct pl_bytes_view v)
{
	struct pl_bytes_view key = {v.at, v.at};
	struct pl_bytes_view value = {v.end, v.end};
	struct pl_feature feature;
	const uint8_t *begin = v.at;
	struct item item;
	int r;

	while ((r = next(&v, &item)) > 0) {
		if (is_message(&item, 1))
			key = item.bytes;
		else if (is_message(&item, 2))
			value = item.bytes;
	}
	if (r < 0)
		return malformed(p, begin, "an entry of the map");
	if (!read_feature(value, &feature))
		return malformed(p, value.at, "a feature");
	keep(p, key, &feature);
	return 0;
}

static int parse_features(const struct parser *p, struct pl_bytes_view v)
{
	const uint8_t *begin = v.at;
	struct item item;
	int r;

	while ((r = next(&v, &item)) > 0) {
		r = is_message(&item, 1) ? parse_entry(p, item.bytes) : 0;
		if (r)
			return r;
	}
	return r < 0 ? malformed(p, begin, "its features") : 0;
}

int pl_example_parse(struct pl_bytes_view message, size_t n_names, const char *const *name,
	struct pl_feature *found, bool *has_it, struct pl_err *err)
{
	struct parser p = {message.at, n_names, name, found, has_it, err};
	struct item item;
	int r;

	memset(found, 0, n_names * sizeof(*found));
	memset(has_it, 0, n_names * sizeof(*has_it));
	while ((r = next(&message, &item)) > 0) {
		if (is_message(&item, 2))
			return pl_err_set(err, -ENOTSUP,
				"it is a SequenceExample, which this source doesn't read: write "
				"Examples");
		r = is_message(&item, 1) ? parse_features(&p, item.bytes) : 0;
		if (r)
			return r;
	}
	return r < 0 ? malformed(&p, p.begin, "the message") : 0;
}

/* The next value's item in the lists of one kind; false at the end. */
static bool next_item(struct pl_feature_walk *w, enum pl_feature_kind kind, struct item *item)
{
	for (;;) {
		if (next(&w->list, item) > 0) {
			if (item->field == 1)
				return true;
			continue;
		}
		if (next(&w->lists, item) <= 0)
			return false;
		if (item->wire == BYTES && item->field == (uint64_t)kind)
			w->list = item->bytes;
	}
}

bool pl_feature_next_bytes(struct pl_feature_walk *w, struct pl_bytes_view *value)
{
	struct item item;

	while (next_item(w, PL_FEATURE_BYTES, &item)) {
		if (item.wire != BYTES)
			continue;
		*value = item.bytes;
		return true;
	}
	return false;
}

bool pl_feature_next_float(struct pl_feature_walk *w, float *value)
{
	struct item item;
	struct pl_bytes_view four;

	while (!get_bytes(&w->packed, 4, &four)) {
		if (!next_item(w, PL_FEATURE_FLOATS, &item))
			return false;
		if (item.wire == BYTES || item.wire == FIXED32)
			w->packed = item.bytes;
	}
	memcpy(value, four.at, sizeof(*value));
	return true;
}

bool pl_feature_next_int(struct pl_feature_walk *w, int64_t *value)
{
	struct item item;
	uint64_t number;

	while (!get_varint(&w->packed, &number)) {
		if (!next_item(w, PL_FEATURE_INTS, &item))
			return false;
		if (item.wire == BYTES)
			w->packed = item.bytes;
		if (item.wire != VARINT)
			continue;
		number = item.number;
		break;
	}
	*value = (int64_t)number;
	return true;
}
