/* daemon/sources/tar_fill.c - the values of a sample's fields, made of its members. */
#include "daemon/sources/tar_fill.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "daemon/sources/csv_value.h"
#include "daemon/sources/json_value.h"
#include "daemon/sources/utf8.h"

struct filler {
	const struct pl_tar_fields *fields;
	struct pl_any_place *files;
	size_t file;
	const struct pl_tar_sample *found;
	const int *field;
	struct pl_sample *sample;
	struct pl_err *err;
	char *bytes[PL_PARAM_LIST_MAX];               /* by slot: the member, once read */
	uint64_t has_found;                           /* bits: slots whose values were looked for */
	struct pl_json_span value[PL_PARAM_LIST_MAX]; /* by field */
};

static bool is_bytes(const struct pl_type *type)
{
	return type->kind == PL_KIND_BYTES || type->kind == PL_KIND_TEXT ||
	       type->kind == PL_KIND_JSON;
}

int pl_tar_fill_check(const struct pl_tar_fields *fields, struct pl_err *err)
{
	for (int i = 0; i < fields->specs.n; i++) {
		const struct pl_field_spec *spec = &fields->specs.v[i];

		if (fields->has_path[i] && !pl_json_has_type(&spec->type))
			return pl_err_set(err, -EINVAL,
				"field '%s': a JSON value is no bytes: say text, json, a number, a "
				"tensor or list(text)",
				spec->name);
		if (!fields->has_path[i] && !is_bytes(&spec->type) && spec->type.rank > 0)
			return pl_err_set(err, -EINVAL,
				"field '%s': a member is bytes, text, json or one number; a tensor "
				"or list is found in JSON, as json.%s, and a picture is bytes for "
				"decode_image",
				spec->name, spec->name);
	}
	return 0;
}

/* Says which member an error is about. */
static int blame(const struct filler *f, int i, int r)
{
	const struct pl_tar_slot *slot = &f->fields->slot[f->fields->slot_of[i]];
	const struct pl_tar_suffix *suffix =
		&slot->suffix[f->found->part[f->fields->slot_of[i]].suffix];
	char name[512];
	char quoted[1024];

	snprintf(name, sizeof(name), "%.*s.%.*s", (int)f->found->n_key, f->found->key,
		(int)suffix->n, suffix->text);
	pl_err_prefix(f->err, "member '%s': ", pl_err_quote(quoted, sizeof(quoted), name));
	return r;
}

static int missing(const struct filler *f, int i)
{
	const struct pl_tar_slot *slot = &f->fields->slot[f->fields->slot_of[i]];
	char key[256];
	char quoted[1024];

	snprintf(key, sizeof(key), "%.*s", (int)f->found->n_key, f->found->key);
	return pl_err_set(f->err, -ENOENT,
		"sample '%s' has no member .%.*s%s for field '%s' (require: says which fields must "
		"be there)",
		pl_err_quote(quoted, sizeof(quoted), key), (int)slot->suffix[0].n,
		slot->suffix[0].text, slot->n > 1 ? " or alike" : "", f->fields->specs.v[i].name);
}

static void *allocate(struct filler *f, int i, uint64_t n)
{
	const struct pl_scratch *scratch = f->sample->scratch;
	void *to = NULL;

	if (n <= scratch->limit - scratch->taken)
		to = pl_sample_alloc(f->sample, f->field[i], n);
	if (!to)
		pl_err_set(f->err, -EMSGSIZE,
			"%llu bytes are more than the %zu bytes a sample may take",
			(unsigned long long)n, scratch->limit);
	return to;
}

static void set_bytes(struct filler *f, int i, void *data, uint64_t n)
{
	f->sample->value[f->field[i]] = (struct pl_tensor){
		.data = data, .dtype = PL_U8, .rank = 1, .shape = {(int64_t)n}, .stride = {1}};
}

/* The texts of two kinds are promised to be good ones. */
static int check_text(struct filler *f, int i, const char *text, size_t n)
{
	enum pl_kind kind = f->fields->specs.v[i].type.kind;
	size_t good = kind == PL_KIND_BYTES ? n : pl_utf8_check(text, n);
	struct pl_json j = {.at = text, .end = text + n};

	if (good < n)
		return pl_err_set(f->err, -EINVAL, "not UTF-8: its byte %zu is %s", good,
			pl_utf8_fault(text + good, n - good));
	if (kind != PL_KIND_JSON || (!pl_json_skip(&j, NULL) && !pl_json_finish(&j)))
		return 0;
	return pl_err_set(
		f->err, -EINVAL, "no JSON: at its byte %td: %s", j.fault_at - text, j.fault);
}

/* The first field of a slot has the member itself, another one a copy of its own. */
static int fill_bytes(struct filler *f, int i)
{
	int slot = f->fields->slot_of[i];
	uint64_t n = f->found->part[slot].bytes;
	void *to = allocate(f, i, n);
	int r;

	if (!to)
		return -EMSGSIZE;
	if (f->bytes[slot]) {
		memcpy(to, f->bytes[slot], n);
	} else {
		r = pl_tar_part_read(f->files, f->file, &f->found->part[slot], to, f->err);
		if (r)
			return r;
	}
	set_bytes(f, i, to, n);
	return check_text(f, i, to, n);
}

