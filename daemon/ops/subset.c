/* daemon/ops/subset.c - the same part of a source every time: training and validation without
 * lists. */
/*
 * A record's place in [0, 1) is a hash of its key (a file's path below the root, "shard.tar: key",
 * a file with its line), and nothing else: no seed, epoch or neighbour. So records that are added
 * or taken away change the side of no other, and 0%..80% and 80%..100% share none and leave out
 * none.
 */
#include <errno.h>
#include <xxhash.h>

#include "daemon/ops/table.h"

struct subset_params {
	const char *keep;
	int by;
	double low;
	double high;
};

static const char *const bys[] = {"hash", NULL};

static const struct pl_param params[] = {
	{
		.key = "keep",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct subset_params, keep),
		.help = "which part: 0%..80%, or 80% for the same; shares such as 0.8..1 too",
		.is_obvious = true,
	},
	{
		.key = "by",
		.kind = PL_PARAM_CHOICE,
		.offset = offsetof(struct subset_params, by),
		.def = "hash",
		.choices = bys,
		.help = "hash: of the record's key",
	},
	{0},
};

/* "80%" or "0.8" up to `end`; false: neither, or not from 0 to 1. */
static bool read_share(const char *text, const char *end, double *share)
{
	char one[32], *rest;
	size_t n = (size_t)(end - text);
	bool is_percent = n > 1 && text[n - 1] == '%';

	n -= is_percent;
	if (n == 0 || n >= sizeof(one) || strspn(text, "0123456789.") < n)
		return false;
	memcpy(one, text, n);
	one[n] = '\0';
	*share = strtod(one, &rest) / (is_percent ? 100 : 1);
	return *rest == '\0' && *share >= 0 && *share <= 1;
}

static int subset_check(void *data, struct pl_err *err)
{
	struct subset_params *p = data;
	const char *dots = strstr(p->keep, "..");
	const char *end = p->keep + strlen(p->keep);

	p->low = 0;
	if ((dots && !read_share(p->keep, dots, &p->low)) ||
		!read_share(dots ? dots + 2 : p->keep, end, &p->high) || p->low >= p->high)
		return pl_err_set(err, -EINVAL,
			"keep must be a part such as 0%%..80%%, 80%%..100%% or 0.5, not '%s'",
			p->keep);
	return 0;
}

static int subset_run(struct pl_run *r)
{
	const struct subset_params *p = r->params;
	const char *key = r->sample->where.name;
	double at = (double)(XXH3_64bits(key, strlen(key)) >> 11) * 0x1p-53;

	return at >= p->low && at < p->high ? 0 : PL_OP_DROP;
}

const struct pl_op pl_op_subset = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "subset",
	.help = "keeps a fixed part of the records, for a split into training and validation",
	.class_ = "order",
	.version = 1,
	.stages = PL_STAGE_PRE,
	.flags = PL_OP_NO_FIELD | PL_OP_BY_KEY,
	.params = params,
	.params_size = sizeof(struct subset_params),
	.check = subset_check,
	.run = subset_run,
};
