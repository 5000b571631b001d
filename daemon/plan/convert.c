/* daemon/plan/convert.c - one node to one member of a struct of parameters. */
#include "daemon/plan/params.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "daemon/plan/scalar.h"
#include "daemon/plan/table.h"
#include "daemon/plan/values.h"

/* One value on its way: where it goes and how to complain about it. */
struct conversion {
	const struct pl_convert *c;
	const struct pl_param *param;
	const struct pl_node *node;
	void *member;
};

static bool refuse(const struct conversion *v, const struct pl_node *at, const char *text)
{
	pl_diag_error(v->c->diag, at->at, "%s%s %s", v->c->what, v->param->key, text);
	return false;
}

static bool refuse_kind(const struct conversion *v, const struct pl_node *found)
{
	char expected[400];
	char quoted[64];

	pl_params_expected(v->param, expected, sizeof(expected));
	if (found->kind == PL_NODE_TEXT)
		pl_diag_error(v->c->diag, found->at, "%s%s must be %s, not '%s'", v->c->what,
			v->param->key, expected, pl_err_quote(quoted, sizeof(quoted), found->text));
	else if (found->kind != PL_NODE_BAD)
		pl_diag_error(v->c->diag, found->at, "%s%s must be %s, not %s", v->c->what,
			v->param->key, expected, pl_node_kind_name(found));
	return false;
}

/* min and max both 0: no bound; max below min: no upper bound. */
static bool check_bounds(const struct conversion *v, const struct pl_node *at, double value)
{
	const struct pl_param *p = v->param;
	double scale = p->kind == PL_PARAM_DURATION ? 1e-9 : 1;
	const char *unit = p->kind == PL_PARAM_DURATION ? "s" : "";
	char text[160];

	if (p->min == 0 && p->max == 0)
		return true;
	if (value >= p->min && (value <= p->max || p->max < p->min))
		return true;
	if (p->max < p->min || p->max >= 9e15)
		snprintf(text, sizeof(text), "must be at least %.15g%s, not %.15g%s",
			p->min * scale, unit, value * scale, unit);
	else
		snprintf(text, sizeof(text), "must be from %.15g%s to %.15g%s, not %.15g%s",
			p->min * scale, unit, p->max * scale, unit, value * scale, unit);
	return refuse(v, at, text);
}

static bool word_of(const struct pl_param *p, const char *text, int64_t *out)
{
	for (int i = 0; p->choices && p->choices[i]; i++) {
		if (strcmp(p->choices[i], text) == 0) {
			*out = PL_PARAM_WORD(i);
			return true;
		}
	}
	return false;
}

typedef int scalar_parse(const char *text, int64_t *out, struct pl_err *err);

static bool set_integer(const struct conversion *v, const struct pl_node *node, int64_t *out)
{
	static scalar_parse *const parse[] = {
		[PL_PARAM_INT] = pl_scalar_int,
		[PL_PARAM_BYTES] = pl_scalar_bytes,
		[PL_PARAM_DURATION] = pl_scalar_duration,
		[PL_PARAM_SIZE] = pl_scalar_int,
		[PL_PARAM_INTS] = pl_scalar_int,
	};
	struct pl_err err = {0};

	if (node->kind != PL_NODE_TEXT)
		return refuse_kind(v, node);
	if (word_of(v->param, node->text, out))
		return true;
	if (parse[v->param->kind](node->text, out, &err) < 0)
		return v->param->choices ? refuse_kind(v, node) : refuse(v, node, err.text);
	return check_bounds(v, node, (double)*out);
}

static bool set_number(const struct conversion *v, const struct pl_node *node, double *out)
{
	struct pl_err err = {0};

	if (node->kind != PL_NODE_TEXT)
		return refuse_kind(v, node);
	if (pl_scalar_float(node->text, out, &err) < 0)
		return refuse(v, node, err.text);
	return check_bounds(v, node, *out);
}

static bool set_int(const struct conversion *v)
{
	return set_integer(v, v->node, v->member);
}

static bool set_float(const struct conversion *v)
{
	return set_number(v, v->node, v->member);
}

static bool set_bool(const struct conversion *v)
{
	struct pl_err err = {0};

	if (v->node->kind != PL_NODE_TEXT)
		return refuse_kind(v, v->node);
	return pl_scalar_bool(v->node->text, v->member, &err) == 0 || refuse(v, v->node, err.text);
}

static bool set_text(const struct conversion *v)
{
	if (v->node->kind != PL_NODE_TEXT)
		return refuse_kind(v, v->node);
	*(const char **)v->member = v->node->text;
	return true;
}

