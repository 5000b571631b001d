/* daemon/ops/choose.c - some of the texts of a list, drawn anew for each sample. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/kit/op.h"
#include "daemon/kit/text_list.h"

/*
 * Every field draws from a copy of one generator: lists of one length keep the texts of the same
 * places. Texts are drawn without repetition, and stay in the order in which they were drawn.
 */
struct choose_params {
	int64_t count;
};

#define COUNT_MAX 256

static const struct pl_param params[] = {
	{.key = "count",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct choose_params, count),
		.def = "1",
		.min = 1,
		.max = COUNT_MAX,
		.is_obvious = true,
		.help = "1: the result is a text; more: a list of so many different ones, or of "
			"all "
			"when there are fewer"},
	{0},
};

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct choose_params *p = params_;

	for (int i = 0; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];
		char text[256];

		if (t->kind != PL_KIND_LIST)
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, but choose takes lists of texts",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), t));
		io->type[io->out[i]] = pl_type_bytes(p->count == 1 ? PL_KIND_TEXT : PL_KIND_LIST);
	}
	return 0;
}

/* Positions of the drawn texts: the first steps of a shuffle of all. */
static int64_t draw(struct pl_run *r, uint32_t n, uint32_t *drawn)
{
	const struct choose_params *p = r->params;
	struct pl_rng rng = r->rng;
	int64_t count = p->count < n ? p->count : n;
	uint32_t at[COUNT_MAX]; /* positions that were moved away from, and what moved there */
	uint32_t moved[COUNT_MAX];

	for (int64_t k = 0; k < count; k++) {
		uint32_t from = (uint32_t)(k + (int64_t)pl_rng_below(&rng, n - (uint64_t)k));
		uint32_t first = (uint32_t)k;

		drawn[k] = from;
		for (int64_t i = 0; i < k; i++) {
			drawn[k] = at[i] == from ? moved[i] : drawn[k];
			first = at[i] == (uint32_t)k ? moved[i] : first;
		}
		at[k] = from;
		moved[k] = first;
	}
	return count;
}

static int put_text(struct pl_run *r, int i, const void *list, uint32_t at)
{
	size_t n;
	const char *text = pl_text_list_at(list, at, &n);
	int64_t shape = (int64_t)n;
	char *to = pl_run_out(r, i, PL_U8, 1, &shape);

	if (!to)
		return pl_run_failed(r);
	memcpy(to, text, n);
	return 0;
}

static int put_list(struct pl_run *r, int i, const void *list, const uint32_t *drawn, int64_t count)
{
	size_t bytes = 0;
	int64_t shape;
	void *to;

	for (int64_t k = 0; k < count; k++) {
		size_t n;

		(void)pl_text_list_at(list, drawn[k], &n);
		bytes += n;
	}
	shape = (int64_t)pl_text_list_bytes((size_t)count, bytes);
	to = pl_run_out(r, i, PL_U8, 1, &shape);
	if (!to)
		return pl_run_failed(r);
	pl_text_list_begin(to, (uint32_t)count);
	for (int64_t k = 0; k < count; k++) {
		size_t n;
		const char *text = pl_text_list_at(list, drawn[k], &n);

		pl_text_list_put(to, (uint32_t)k, text, n);
	}
	return 0;
}

static int choose_field(struct pl_run *r, const struct choose_params *p, int i)
{
	size_t bytes = (size_t)pl_tensor_bytes(&r->sample->value[r->in[i]]);
	const void *list = pl_run_contiguous(r, i);
	uint32_t drawn[COUNT_MAX];
	int64_t n;

	if (!list)
		return bytes ? pl_run_failed(r)
			     : pl_err_set(r->err, -EINVAL, "the list has no bytes at all");
	n = pl_text_list_count(list, bytes);
	if (n < 0)
		return pl_err_set(r->err, -EINVAL, "the value is no list of texts");
	if (n == 0 && p->count == 1)
		return pl_err_set(r->err, -EINVAL,
			"the list is empty: there is nothing to choose (drop such samples by a "
			"filter before)");
	n = draw(r, (uint32_t)n, drawn);
	return p->count == 1 ? put_text(r, i, list, drawn[0]) : put_list(r, i, list, drawn, n);
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = choose_field(r, r->params, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_choose;
const struct pl_op pl_op_choose = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "choose",
	.help = "some of the texts of a list, drawn anew for each sample",
	.class_ = "text",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM | PL_OP_ONE_FIELD,
	.takes = PL_KIND_BIT(PL_KIND_LIST),
	.params = params,
	.params_size = sizeof(struct choose_params),
	.infer = infer,
	.run = run,
};
