/* daemon/ops/truncate.c - shortens sequences that are longer than a length. */
#include <errno.h>

#include "daemon/kit/op.h"

/* Elements along axis 0; of a text characters, so that none is cut in two. Nothing is copied. */
struct truncate_params {
	int64_t length;
	int side;
};

enum {
	SIDE_RIGHT,
	SIDE_LEFT,
};

#define AT(member) offsetof(struct truncate_params, member)

static const char *const sides[] = {"right", "left", NULL};

static const struct pl_param params[] = {
	{.key = "length",
		.kind = PL_PARAM_INT,
		.offset = AT(length),
		.min = 0,
		.max = (double)((int64_t)1 << 40),
		.is_obvious = true,
		.help = "what is left at most: elements along axis 0, of a text characters"},
	{.key = "side",
		.kind = PL_PARAM_CHOICE,
		.offset = AT(side),
		.def = "right",
		.choices = sides,
		.help = "which end is cut off"},
	{0},
};

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct truncate_params *p = params_;

	for (int i = 0; i < io->n; i++) {
		struct pl_type t = io->type[io->in[i]];
		char text[256];

		if (t.rank == 0 || t.kind == PL_KIND_BYTES || t.kind == PL_KIND_LIST ||
			t.kind == PL_KIND_JSON)
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, and only texts, tokens and tensors of one axis "
				"or more can be truncated",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), &t));
		if (t.kind != PL_KIND_TEXT && t.shape[0] > p->length)
			t.shape[0] = p->length;
		io->type[io->out[i]] = t;
	}
	return 0;
}

static bool is_continuation(const unsigned char *byte)
{
	return (*byte & 0xc0) == 0x80;
}

/* Bytes of the first, or last, `length` characters. */
static int64_t text_bytes(const struct truncate_params *p, const unsigned char *text, int64_t n)
{
	int64_t left = p->length;

	if (p->side == SIDE_RIGHT) {
		for (int64_t i = 0; i < n; i++)
			if (!is_continuation(text + i) && left-- == 0)
				return i;
		return n;
	}
	for (int64_t i = n; i > 0; i--)
		if (!is_continuation(text + i - 1) && --left <= 0)
			return left < 0 ? 0 : n - i + 1;
	return n;
}

static int truncate_field(struct pl_run *r, const struct truncate_params *p, bool is_text, int i)
{
	struct pl_tensor t = r->sample->value[r->in[i]];
	int64_t n = t.shape[0];
	int64_t kept = n < p->length ? n : p->length;

	if (is_text) {
		const unsigned char *text = pl_run_contiguous(r, i);

		if (!text && n > 0)
			return pl_run_failed(r);
		kept = text_bytes(p, text, n);
		t.data = (void *)(uintptr_t)text;
		t.stride[0] = 1;
	}
	if (p->side == SIDE_LEFT && n > kept)
		t.data = (char *)t.data + (n - kept) * t.stride[0];
	t.shape[0] = kept;
	r->sample->value[r->out[i]] = t;
	return 0;
}

/* Which fields are texts, by pair: in no value itself. */
static int prepare(const struct pl_infer *io, const void *params_, void **state, struct pl_err *err)
{
	bool *is_text = calloc((size_t)io->n + 1, sizeof(*is_text));

	(void)params_;
	if (!is_text)
		return pl_err_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < io->n; i++)
		is_text[i] = io->type[io->out[i]].kind == PL_KIND_TEXT;
	*state = is_text;
	return 0;
}

static void destroy(void *state)
{
	free(state);
}

static int run(struct pl_run *r)
{
	const bool *is_text = r->state;

	for (int i = 0; i < r->n; i++) {
		int rc = truncate_field(r, r->params, is_text[i], i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_truncate;
const struct pl_op pl_op_truncate = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "truncate",
	.help = "shortens sequences that are longer than a length",
	.class_ = "text",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.takes = PL_KIND_BIT(PL_KIND_TOKENS),
	.params = params,
	.params_size = sizeof(struct truncate_params),
	.infer = infer,
	.prepare = prepare,
	.destroy = destroy,
	.run = run,
};