static bool set_choice(const struct conversion *v)
{
	struct pl_names names = {0};
	char hint[400];
	char quoted[64];
	int64_t word;

	if (v->node->kind != PL_NODE_TEXT)
		return refuse_kind(v, v->node);
	if (word_of(v->param, v->node->text, &word)) {
		*(int *)v->member = (int)(word - PL_PARAM_WORD(0));
		return true;
	}
	for (int i = 0; v->param->choices[i]; i++)
		pl_names_add(&names, v->param->choices[i]);
	pl_diag_error(v->c->diag, v->node->at, "%s%s can't be '%s'%s", v->c->what, v->param->key,
		pl_err_quote(quoted, sizeof(quoted), v->node->text),
		pl_names_hint(&names, v->node->text, hint, sizeof(hint)));
	return false;
}

static bool set_dtype(const struct conversion *v)
{
	enum pl_dtype dtype;

	if (v->node->kind != PL_NODE_TEXT)
		return refuse_kind(v, v->node);
	dtype = pl_dtype_parse(v->node->text, strlen(v->node->text));
	*(enum pl_dtype *)v->member = dtype;
	return dtype != 0 || refuse_kind(v, v->node);
}

static bool set_size(const struct conversion *v)
{
	struct pl_param_size *size = v->member;
	const struct pl_node *node = v->node;

	size->is_given = true;
	if (node->kind == PL_NODE_TEXT) {
		bool is_ok = set_integer(v, node, &size->height);

		size->width = size->height;
		return is_ok;
	}
	if (node->kind != PL_NODE_LIST || node->n != 2)
		return refuse_kind(v, node);
	return set_integer(v, node->item[0], &size->height) &&
	       set_integer(v, node->item[1], &size->width);
}

static bool set_range(const struct conversion *v)
{
	struct pl_param_range *range = v->member;
	const struct pl_node *node = v->node;

	if (node->kind == PL_NODE_TEXT) {
		bool is_ok = set_number(v, node, &range->low);

		range->high = range->low;
		return is_ok;
	}
	if (node->kind != PL_NODE_LIST || node->n != 2)
		return refuse_kind(v, node);
	if (!set_number(v, node->item[0], &range->low) ||
		!set_number(v, node->item[1], &range->high))
		return false;
	return range->low <= range->high ||
	       refuse(v, node, "must be [low, high] with low not above high");
}

/* The items of a list, or the value itself as the only one; false when they are too many or none of
 * them a list. */
static bool items_of(const struct conversion *v, const struct pl_node *const **item, int *n)
{
	const struct pl_node *node = v->node;

	if (node->kind == PL_NODE_TEXT) {
		*item = &v->node;
		*n = 1;
		return true;
	}
	if (node->kind != PL_NODE_LIST)
		return refuse_kind(v, node);
	if (node->n > PL_PARAM_LIST_MAX)
		return refuse(v, node, "has more than 64 items");
	*item = (const struct pl_node *const *)node->item;
	*n = node->n;
	return true;
}

static bool set_floats(const struct conversion *v)
{
	struct pl_param_floats *floats = v->member;
	const struct pl_node *const *item = NULL;
	bool is_ok = true;

	if (!items_of(v, &item, &floats->n))
		return false;
	for (int i = 0; i < floats->n; i++)
		is_ok &= set_number(v, item[i], &floats->v[i]);
	return is_ok;
}

static bool set_ints(const struct conversion *v)
{
	struct pl_param_ints *ints = v->member;
	const struct pl_node *const *item = NULL;
	bool is_ok = true;

	if (!items_of(v, &item, &ints->n))
		return false;
	for (int i = 0; i < ints->n; i++)
		is_ok &= set_integer(v, item[i], &ints->v[i]);
	return is_ok;
}

static bool set_texts(const struct conversion *v)
{
	struct pl_param_texts *texts = v->member;
	const struct pl_node *const *item = NULL;

	if (!items_of(v, &item, &texts->n))
		return false;
	for (int i = 0; i < texts->n; i++) {
		if (item[i]->kind != PL_NODE_TEXT)
			return refuse_kind(v, item[i]);
		texts->v[i] = item[i]->text;
	}
	return true;
}

static bool set_map(const struct conversion *v)
{
	struct pl_param_map *map = v->member;
	const struct pl_node *node = v->node;
	bool is_ok = true;

	map->n = 0;
	if (node->kind != PL_NODE_MAP)
		return refuse_kind(v, node);
	if (node->n > PL_PARAM_LIST_MAX)
		return refuse(v, node, "has more than 64 entries");
	for (int i = 0; i < node->n; i++) {
		map->v[i].key = node->key[i]->text;
		is_ok &= set_number(v, node->item[i], &map->v[i].value);
	}
	map->n = node->n;
	return is_ok;
}

