/* daemon/ops/shuffle.c - puts the records of an epoch into random order. */
/*
 * block 1: one permutation of [0, n). Otherwise the epoch is cut into blocks of consecutive
 * records, the blocks are permuted, and inside each `window` of blocks that follow one another in
 * that order the records are permuted: a worker reads a few blocks at a time, and still every
 * position is arithmetic. The last block may be short; it lies at slot `short_slot` of the permuted
 * order, and every block behind it begins that much earlier.
 *
 * Right behind a mix every turn stays with its source: each pass of a source through its records is
 * shuffled by itself, as if it were an epoch of its own.
 */
#include "daemon/kit/source.h"
#include "daemon/ops/table.h"

struct shuffle_params {
	int64_t block;
	int64_t window;
};

/* Words of pl_order.state behind the permutation, which is that of the blocks (of the records when
 * block is 1). */
enum { WORD_SHORT_SLOT = 8, WORD_MISSING, WORD_BLOCKS };

_Static_assert(sizeof(struct pl_permutation) <= WORD_SHORT_SLOT * sizeof(uint64_t),
	"the permutation would lie over the words behind it");

static const struct pl_param params[] = {
	{
		.key = "block",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct shuffle_params, block),
		.def = "1",
		.min = 1,
		.max = 1e12,
		.unit = "records",
		.help = "records that stay together on disk; 1 is a full permutation",
		.is_obvious = true,
	},
	{
		.key = "window",
		.kind = PL_PARAM_INT,
		.offset = offsetof(struct shuffle_params, window),
		.def = "16",
		.min = 1,
		.max = 1e6,
		.unit = "blocks",
		.help = "blocks that are mixed with one another; without meaning when block is 1",
	},
	{0},
};

static int shuffle_order(const void *data, struct pl_order *o, struct pl_err *err)
{
	const struct shuffle_params *p = data;
	uint64_t block = (uint64_t)p->block;
	uint64_t n_blocks = o->n_in / block + (o->n_in % block != 0);

	o->n_out = o->n_in;
	pl_permutation_init(&o->state.permutation, n_blocks, o->seed, o->epoch, o->place);
	o->state.words[WORD_BLOCKS] = n_blocks;
	o->state.words[WORD_MISSING] = n_blocks * block - o->n_in;
	o->state.words[WORD_SHORT_SLOT] =
		n_blocks ? pl_permutation_find(&o->state.permutation, n_blocks - 1) : 0;
	return 0;
}

/* First position of the slot: slots behind the short block begin earlier. */
static uint64_t slot_start(const struct pl_order *o, uint64_t block, uint64_t slot)
{
	uint64_t missing =
		slot > o->state.words[WORD_SHORT_SLOT] ? o->state.words[WORD_MISSING] : 0;

	return slot * block - missing;
}

static uint64_t slot_of(const struct pl_order *o, uint64_t block, uint64_t position)
{
	uint64_t short_slot = o->state.words[WORD_SHORT_SLOT];

	if (position < slot_start(o, block, short_slot + 1))
		return pl_min_u64(position / block, short_slot);
	return (position + o->state.words[WORD_MISSING]) / block;
}

static uint64_t shuffle_alone(const void *data, const struct pl_order *o, uint64_t i)
{
	const struct shuffle_params *p = data;
	uint64_t block = (uint64_t)p->block;
	uint64_t window = (uint64_t)p->window;
	struct pl_permutation inside;
	uint64_t first, last, start, slot;

	if (block == 1)
		return pl_permutation_at(&o->state.permutation, i);
	first = slot_of(o, block, i) / window * window;
	last = pl_min_u64(first + window, o->state.words[WORD_BLOCKS]);
	start = slot_start(o, block, first);
	pl_permutation_init(&inside, slot_start(o, block, last) - start, o->seed, o->epoch,
		o->place + 1 + first);
	i = start + pl_permutation_at(&inside, i - start);
	slot = slot_of(o, block, i);
	return pl_permutation_at(&o->state.permutation, slot) * block + i -
	       slot_start(o, block, slot);
}

/* Position i of a mix: the same part's draw, moved inside its pass. */
static uint64_t shuffle_mixture(const void *data, const struct pl_order *o, uint64_t i)
{
	int part;
	uint64_t draw = pl_mixture_draw(o->mixture, i, &part);
	uint64_t n = o->mixture->share[part].n_records;
	struct pl_order pass = {.n_in = n,
		.seed = o->seed,
		.epoch = o->epoch,
		.place = o->place + ((uint64_t)part << 48) + ((draw / n + 1) << 8)};

	shuffle_order(data, &pass, NULL);
	return pl_mixture_position(
		o->mixture, part, draw / n * n + shuffle_alone(data, &pass, draw % n));
}

static uint64_t shuffle_at(const void *data, const struct pl_order *o, uint64_t i)
{
	return o->mixture ? shuffle_mixture(data, o, i) : shuffle_alone(data, o, i);
}

const struct pl_op pl_op_shuffle = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "shuffle",
	.help = "random order, new in every epoch; block and window keep reads sequential",
	.class_ = "order",
	.version = 1,
	.stages = PL_STAGE_PRE,
	.flags = PL_OP_RANDOM | PL_OP_WHOLE | PL_OP_NO_FIELD,
	.whole_reason = "it must see the whole stream to order it",
	.params = params,
	.params_size = sizeof(struct shuffle_params),
	.order = shuffle_order,
	.at = shuffle_at,
};
