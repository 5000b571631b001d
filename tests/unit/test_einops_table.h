/* tests/unit/test_einops_table.h - one line per wrong question, and where the error points. */
#pragma once

#include "proto/einops/einops.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "proto/base.h"

struct wrong {
	enum pl_einops_op op;
	const char *pattern;
	enum pl_einops_code code;
	size_t column;
	size_t length;
	const char *reduction;
	int rank; /* -1: parse must fail already */
	int64_t shape[8];
	struct pl_einops_axis axes[3];
	enum pl_dtype dtype; /* u8 if not said */
};

static inline size_t count_axes(const struct wrong *w)
{
	size_t n = 0;

	while (n < PL_ARRAY_LEN(w->axes) && w->axes[n].name)
		n++;
	return n;
}

/* The text is: operation and reason, the pattern, carets. */
static inline void check_text(const struct wrong *w, const struct pl_einops_error *e)
{
	const char *last = strrchr(e->text, '\n');

	cr_assert(strncmp(e->text, pl_einops_op_name(w->op), strlen(pl_einops_op_name(w->op))) == 0,
		"%s", e->text);
	cr_assert(strstr(e->text, e->reason), "%s", e->text);
	cr_assert(strlen(e->reason) > 10, "%s", e->text);
	cr_assert(last && strchr(last, '^'), "%s", e->text);
}

static inline int ask(const struct wrong *w, struct pl_einops_error *e)
{
	struct pl_einops_spec spec = {w->op, w->pattern, strlen(w->pattern), w->reduction};
	struct pl_tensor t = {.dtype = PL_U8};
	struct pl_einops_args args = {
		.inputs = &t, .n_inputs = 1, .axes = w->axes, .n_axes = count_axes(w)};
	struct pl_einops_axis found[PL_RANK_MAX];
	struct pl_einops_pattern *p = NULL;
	struct pl_einops_plan *plan = NULL;
	size_t n_found;
	int r = pl_einops_parse(&spec, &p, e);

	cr_assert(w->rank >= 0 ? r == 0 : r != 0, "'%s': parse gives %d", w->pattern, r);
	if (r)
		return r;
	cr_assert(pl_tensor_init(&t, NULL, w->dtype ? w->dtype : PL_U8, w->rank, w->shape) == 0);
	if (w->op == PL_EINOPS_PARSE_SHAPE)
		r = pl_einops_parse_shape(p, &t, found, &n_found, e);
	else
		r = pl_einops_plan_create(p, &args, &plan, e);
	pl_einops_plan_release(plan);
	pl_einops_pattern_destroy(p);
	return r;
}

static inline void check_wrong(const struct wrong *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct pl_einops_error e = {.code = PL_EINOPS_OK};
		int r = ask(&w[i], &e);

		cr_assert(r < 0, "'%s' is accepted", w[i].pattern);
		cr_assert(e.code == w[i].code, "'%s': %s instead of %s", w[i].pattern,
			pl_einops_code_name(e.code), pl_einops_code_name(w[i].code));
		cr_assert(e.column == w[i].column && e.length == w[i].length,
			"'%s': points at %zu+%zu instead of %zu+%zu", w[i].pattern, e.column,
			e.length, w[i].column, w[i].length);
		check_text(&w[i], &e);
	}
}

#define CHECK_WRONG(table) check_wrong(table, PL_ARRAY_LEN(table))
