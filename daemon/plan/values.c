/* daemon/plan/values.c - a list of scalars to one column: all integer, all float, or text. */
#include "daemon/plan/values.h"

#include "daemon/plan/scalar.h"

/*
 * The one place where the spelling decides: an item in quotes is text, and so is a number with a
 * leading zero (a postal code, a file's number). One text makes all of them text.
 */
static bool has_leading_zero(const char *text)
{
	text += text[0] == '-' || text[0] == '+';
	return text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

static enum pl_dtype dtype_of(const struct pl_node *list)
{
	enum pl_dtype dtype = list->n > 0 ? PL_I64 : 0;

	for (int i = 0; i < list->n; i++) {
		const char *text = list->item[i]->text;
		int64_t integer;
		double number;

		if (list->item[i]->is_quoted || has_leading_zero(text) || strchr(text, '/'))
			return 0;
		if (pl_scalar_int(text, &integer, NULL) == 0)
			continue;
		if (pl_scalar_float(text, &number, NULL) < 0)
			return 0;
		dtype = PL_F64;
	}
	return dtype;
}

static bool values_numbers(
	struct pl_pool *pool, const struct pl_node *list, struct pl_param_values *out)
{
	int64_t *integers = pl_pool_array(pool, (size_t)list->n, sizeof(*integers));
	double *floats = pl_pool_array(pool, (size_t)list->n, sizeof(*floats));

	if (!integers || !floats)
		return false;
	for (int i = 0; i < list->n; i++) {
		if (out->dtype == PL_I64)
			(void)pl_scalar_int(list->item[i]->text, &integers[i], NULL);
		else
			(void)pl_scalar_float(list->item[i]->text, &floats[i], NULL);
	}
	out->integers = out->dtype == PL_I64 ? integers : NULL;
	out->floats = out->dtype == PL_F64 ? floats : NULL;
	return true;
}

bool pl_values_convert(
	struct pl_pool *pool, const struct pl_node *list, struct pl_param_values *out)
{
	const char **texts;

	out->n = list->n;
	out->dtype = dtype_of(list);
	if (out->dtype)
		return values_numbers(pool, list, out);
	texts = pl_pool_array(pool, (size_t)list->n, sizeof(*texts));
	for (int i = 0; texts && i < list->n; i++)
		texts[i] = list->item[i]->text;
	out->texts = texts;
	return texts != NULL;
}
