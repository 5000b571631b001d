/* daemon/ops/number_or_field.c - a number from the pipeline file or from a field of the sample. */
#include "daemon/ops/number_or_field.h"

#include <errno.h>

#include "daemon/ops/numbers.h"

static int out_of_range(const char *key, double v, double max, struct pl_err *err)
{
	return pl_err_set(err, -EINVAL, "%s must be from 0 to %.15g, not %.15g", key, max, v);
}

int pl_number_or_field_parse(const char *key, const char *text, double max,
	struct pl_number_or_field *v, struct pl_err *err)
{
	size_t n = strspn(text, "0123456789.");
	bool is_name = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') ||
		       text[0] == '_';
	char *end;

	*v = (struct pl_number_or_field){.is_field = is_name};
	if (is_name)
		return 0;
	v->number = strtod(text, &end);
	if (n == 0 || text[n] || *end)
		return pl_err_set(err, -EINVAL,
			"%s must be a decimal number or the name of a field, not '%.60s'", key,
			text);
	return v->number <= max ? 0 : out_of_range(key, v->number, max, err);
}

int pl_number_or_field_infer(
	const struct pl_infer *io, int pair, const char *key, struct pl_err *err)
{
	const struct pl_type *t = &io->type[io->in[pair]];
	char text[256];

	if (t->kind == PL_KIND_SCALAR && t->rank == 0 && t->dtype != PL_BOOL)
		return 0;
	return pl_err_set(err, -EINVAL, "%s: field '%s' is %s, not one number", key,
		io->name[io->in[pair]], pl_type_format(text, sizeof(text), t));
}

int pl_number_or_field_read(struct pl_run *r, int pair, const char *key, double max, double *out)
{
	const struct pl_tensor *t = &r->sample->value[r->in[pair]];

	if (t->rank != 0 || !t->data)
		return pl_err_set(r->err, -EINVAL, "%s: the field holds no number", key);
	pl_numbers_convert(out, PL_F64, t->data, t->dtype, 1);
	if (*out >= 0 && *out <= max)
		return 0;
	return out_of_range(key, *out, max, r->err);
}
