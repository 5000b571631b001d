/* daemon/sources/field_spec.c - what a record source's fields are, and where in a record they
 * stand. */
#include "daemon/sources/field_spec.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/kit/registry.h"

/* A field's name is at most this long, with its NUL. */
#define NAME_BYTES 64

/* What may stand before the parentheses. `rank`: lengths it must have; -1: any number. */
static const struct {
	const char *name;
	enum pl_kind kind;
	int rank;
} kinds[] = {
	{"text", PL_KIND_TEXT, 0},
	{"bytes", PL_KIND_BYTES, 0},
	{"json", PL_KIND_JSON, 0},
	{"image", PL_KIND_IMAGE, 3},
	{"mask", PL_KIND_MASK, 2},
};

/* One `type [where]` while it is read. */
struct reader {
	struct pl_field_spec *field;
	const char *text;
	const char *at;
	const char *axis[PL_RANK_MAX]; /* names of lengths */
	size_t axis_bytes[PL_RANK_MAX];
	struct pl_err *err;
};

static int fail(struct reader *r, const char *reason)
{
	char name[256];
	char text[512];

	return pl_err_set(r->err, -EINVAL, "fields: %s: '%s': %s",
		pl_err_quote(name, sizeof(name), r->field->name),
		pl_err_quote(text, sizeof(text), r->text), reason);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t word_length(const char *text)
{
	size_t n = 0;

	while (is_letter(text[n]) || (text[n] >= '0' && text[n] <= '9'))
		n++;
	return n;
}

static int unknown_type(struct reader *r, size_t n)
{
	static const char *const names[] = {"text", "bytes", "json", "list", "image", "mask",
		"bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32",
		"f64"};
	char word[64];
	char shown[256];
	char reason[400];
	const char *nearest;

	snprintf(word, sizeof(word), "%.*s", (int)pl_min_u64(n, sizeof(word) - 1), r->text);
	nearest = pl_nearest_of(word, PL_ARRAY_LEN(names), names);
	pl_err_quote(shown, sizeof(shown), word);
	if (nearest)
		snprintf(reason, sizeof(reason), "unknown type '%s' (did you mean '%s'?)", shown,
			nearest);
	else
		snprintf(reason, sizeof(reason),
			"unknown type '%s' (types: text, bytes, json, list(text), image(h w 3), "
			"mask(h w), or bool, u8, i64, f32 ... alone or with lengths, as f32(n 4))",
			shown);
	return fail(r, reason);
}

static int read_number(struct reader *r, int64_t *length)
{
	int64_t value = 0;

	for (; *r->at >= '0' && *r->at <= '9'; r->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, *r->at - '0', &value))
			return fail(r, "a length is too large");
	*length = value;
	return is_letter(*r->at) ? fail(r, "a length is a number or a name") : 0;
}

/* A name of the type's length `rank`: unknown until a record is read. */
static int read_name(struct reader *r, int rank)
{
	size_t n = word_length(r->at);

	for (int i = 0; i < rank; i++)
		if (r->axis_bytes[i] == n && !memcmp(r->axis[i], r->at, n))
			return fail(r, "a name stands for two lengths: give each its own");
	r->axis[rank] = r->at;
	r->axis_bytes[rank] = n;
	r->at += n;
	return 0;
}

/* The lengths behind an opening parenthesis, and the closing one. */
static int read_lengths(struct reader *r)
{
	struct pl_type *type = &r->field->type;
	int rc = 0;

	r->at++;
	while (!rc) {
		r->at += strspn(r->at, " ");
		if (*r->at == ')')
			break;
		if (type->rank == PL_RANK_MAX)
			return fail(r, "more than 16 lengths");
		type->shape[type->rank] = -1;
		if (*r->at >= '0' && *r->at <= '9')
			rc = read_number(r, &type->shape[type->rank]);
		else if (is_letter(*r->at))
			rc = read_name(r, type->rank);
		else
			rc = fail(r, *r->at ? "a length is a number or a name, with spaces between"
					    : "a ')' is missing");
		type->rank++;
	}
	if (rc)
		return rc;
	r->at++;
	return type->rank ? 0 : fail(r, "there is no length between the parentheses");
}