/* The member with a NUL behind it. */
static int read_slot(struct filler *f, int slot)
{
	const struct pl_tar_part *part = &f->found->part[slot];
	const struct pl_scratch *scratch = f->sample->scratch;
	int r;

	if (f->bytes[slot])
		return 0;
	f->bytes[slot] = part->bytes < scratch->limit - scratch->taken
				 ? pl_scratch_alloc(f->sample->scratch, part->bytes + 1)
				 : NULL;
	if (!f->bytes[slot])
		return pl_err_set(f->err, -EMSGSIZE,
			"%llu bytes are more than the %zu bytes a sample may take",
			(unsigned long long)part->bytes, scratch->limit);
	r = pl_tar_part_read(f->files, f->file, part, f->bytes[slot], f->err);
	f->bytes[slot][part->bytes] = '\0';
	return r;
}

/* A number that is all of a member, but for white space around it. */
static int fill_number(struct filler *f, int i)
{
	int slot = f->fields->slot_of[i];
	struct pl_csv_cell cell = {.at = f->bytes[slot], .n = f->found->part[slot].bytes};

	while (cell.n && strchr(" \t\r\n", cell.at[cell.n - 1]) && cell.at[cell.n - 1])
		cell.n--;
	while (cell.n && strchr(" \t\r\n", *cell.at) && *cell.at) {
		cell.at++;
		cell.n--;
	}
	return pl_csv_store(&f->fields->specs.v[i], &cell, f->sample, f->field[i], f->err);
}

/* All values that fields want of the JSON in a slot, in one walk. */
static int find_values(struct filler *f, int slot)
{
	struct pl_json_span found[PL_PARAM_LIST_MAX];
	size_t n = f->found->part[slot].bytes;
	struct pl_json j = {.at = f->bytes[slot], .end = f->bytes[slot] + n};
	size_t good = pl_utf8_check(f->bytes[slot], n);
	uint64_t wanted = 0;

	for (int i = 0; i < f->fields->specs.n; i++)
		if (f->fields->has_path[i] && f->fields->slot_of[i] == slot && f->field[i] >= 0)
			wanted |= (uint64_t)1 << i;
	if (good < n)
		return pl_err_set(f->err, -EINVAL, "not UTF-8: its byte %zu is %s", good,
			pl_utf8_fault(f->bytes[slot] + good, n - good));
	if (pl_json_find(&j, f->fields->path, wanted, found))
		return pl_err_set(f->err, -EINVAL, "no JSON: at its byte %td: %s",
			j.fault_at - f->bytes[slot], j.fault);
	for (; wanted; wanted &= wanted - 1)
		f->value[__builtin_ctzll(wanted)] = found[__builtin_ctzll(wanted)];
	f->has_found |= (uint64_t)1 << slot;
	return 0;
}

static int fill_found(struct filler *f, int i)
{
	int slot = f->fields->slot_of[i];
	struct pl_json_target target = {.spec = &f->fields->specs.v[i],
		.sample = f->sample,
		.field = f->field[i],
		.line = f->bytes[slot]};
	char reason[900];
	int r = f->has_found >> slot & 1 ? 0 : find_values(f, slot);

	if (r)
		return r;
	if (f->value[i].at)
		return pl_json_store(&target, f->value[i], f->err);
	return pl_err_set(f->err, -ENODATA, "%s",
		pl_json_explain(f->bytes[slot], f->found->part[slot].bytes, &f->fields->path[i],
			reason, sizeof(reason)));
}

static int fill_value(struct filler *f, int i)
{
	int r = read_slot(f, f->fields->slot_of[i]);

	if (r)
		return r;
	return f->fields->has_path[i] ? fill_found(f, i) : fill_number(f, i);
}

/* Nothing for bytes, NaN for a number. */
static int fill_absent(struct filler *f, int i)
{
	const struct pl_type *type = &f->fields->specs.v[i].type;
	static const double nan64 = NAN;
	static const float nan32 = NAN;

	if (f->fields->slot[f->fields->slot_of[i]].is_required)
		return missing(f, i);
	if (is_bytes(type))
		set_bytes(f, i, (char *)(uintptr_t) "", 0);
	else
		f->sample->value[f->field[i]] = (struct pl_tensor){
			.data = type->dtype == PL_F32 ? (void *)(uintptr_t)&nan32
						      : (void *)(uintptr_t)&nan64,
			.dtype = type->dtype};
	return 0;
}

static int fill_field(struct filler *f, int i)
{
	int r;

	if (!(f->found->has >> f->fields->slot_of[i] & 1))
		return fill_absent(f, i);
	r = is_bytes(&f->fields->specs.v[i].type) && !f->fields->has_path[i] ? fill_bytes(f, i)
									     : fill_value(f, i);
	return r ? blame(f, i, r) : 0;
}

/* The field not yet filled whose member comes first in the archive, -1 at the end: a compressed
 * archive is read forwards. */
static int next_field(const struct filler *f, uint64_t done)
{
	uint64_t nearest = UINT64_MAX;
	int next = -1;

	for (int i = 0; i < f->fields->specs.n; i++) {
		int slot = f->fields->slot_of[i];
		uint64_t offset = f->found->has >> slot & 1 ? f->found->part[slot].offset : 0;

		if (done >> i & 1 || f->field[i] < 0 || (next >= 0 && offset >= nearest))
			continue;
		nearest = offset;
		next = i;
	}
	return next;
}

int pl_tar_fill(const struct pl_tar_fields *fields, struct pl_any_place *files, size_t file,
	const struct pl_tar_sample *found, const int *field, struct pl_sample *sample,
	struct pl_err *err)
{
	struct filler f = {.fields = fields,
		.files = files,
		.file = file,
		.found = found,
		.field = field,
		.sample = sample,
		.err = err};
	uint64_t done = 0;
	int i, r = 0;

	while (!r && (i = next_field(&f, done)) >= 0) {
		done |= (uint64_t)1 << i;
		r = fill_field(&f, i);
	}
	return r;
}
