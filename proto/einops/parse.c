/* proto/einops/parse.c - text to pattern, and every check that needs no tensor. */
#include "proto/einops/room.h"

#include <errno.h>

static const char *const reduction_names[] = {
	[REDUCE_MIN] = "min",
	[REDUCE_MAX] = "max",
	[REDUCE_SUM] = "sum",
	[REDUCE_MEAN] = "mean",
	[REDUCE_PROD] = "prod",
	[REDUCE_ANY] = "any",
	[REDUCE_ALL] = "all",
};

int pl_arrow_find(const struct fault *f, uint32_t *at)
{
	size_t found = f->n_text;

	for (size_t i = 0; i + 1 < f->n_text; i++) {
		if (f->text[i] != '-' || f->text[i + 1] != '>')
			continue;
		if (found < f->n_text)
			return pl_fault(f, PL_EINOPS_E_ARROW, (struct span){(uint32_t)i, 2},
				"a second '->'; a pattern has exactly one: what it takes -> what "
				"it gives");
		found = i++;
	}
	if (found == f->n_text)
		return pl_fault(f, PL_EINOPS_E_ARROW, (struct span){(uint32_t)f->n_text, 1},
			"no '->'; a pattern reads: what it takes -> what it gives");
	*at = (uint32_t)found;
	return 0;
}

static int check_ellipses(const struct pl_einops_pattern *p, const struct fault *f)
{
	const struct side *left = &p->sides[0];
	const struct side *right = &p->sides[1];

	if (right->ellipsis >= 0 && left->ellipsis < 0)
		return pl_fault(f, PL_EINOPS_E_ELL_RIGHT, right->ellipsis_at,
			"'...' is on the right only; write it on the left too");
	if (left->ellipsis >= 0 && side_dim(p, left, (uint32_t)left->ellipsis)->is_group)
		return pl_fault(f, PL_EINOPS_E_ELL_LEFT_PAREN, left->ellipsis_at,
			"'...' in parentheses on the left; there it stands alone, only on the "
			"right can it be in a group");
	return 0;
}

/* The first axis, in the order of the text, that is a number / on one side only. */
static const struct axis *find_number(const struct pl_einops_pattern *p)
{
	for (uint32_t i = 0; i < p->n_axes; i++)
		if (p->axes[i].kind == AXIS_NUMBER)
			return &p->axes[i];
	return NULL;
}

static const struct axis *find_on(const struct pl_einops_pattern *p, bool is_left, bool is_right)
{
	for (uint32_t i = 0; i < p->n_axes; i++)
		if (p->axes[i].is_left == is_left && p->axes[i].is_right == is_right)
			return &p->axes[i];
	return NULL;
}

static int check_rearrange(const struct pl_einops_pattern *p, const struct fault *f)
{
	const struct axis *a = find_number(p);
	char word[48];

	if (a)
		return pl_fault(f, PL_EINOPS_E_ANON_REARRANGE, a->span,
			"the number %s; rearrange has no numbers but 1, give the axis a name and a "
			"length",
			pl_fault_word(word, f->text, a->span));
	a = find_on(p, true, false);
	if (a)
		return pl_fault(f, PL_EINOPS_E_ONE_SIDED, a->span,
			"axis '%s' is on the left only; rearrange keeps every axis, write it on "
			"the right too",
			pl_fault_word(word, f->text, a->span));
	a = find_on(p, false, true);
	if (a)
		return pl_fault(f, PL_EINOPS_E_ONE_SIDED, a->span,
			"axis '%s' is on the right only; rearrange makes no axes (repeat does, or "
			"write 1)",
			pl_fault_word(word, f->text, a->span));
	return 0;
}

static int check_repeat(const struct pl_einops_pattern *p, const struct fault *f)
{
	const struct axis *a = find_on(p, true, false);
	char word[48];

	if (a)
		return pl_fault(f, PL_EINOPS_E_REPEAT_LEFT, a->span,
			"'%s' is on the left only; repeat keeps every axis, and a number is never "
			"the same axis again",
			pl_fault_word(word, f->text, a->span));
	return 0;
}

static int check_reduce(struct pl_einops_pattern *p, const char *reduction, const struct fault *f)
{
	const struct axis *a = find_on(p, false, true);
	char word[48];

	for (size_t i = REDUCE_MIN; reduction && i < PL_ARRAY_LEN(reduction_names); i++)
		if (strcmp(reduction, reduction_names[i]) == 0)
			p->reduction = (enum reduction)i;
	if (!p->reduction) {
		struct span name = {0, reduction ? (uint32_t)strnlen(reduction, 4096) : 0};

		return pl_fault(f, PL_EINOPS_E_REDUCTION, span_all(f),
			"no reduction '%s'; there are min, max, sum, mean, prod, any and all",
			pl_fault_word(word, reduction ? reduction : "", name));
	}
	if (a)
		return pl_fault(f, PL_EINOPS_E_REDUCE_RIGHT, a->span,
			"'%s' is on the right only; reduce makes no axes (repeat does, or write 1)",
			pl_fault_word(word, f->text, a->span));
	return 0;
}

