/* daemon/ops/lookup.c - replaces texts by their numbers in a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "daemon/ops/numbers.h"

/* The table is part of the plan: every process looks up in the same one, whatever became of its
 * file. An integer is looked up as the text of its decimal digits. */
struct lookup_params {
	struct pl_param_table table;
	int64_t unknown;
};

#define UNKNOWN_ERROR PL_PARAM_WORD(0)
#define AT(member)    offsetof(struct lookup_params, member)

static const char *const words[] = {"error", NULL};

static const struct pl_param params[] = {
	{.key = "table",
		.kind = PL_PARAM_TABLE,
		.offset = AT(table),
		.is_obvious = true,
		.help = "text: number; or a file of one text a line, where the first is 0"},
	{.key = "unknown",
		.kind = PL_PARAM_INT,
		.offset = AT(unknown),
		.def = "error",
		.choices = words,
		.help = "the number of what isn't in the table"},
	{0},
};

static bool is_integer(const struct pl_type *t)
{
	return t->rank == 0 && t->dtype >= PL_U8 && t->dtype <= PL_I64;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	(void)params_;
	for (int i = 0; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];
		char text[256];

		if (t->kind != PL_KIND_TEXT && !(t->kind == PL_KIND_SCALAR && is_integer(t)))
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, and only texts and integers are looked up (name "
				"other fields with field:)",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), t));
		io->type[io->out[i]] = pl_type_scalar(PL_I64);
	}
	return 0;
}

/* As strcmp of a text that is not terminated. */
static int compare(const char *text, size_t n, const char *entry)
{
	int order = strncmp(text, entry, n);

	return order != 0 ? order : entry[n] ? -1 : 0;
}

static const struct pl_table_entry *find(
	const struct pl_param_table *table, const char *text, size_t n)
{
	int64_t low = 0;
	int64_t high = table->n;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		int order = compare(text, n, table->entry[middle].text);

		if (order == 0)
			return &table->entry[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* The field's value as a text; a number is written into `digits`. NULL with err set. */
static const char *text_of(struct pl_run *r, int i, char digits[32], size_t *n)
{
	const struct pl_tensor *t = &r->sample->value[r->in[i]];
	uint64_t number;

	if (t->rank == 1) {
		const char *text = pl_run_contiguous(r, i);

		*n = (size_t)t->shape[0];
		return text || *n > 0 ? text : "";
	}
	if (t->dtype == PL_U64) {
		memcpy(&number, t->data, sizeof(number));
		*n = (size_t)snprintf(digits, 32, "%" PRIu64, number);
	} else {
		int64_t integer;

		pl_numbers_convert(&integer, PL_I64, t->data, t->dtype, 1);
		*n = (size_t)snprintf(digits, 32, "%" PRId64, integer);
	}
	return digits;
}

static int unknown(const struct pl_run *r, const char *text, size_t n)
{
	const struct lookup_params *p = r->params;
	char shown[64];
	char quoted[200];

	(void)snprintf(shown, sizeof(shown), "%.*s", n < sizeof(shown) ? (int)n : 63, text);
	return pl_err_set(r->err, -EINVAL,
		"'%s'%s is not in the table of %" PRId64
		" texts (set unknown: to a number for those that aren't)",
		pl_err_quote(quoted, sizeof(quoted), shown), n >= sizeof(shown) ? "..." : "",
		p->table.n);
}

static int look_up(struct pl_run *r, const struct lookup_params *p, int i)
{
	const struct pl_table_entry *entry = NULL;
	char digits[32];
	size_t n;
	const char *text = text_of(r, i, digits, &n);
	int64_t *out;

	if (!text)
		return pl_run_failed(r);
	if (!memchr(text, '\0', n))
		entry = find(&p->table, text, n);
	if (!entry && p->unknown == UNKNOWN_ERROR)
		return unknown(r, text, n);
	out = pl_run_out(r, i, PL_I64, 0, NULL);
	if (!out)
		return pl_run_failed(r);
	*out = entry ? entry->number : p->unknown;
	return 0;
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = look_up(r, r->params, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_lookup;
const struct pl_op pl_op_lookup = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "lookup",
	.help = "replaces texts by their numbers in a table",
	.class_ = "tensor",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_ONE_FIELD,
	.takes = PL_KIND_BIT(PL_KIND_TEXT),
	.params = params,
	.params_size = sizeof(struct lookup_params),
	.infer = infer,
	.run = run,
};