static int read_kind(struct reader *r, size_t i)
{
	struct pl_type *type = &r->field->type;
	char reason[100];
	int rc = 0;

	*type = (struct pl_type){.kind = kinds[i].kind, .dtype = PL_U8};
	if (kinds[i].rank == 0) {
		*type = pl_type_bytes(kinds[i].kind);
		return *r->at == '(' ? fail(r, "this type has no lengths") : 0;
	}
	if (*r->at == '(')
		rc = read_lengths(r);
	if (rc || type->rank == kinds[i].rank)
		return rc;
	snprintf(reason, sizeof(reason), "this type needs %d lengths, as %s", kinds[i].rank,
		kinds[i].rank == 3 ? "image(h w 3)" : "mask(h w)");
	return fail(r, reason);
}

static int read_list(struct reader *r)
{
	static const char of_text[] = "(text)";

	if (strncmp(r->at, of_text, strlen(of_text)) != 0)
		return fail(r, "a list is list(text)");
	r->at += strlen(of_text);
	r->field->type = pl_type_bytes(PL_KIND_LIST);
	return 0;
}

static int read_dtype(struct reader *r, enum pl_dtype dtype)
{
	r->field->type = pl_type_scalar(dtype);
	if (*r->at != '(')
		return 0;
	r->field->type.kind = PL_KIND_TENSOR;
	return read_lengths(r);
}

static int read_type(struct reader *r)
{
	size_t n = word_length(r->at);
	enum pl_dtype dtype = pl_dtype_parse(r->at, n);

	r->at += n;
	if (dtype)
		return read_dtype(r, dtype);
	if (n == 4 && !memcmp(r->text, "list", n))
		return read_list(r);
	for (size_t i = 0; i < PL_ARRAY_LEN(kinds); i++)
		if (strlen(kinds[i].name) == n && !memcmp(r->text, kinds[i].name, n))
			return read_kind(r, i);
	return unknown_type(r, n ? n : strcspn(r->text, " ("));
}

static int check_name(struct reader *r)
{
	const char *name = r->field->name;
	size_t n = word_length(name);
	char shown[256];

	if (n > 0 && n < NAME_BYTES && !name[n] && name[0] != '_' && is_letter(name[0]))
		return 0;
	return pl_err_set(r->err, -EINVAL,
		"fields: '%s' is no name for a field: letters, digits and '_', beginning with a "
		"letter, at most %d of them; what it is called in the data goes behind the type, "
		"as 'age: f32 Age in years'",
		pl_err_quote(shown, sizeof(shown), name), NAME_BYTES - 1);
}

static int read_field(struct pl_field_spec *field, const char *text, struct pl_err *err)
{
	struct reader r = {.field = field, .text = text, .at = text, .err = err};
	int rc = check_name(&r);

	if (!rc)
		rc = read_type(&r);
	if (rc)
		return rc;
	if (*r.at && *r.at != ' ')
		return fail(&r, "a space must stand between the type and where it is found");
	if (pl_type_is_fixed(&field->type) && pl_type_bytes_of(&field->type) < 0)
		return fail(&r, "no value can be that large");
	field->where = r.at + strspn(r.at, " ");
	return 0;
}

int pl_field_specs_parse(
	struct pl_field_specs *specs, const struct pl_param_text_map *map, struct pl_err *err)
{
	int r = 0;

	*specs = (struct pl_field_specs){.n = map->n};
	if (map->n == 0)
		return pl_err_set(err, -EINVAL,
			"fields names none: write fields: {NAME: TYPE}, as {caption: text}");
	for (int i = 0; i < map->n && !r; i++) {
		specs->v[i].name = map->v[i].key;
		r = read_field(&specs->v[i], map->v[i].text, err);
	}
	return r;
}
