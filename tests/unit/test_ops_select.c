/* tests/unit/test_ops_select.c - select and drop decide which fields live on. */
#include "daemon/ops/table.h"

#include <errno.h>

#include "param_at.h"

enum { N = 5 };

static const char *const names[N] = {"image", "view_1", "view_2", "label", "_index"};

struct step {
	struct pl_param_texts params;
	struct pl_type type[N];
	bool is_live[N];
	struct pl_err err;
};

static int infer(const struct pl_op *op, struct step *s, const char *const *fields)
{
	struct pl_infer io = {.type = s->type, .name = names, .is_live = s->is_live, .n_fields = N};

	memset(s, 0, sizeof(*s));
	for (int i = 0; i < N; i++)
		s->is_live[i] = strcmp(names[i], "view_2") != 0;
	for (; fields[s->params.n]; s->params.n++)
		s->params.v[s->params.n] = fields[s->params.n];
	cr_assert_eq(op->params_size, sizeof(s->params));
	return op->infer(&io, &s->params, &s->err);
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void expect_live(const struct step *s, const char *wanted)
{
	char got[N + 1] = "";

	for (int i = 0; i < N; i++)
		got[i] = s->is_live[i] ? '1' : '0';
	cr_expect_str_eq(got, wanted);
}

Test(ops_select, keeps_only_the_named)
{
	struct step s;

	cr_expect_eq(infer(&pl_op_select, &s, FIELDS("image")), 0);
	expect_live(&s, "10001");
	cr_expect_eq(infer(&pl_op_select, &s, FIELDS("view_*", "label")), 0);
	expect_live(&s, "01011");
}

Test(ops_select, standing_fields_may_be_named_always)
{
	struct step s;

	cr_expect_eq(infer(&pl_op_select, &s, FIELDS("image", "_key", "_source", "_index")), 0);
	expect_live(&s, "10001");
}

Test(ops_select, drop_ends_the_named)
{
	struct step s;

	cr_expect_eq(infer(&pl_op_drop, &s, FIELDS("image", "view_*")), 0);
	expect_live(&s, "00011");
}

Test(ops_select, unknown_names_are_errors)
{
	struct step s;

	cr_expect_eq(infer(&pl_op_select, &s, FIELDS("lable")), -EINVAL);
	cr_expect_str_eq(s.err.text, "no field 'lable' here (did you mean 'label'?)");
	cr_expect_eq(infer(&pl_op_drop, &s, FIELDS("view_2")), -EINVAL);
	cr_expect_str_eq(s.err.text, "no field 'view_2' here (did you mean 'view_1'?)");
	cr_expect_eq(infer(&pl_op_drop, &s, FIELDS("zzz*")), -EINVAL);
	cr_expect_str_eq(s.err.text, "no field 'zzz*' here");
	expect_live(&s, "11011");
}
