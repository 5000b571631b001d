/* daemon/ops/crop_audio.c - cuts a part of fixed length out of sound. */
#include <errno.h>
#include <inttypes.h>

#include "daemon/kit/op.h"

struct crop_audio_params {
	int64_t length;
	int64_t start;
	bool pad;
};

#define START_RANDOM PL_PARAM_WORD(0)
#define FRAMES_MAX   ((double)((int64_t)1 << 40))
#define AT(member)   offsetof(struct crop_audio_params, member)

static const char *const starts[] = {"random", NULL};

static const struct pl_param params[] = {
	{.key = "length",
		.kind = PL_PARAM_INT,
		.offset = AT(length),
		.min = 1,
		.max = FRAMES_MAX,
		.unit = "frames",
		.is_obvious = true,
		.help = "of the result: seconds times rate"},
	{.key = "start",
		.kind = PL_PARAM_INT,
		.offset = AT(start),
		.def = "random",
		.min = 0,
		.max = FRAMES_MAX,
		.unit = "frames",
		.choices = starts,
		.help = "the first frame that is taken; random: every place where the whole part "
			"lies in the sound"},
	{.key = "pad",
		.kind = PL_PARAM_BOOL,
		.offset = AT(pad),
		.def = "true",
		.help = "silence behind a sound that is too short; else it is an error"},
	{0},
};

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct crop_audio_params *p = params_;

	for (int i = 0; i < io->n; i++) {
		struct pl_type t = io->type[io->in[i]];
		char text[256];

		if (t.kind != PL_KIND_AUDIO || t.rank != 2)
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, but crop_audio takes audio [frames, channels]%s",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), &t),
				t.kind == PL_KIND_BYTES ? " (put decode_audio before it)" : "");
		if (!p->pad && t.shape[0] >= 0 && t.shape[0] < p->length)
			return pl_err_set(err, -EINVAL,
				"field '%s' has %" PRId64 " frames, fewer than length: %" PRId64
				" (set pad: true)",
				io->name[io->in[i]], t.shape[0], p->length);
		t.shape[0] = p->length;
		io->type[io->out[i]] = t;
	}
	return 0;
}

/* Every field draws from a copy of one generator: fields of one length get one place. */
static int64_t start_of(const struct pl_run *r, int64_t n_frames)
{
	const struct crop_audio_params *p = r->params;
	struct pl_rng rng = r->rng;

	if (p->start != START_RANDOM)
		return p->start;
	if (n_frames <= p->length)
		return 0;
	return (int64_t)pl_rng_below(&rng, (uint64_t)(n_frames - p->length) + 1);
}

static int crop_field(struct pl_run *r, const struct crop_audio_params *p, int i)
{
	const struct pl_tensor in = r->sample->value[r->in[i]];
	const int64_t shape[2] = {p->length, in.shape[1]};
	int64_t frame = in.shape[1] * (int64_t)pl_dtype_size(in.dtype);
	int64_t start = start_of(r, in.shape[0]);
	int64_t n = in.shape[0] - start;
	const char *from;
	char *to;

	if (start > in.shape[0] || (!p->pad && n < p->length))
		return pl_err_set(r->err, -EINVAL,
			"the sound has %" PRId64 " frames, too few for %" PRId64
			" from frame %" PRId64 " on%s",
			in.shape[0], p->length, start,
			start > in.shape[0] ? "" : " (set pad: true)");
	n = n < p->length ? n : p->length;
	from = pl_run_contiguous(r, i);
	if (!from && n > 0)
		return pl_run_failed(r);
	to = pl_run_out(r, i, in.dtype, 2, shape);
	if (!to)
		return pl_run_failed(r);
	if (n > 0)
		memcpy(to, from + start * frame, (size_t)(n * frame));
	memset(to + n * frame, 0, (size_t)((p->length - n) * frame));
	return 0;
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = crop_field(r, r->params, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_crop_audio;
const struct pl_op pl_op_crop_audio = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "crop_audio",
	.help = "cuts a part of fixed length out of sound",
	.class_ = "audio",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM,
	.takes = PL_KIND_BIT(PL_KIND_AUDIO),
	.params = params,
	.params_size = sizeof(struct crop_audio_params),
	.infer = infer,
	.run = run,
};
