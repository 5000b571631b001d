/* daemon/sources/csv_value.c - a cell's text as the value of a field. */
#include "daemon/sources/csv_value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "daemon/sources/json.h"
#include "daemon/sources/line_text.h"
#include "daemon/sources/number.h"

bool pl_csv_has_type(const struct pl_type *type)
{
	return type->kind == PL_KIND_TEXT || type->kind == PL_KIND_JSON ||
	       type->kind == PL_KIND_SCALAR;
}

static int refuse(const struct pl_field_spec *spec, const struct pl_csv_cell *cell,
	const char *reason, struct pl_err *err)
{
	char shown[256];

	return pl_err_set(err, -EINVAL, "field '%s': %s %s", spec->name,
		pl_line_text_show(shown, sizeof(shown), cell->at, cell->n), reason);
}

static bool is_word(const struct pl_csv_cell *cell, const char *word)
{
	return cell->n == strlen(word) && !memcmp(cell->at, word, cell->n);
}

static bool is_any(const struct pl_csv_cell *cell, const char *const *words)
{
	for (; *words; words++)
		if (is_word(cell, *words))
			return true;
	return false;
}

static const char *store_bool(const struct pl_csv_cell *cell, uint8_t *to)
{
	static const char *const yes[] = {"true", "True", "TRUE", "1", NULL};
	static const char *const no[] = {"false", "False", "FALSE", "0", NULL};

	*to = is_any(cell, yes);
	return *to || is_any(cell, no) ? NULL : "is neither true, false, 1 nor 0";
}

/* nan, inf, +inf, -inf, infinity in any case. */
static bool special_float(const struct pl_csv_cell *cell, double *value)
{
	size_t sign = cell->n && (*cell->at == '-' || *cell->at == '+');
	const char *word = cell->at + sign;
	size_t n = cell->n - sign;

	*value = NAN;
	if (cell->n == 0 || (n == 3 && !strncasecmp(word, "nan", n)))
		return true;
	*value = *cell->at == '-' ? -INFINITY : INFINITY;
	return (n == 3 && !strncasecmp(word, "inf", n)) ||
	       (n == 8 && !strncasecmp(word, "infinity", n));
}

static const char *number_fault(enum pl_dtype dtype, const struct pl_csv_cell *cell, void *to)
{
	double special;

	if (dtype == PL_BOOL)
		return store_bool(cell, to);
	if (pl_dtype_is_float(dtype) && special_float(cell, &special)) {
		pl_number_parse_f64(dtype, special, to);
		return NULL;
	}
	if (cell->n == 0)
		return "is empty: only text and floats (as NaN) may be";
	if (*cell->at == ' ' || cell->at[cell->n - 1] == ' ')
		return "has spaces around it";
	return pl_number_parse(dtype, cell->at, cell->n, to);
}

static int store_number(const struct pl_field_spec *spec, const struct pl_csv_cell *cell,
	struct pl_sample *sample, int field, struct pl_err *err)
{
	void *to = pl_line_text_alloc(sample, field, sizeof(uint64_t), err);
	const char *fault;

	if (!to)
		return -ENOMEM;
	fault = number_fault(spec->type.dtype, cell, to);
	if (fault)
		return refuse(spec, cell, fault, err);
	sample->value[field] = (struct pl_tensor){.data = to, .dtype = spec->type.dtype};
	return 0;
}

static int store_text(
	const struct pl_csv_cell *cell, struct pl_sample *sample, int field, struct pl_err *err)
{
	char *to = pl_line_text_alloc(sample, field, cell->n, err);

	if (!to)
		return -ENOMEM;
	sample->value[field] = (struct pl_tensor){.data = to,
		.dtype = PL_U8,
		.rank = 1,
		.shape = {(int64_t)pl_csv_text(cell, to)},
		.stride = {1}};
	return 0;
}

static int check_json(const struct pl_field_spec *spec, const struct pl_csv_cell *cell,
	const struct pl_tensor *value, struct pl_err *err)
{
	struct pl_json j = {.at = value->data};
	char reason[300];

	j.end = j.at + value->shape[0];
	if (!pl_json_skip(&j, NULL) && !pl_json_finish(&j))
		return 0;
	snprintf(reason, sizeof(reason), "is no JSON: at its byte %td: %s",
		j.fault_at - (const char *)value->data + 1, j.fault);
	return refuse(spec, cell, reason, err);
}

int pl_csv_store(const struct pl_field_spec *spec, const struct pl_csv_cell *cell,
	struct pl_sample *sample, int field, struct pl_err *err)
{
	int r;

	if (spec->type.kind == PL_KIND_SCALAR)
		return store_number(spec, cell, sample, field, err);
	r = store_text(cell, sample, field, err);
	if (!r && spec->type.kind == PL_KIND_JSON)
		r = check_json(spec, cell, &sample->value[field], err);
	return r;
}