static bool set_text_map(const struct conversion *v)
{
	struct pl_param_text_map *map = v->member;
	const struct pl_node *node = v->node;

	map->n = 0;
	if (node->kind != PL_NODE_MAP)
		return refuse_kind(v, node);
	if (node->n > PL_PARAM_LIST_MAX)
		return refuse(v, node, "has more than 64 entries");
	for (int i = 0; i < node->n; i++) {
		if (node->item[i]->kind != PL_NODE_TEXT)
			return refuse_kind(v, node->item[i]);
		map->v[i].key = node->key[i]->text;
		map->v[i].text = node->item[i]->text;
	}
	map->n = node->n;
	return true;
}

/* The one node that is changed after it was read: a file's name becomes its content. */
static bool set_table(const struct conversion *v)
{
	struct pl_node *node = (struct pl_node *)(uintptr_t)v->node;

	if (node->kind == PL_NODE_TEXT && !pl_table_read(v->c, v->param->key, node))
		return false;
	if (node->kind != PL_NODE_MAP || node->n == 0)
		return refuse_kind(v, node);
	return pl_table_convert(v->c, v->param->key, node, v->member);
}

static bool set_values(const struct conversion *v)
{
	const struct pl_node *node = v->node;

	if (node->kind != PL_NODE_LIST)
		return refuse_kind(v, node);
	for (int i = 0; i < node->n; i++)
		if (node->item[i]->kind != PL_NODE_TEXT)
			return refuse_kind(v, node->item[i]);
	return pl_values_convert(v->c->pool, node, v->member) ||
	       refuse(v, node, "needs too much memory");
}

/* What people are told, and the function, by enum pl_param_kind. NULL: the planner's own. */
static const struct {
	const char *expected;
	bool (*set)(const struct conversion *v);
} kinds[] = {
	[PL_PARAM_INT] = {"a whole number", set_int},
	[PL_PARAM_FLOAT] = {"a number", set_float},
	[PL_PARAM_BOOL] = {"true or false", set_bool},
	[PL_PARAM_TEXT] = {"a text", set_text},
	[PL_PARAM_CHOICE] = {"a word", set_choice},
	[PL_PARAM_BYTES] = {"bytes such as 64MiB", set_int},
	[PL_PARAM_DURATION] = {"a time such as 10s", set_int},
	[PL_PARAM_DTYPE] =
		{"one of bool, u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64",
			set_dtype},
	[PL_PARAM_SIZE] = {"one number or [height, width]", set_size},
	[PL_PARAM_RANGE] = {"[low, high] or one number", set_range},
	[PL_PARAM_FLOATS] = {"a number or a list of numbers", set_floats},
	[PL_PARAM_INTS] = {"a whole number or a list of them", set_ints},
	[PL_PARAM_TEXTS] = {"a text or a list of texts", set_texts},
	[PL_PARAM_MAP] = {"a map of name: number", set_map},
	[PL_PARAM_TEXT_MAP] = {"a map of name: text", set_text_map},
	[PL_PARAM_TABLE] = {"a map of text: number, or a file of one text a line", set_table},
	[PL_PARAM_VALUES] = {"a list of single values", set_values},
	[PL_PARAM_EXPR] = {"an expression", set_text},
	[PL_PARAM_STEPS] = {"a list of steps", NULL},
	[PL_PARAM_BRANCHES] = {"lists of steps", NULL},
	[PL_PARAM_SOURCES] = {"a list of sources", NULL},
};

const char *pl_params_expected(const struct pl_param *param, char *out, size_t n)
{
	size_t at;

	if (param->kind == PL_PARAM_CHOICE)
		at = (size_t)snprintf(out, n, "one of");
	else
		at = (size_t)snprintf(out, n, "%s%s%s", kinds[param->kind].expected,
			param->unit ? " of " : "", param->unit ? param->unit : "");
	for (int i = 0; param->choices && param->choices[i] && at < n; i++)
		at += (size_t)snprintf(out + at, n - at, "%s%s",
			param->kind != PL_PARAM_CHOICE ? " or "
			: i                            ? ", "
						       : " ",
			param->choices[i]);
	return out;
}

bool pl_params_set(const struct pl_convert *c, const struct pl_param *param,
	const struct pl_node *value, void *params)
{
	struct conversion v = {
		.c = c,
		.param = param,
		.node = value,
		.member = (char *)params + param->offset,
	};

	if (value->kind == PL_NODE_BAD)
		return false;
	return !kinds[param->kind].set || kinds[param->kind].set(&v);
}