static int parse_arrow(struct pl_einops_pattern *p, const char *reduction, const struct fault *f)
{
	uint32_t arrow;
	int r = pl_arrow_find(f, &arrow);

	if (!r)
		r = pl_side_read(p, (struct span){0, arrow}, 0, f);
	if (!r)
		r = pl_side_read(p, (struct span){arrow + 2, p->n_text - arrow - 2}, SIDE_RIGHT, f);
	if (!r)
		r = check_ellipses(p, f);
	if (r)
		return r;
	if (p->op == PL_EINOPS_REARRANGE)
		return check_rearrange(p, f);
	return p->op == PL_EINOPS_REPEAT ? check_repeat(p, f) : check_reduce(p, reduction, f);
}

static int parse_shape(struct pl_einops_pattern *p, const struct fault *f)
{
	const struct side *side = &p->sides[0];
	int r = pl_side_read(p, span_all(f), SIDE_UNDERSCORE, f);

	if (r)
		return r;
	for (uint32_t i = 0; i < side->n; i++)
		if (side_dim(p, side, i)->n > 1)
			return pl_fault(f, PL_EINOPS_E_COMPOSITE, side_dim(p, side, i)->span,
				"a group of several axes; parse_shape wants one name for each "
				"dimension");
	if (side->ellipsis >= 0 && side_dim(p, side, (uint32_t)side->ellipsis)->is_group)
		return pl_fault(f, PL_EINOPS_E_ELL_LEFT_PAREN, side->ellipsis_at,
			"'...' in parentheses; it stands alone here");
	return 0;
}

/* Everything in one block; the pools are as large as the text could need. */
static struct pl_einops_pattern *pattern_alloc(const struct pl_einops_spec *spec)
{
	size_t n = spec->n_pattern;
	size_t n_sides = 2;
	size_t n_sides_bytes;
	size_t n_dims_bytes = (n + 1) * sizeof(struct dim);
	struct pl_einops_pattern *p;

	for (size_t i = 0; spec->op == PL_EINOPS_EINSUM && i < n; i++)
		n_sides += spec->pattern[i] == ',';
	n_sides_bytes = n_sides * sizeof(struct side);
	p = malloc(sizeof(*p) + n_sides_bytes + n_dims_bytes + 3 * (n + 1) + PL_EINOPS_AXES_MAX);
	if (!p)
		return NULL;
	memset(p, 0, offsetof(struct pl_einops_pattern, axes));
	p->op = spec->op;
	p->n_text = (uint32_t)n;
	p->sides = (struct side *)(p + 1);
	p->dims = (struct dim *)((char *)p->sides + n_sides_bytes);
	p->items = (uint8_t *)p->dims + n_dims_bytes;
	p->text = (char *)p->items + n + 1;
	p->names = p->text + n + 1;
	if (n)
		memcpy(p->text, spec->pattern, n);
	p->text[n] = '\0';
	return p;
}

static int check_spec(const struct pl_einops_spec *spec, const struct fault *f)
{
	if (spec->op < PL_EINOPS_REARRANGE || spec->op > PL_EINOPS_EINSUM ||
		(!spec->pattern && spec->n_pattern))
		return pl_fault(f, PL_EINOPS_E_ARGUMENT, (struct span){0, 0},
			"no such operation, or no pattern");
	if (spec->n_pattern > PL_EINOPS_PATTERN_MAX)
		return pl_fault(f, PL_EINOPS_E_LIMIT, (struct span){PL_EINOPS_PATTERN_MAX, 1},
			"the pattern has %zu bytes; at most %d are allowed", spec->n_pattern,
			PL_EINOPS_PATTERN_MAX);
	return 0;
}

static int parse_op(
	struct pl_einops_pattern *p, const struct pl_einops_spec *spec, const struct fault *f)
{
	switch (spec->op) {
	case PL_EINOPS_PACK:
	case PL_EINOPS_UNPACK:
		return pl_parse_pack(p, f);
	case PL_EINOPS_PARSE_SHAPE:
		return parse_shape(p, f);
	case PL_EINOPS_EINSUM:
		return pl_parse_einsum(p, f);
	default:
		return parse_arrow(p, spec->reduction, f);
	}
}

PL_EXPORT int pl_einops_parse(const struct pl_einops_spec *spec, struct pl_einops_pattern **out,
	struct pl_einops_error *error)
{
	struct fault f = {error, spec->op, spec->pattern, spec->n_pattern};
	struct pl_einops_pattern *p;
	int r = check_spec(spec, &f);

	if (r)
		return r;
	p = pattern_alloc(spec);
	if (!p)
		return pl_fault(&f, PL_EINOPS_E_MEMORY, (struct span){0, 0}, "out of memory");
	f.text = p->text;
	r = parse_op(p, spec, &f);
	if (r)
		free(p);
	else
		*out = p;
	return r;
}

PL_EXPORT void pl_einops_pattern_destroy(struct pl_einops_pattern *pattern)
{
	free(pattern);
}
