/* daemon/ops/decode_audio.c - the bytes of a sound file to f32 samples, by libsndfile. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include <sndfile.h>

#include "daemon/ops/number_or_field.h"
#include "daemon/ops/resample_audio.h"

/*
 * The format is found in the bytes: WAV, FLAC, Ogg Vorbis and Opus, MP3, AIFF, AU, CAF and whatever
 * else the installed libsndfile knows. Samples of integers are divided by their largest power of
 * two, so they lie in [-1, 1). The part from `start` on is decoded, then mixed to one channel, then
 * resampled. `duration` is what is taken at most: a file may end before.
 */
struct decode_audio_params {
	const char *start;
	const char *duration;
	int64_t rate;
	bool mono;
	struct pl_number_or_field start_at; /* by check */
	struct pl_number_or_field lasts;
	bool is_all;
};

#define SECONDS_MAX  1e6
#define CHANNELS_MAX 1024
#define RATE_SOURCE  PL_PARAM_WORD(0)
#define AT(member)   offsetof(struct decode_audio_params, member)

static const char *const rates[] = {"source", NULL};

static const struct pl_param params[] = {
	{.key = "start",
		.kind = PL_PARAM_TEXT,
		.offset = AT(start),
		.def = "0",
		.unit = "seconds",
		.help = "where to begin: a number, or the name of the field that holds it"},
	{.key = "duration",
		.kind = PL_PARAM_TEXT,
		.offset = AT(duration),
		.def = "all",
		.unit = "seconds",
		.help = "how much to take at most: a number, the name of the field that holds it, "
			"or all"},
	{.key = "rate",
		.kind = PL_PARAM_INT,
		.offset = AT(rate),
		.def = "source",
		.min = 1,
		.max = PL_RATE_MAX,
		.unit = "Hz",
		.choices = rates,
		.help = "resample to this rate; source: leave it as it is"},
	{.key = "mono",
		.kind = PL_PARAM_BOOL,
		.offset = AT(mono),
		.def = "false",
		.help = "one channel, the mean of all"},
	{0},
};

static int check(void *params_, struct pl_err *err)
{
	struct decode_audio_params *p = params_;
	int rc = pl_number_or_field_parse("start", p->start, SECONDS_MAX, &p->start_at, err);

	p->is_all = strcmp(p->duration, "all") == 0;
	if (rc == 0 && !p->is_all)
		rc = pl_number_or_field_parse("duration", p->duration, SECONDS_MAX, &p->lasts, err);
	return rc;
}

static int also(const void *params_, struct pl_also *fields)
{
	const struct decode_audio_params *p = params_;
	int n = 0;

	fields[n++] = (struct pl_also){"rate", PL_ALSO_WRITES};
	if (p->start_at.is_field)
		fields[n++] = (struct pl_also){p->start, PL_ALSO_READS};
	if (p->lasts.is_field)
		fields[n++] = (struct pl_also){p->duration, PL_ALSO_READS};
	return n;
}

/* Pairs behind the step's own, in the order of `also`. */
enum {
	PAIR_AUDIO,
	PAIR_RATE,
	PAIR_FIELDS,
};

static int pair_of_duration(const struct decode_audio_params *p)
{
	return PAIR_FIELDS + p->start_at.is_field;
}

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	const struct decode_audio_params *p = params_;
	const struct pl_type *t = &io->type[io->in[PAIR_AUDIO]];
	char text[256];
	int rc = 0;

	if (io->n_own != 1)
		return pl_err_set(
			err, -EINVAL, "one field is decoded by one step, not %d", io->n_own);
	if (t->kind != PL_KIND_BYTES || t->dtype != PL_U8 || t->rank != 1)
		return pl_err_set(err, -EINVAL,
			"field '%s' is %s, but decode_audio takes the bytes of a file, u8 [n]%s",
			io->name[io->in[0]], pl_type_format(text, sizeof(text), t),
			t->kind == PL_KIND_AUDIO ? " (it is decoded already)" : "");
	if (p->start_at.is_field)
		rc = pl_number_or_field_infer(io, PAIR_FIELDS, "start", err);
	if (rc == 0 && p->lasts.is_field)
		rc = pl_number_or_field_infer(io, pair_of_duration(p), "duration", err);
	io->type[io->out[PAIR_RATE]] = pl_type_scalar(PL_I64);
	io->type[io->out[PAIR_AUDIO]] = (struct pl_type){
		.kind = PL_KIND_AUDIO, .dtype = PL_F32, .rank = 2, .shape = {-1, p->mono ? 1 : -1}};
	return rc;
}

/* The bytes as libsndfile reads them. */
struct bytes {
	const unsigned char *data;
	sf_count_t n;
	sf_count_t at;
};

static sf_count_t bytes_length(void *context)
{
	return ((const struct bytes *)context)->n;
}

static sf_count_t bytes_seek(sf_count_t offset, int whence, void *context)
{
	struct bytes *b = context;
	sf_count_t from = whence == SEEK_CUR ? b->at : whence == SEEK_END ? b->n : 0;

	if (offset < -from || offset > b->n - from)
		return -1;
	b->at = from + offset;
	return b->at;
}

static sf_count_t bytes_read(void *to, sf_count_t n, void *context)
{
	struct bytes *b = context;
	sf_count_t count = n < b->n - b->at ? n : b->n - b->at;

	if (count <= 0)
		return 0;
	memcpy(to, b->data + b->at, (size_t)count);
	b->at += count;
	return count;
}

static sf_count_t bytes_tell(void *context)
{
	return ((const struct bytes *)context)->at;
}

/* One file: what is wanted of it, and its frames on their way. */
struct audio {
	struct pl_run *r;
	const struct decode_audio_params *p;
	SNDFILE *file;
	SF_INFO info;
	int64_t channels; /* of `frames` */
	int64_t n_frames;
	float *frames;
};

static int open_file(struct audio *a, struct bytes *bytes)
{
	SF_VIRTUAL_IO io = {.get_filelen = bytes_length,
		.seek = bytes_seek,
		.read = bytes_read,
		.tell = bytes_tell};

	if (bytes->n == 0)
		return pl_err_set(a->r->err, -EBADMSG, "the file is empty (0 bytes)");
	a->file = sf_open_virtual(&io, SFM_READ, &a->info, bytes);
	if (!a->file)
		return pl_err_set(a->r->err, -EBADMSG, "not a sound file that libsndfile reads: %s",
			sf_strerror(NULL));
	if (a->info.channels < 1 || a->info.channels > CHANNELS_MAX || a->info.samplerate < 1 ||
		a->info.samplerate > PL_RATE_MAX || a->info.frames < 0)
		return pl_err_set(a->r->err, -EBADMSG,
			"the sound file says %d channels of %d Hz, and at most %d of %d Hz are "
			"decoded",
			a->info.channels, a->info.samplerate, CHANNELS_MAX, PL_RATE_MAX);
	if ((a->info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_FLAC &&
		(a->info.frames == 0 || a->info.frames == SF_COUNT_MAX))
		return pl_err_set(a->r->err, -EBADMSG,
			"the FLAC does not say how long it is (encode it again, not to a pipe)");
	a->channels = a->info.channels;
	return 0;
}

/* Seconds of this sample: from the parameter, or from its field. */
static int read_seconds(struct audio *a, const struct pl_number_or_field *v, const char *key,
	int pair, double *seconds)
{
	*seconds = v->number;
	return v->is_field ? pl_number_or_field_read(a->r, pair, key, SECONDS_MAX, seconds) : 0;
}

/* The frames to decode: `*first` and at most `*n`. */
static int choose_frames(struct audio *a, int64_t *first, int64_t *n)
{
	double rate = a->info.samplerate;
	double start, lasts;
	int rc = read_seconds(a, &a->p->start_at, "start", PAIR_FIELDS, &start);

	if (rc == 0)
		rc = read_seconds(a, &a->p->lasts, "duration", pair_of_duration(a->p), &lasts);
	if (rc < 0)
		return rc;
	*first = (int64_t)rint(start * rate);
	if (*first > a->info.frames)
		return pl_err_set(a->r->err, -EINVAL,
			"start: %g s lies behind the end of the sound, which lasts %g s", start,
			(double)a->info.frames / rate);
	*n = a->info.frames - *first;
	if (!a->p->is_all && rint(lasts * rate) < (double)*n)
		*n = (int64_t)rint(lasts * rate);
	return 0;
}

/* MP3 has no exact count of its frames in its head; every other format that ends early is cut off.
 */
static int check_complete(const struct audio *a, int64_t wanted)
{
	bool is_estimated = (a->info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_MPEG;
	int code = sf_error(a->file);

	if (code != SF_ERR_NO_ERROR)
		return pl_err_set(
			a->r->err, -EBADMSG, "damaged sound file: %s", sf_error_number(code));
	if (a->n_frames == wanted || is_estimated)
		return 0;
	return pl_err_set(a->r->err, -EBADMSG,
		"truncated sound file: %" PRId64 " of %" PRId64 " frames", a->n_frames, wanted);
}

static int read_frames(struct audio *a)
{
	int64_t first = 0, wanted = 0;
	int rc = choose_frames(a, &first, &wanted);

	if (rc < 0)
		return rc;
	if (wanted > INT64_MAX / (a->channels * (int64_t)sizeof(float)))
		return pl_err_set(a->r->err, -EMSGSIZE,
			"the sound file says it has %" PRId64 " frames, far too many", wanted);
	a->frames = pl_run_scratch(a->r, (size_t)(wanted * a->channels) * sizeof(float));
	if (!a->frames)
		return pl_run_failed(a->r);
	if (first > 0 && sf_seek(a->file, first, SEEK_SET) != first)
		return pl_err_set(a->r->err, -EBADMSG,
			"the sound file can't be read from frame %" PRId64 " on: %s", first,
			sf_strerror(a->file));
	a->n_frames = wanted > 0 ? sf_readf_float(a->file, a->frames, wanted) : 0;
	return check_complete(a, wanted);
}

/* In place: a frame's mean is never behind the frame. */
static void mix(struct audio *a)
{
	for (int64_t i = 0; i < a->n_frames; i++) {
		float sum = 0;

		for (int64_t c = 0; c < a->channels; c++)
			sum += a->frames[i * a->channels + c];
		a->frames[i] = sum / (float)a->channels;
	}
	a->channels = 1;
}

static int put(struct audio *a)
{
	struct pl_audio_rates to = {a->channels, a->info.samplerate, a->info.samplerate};
	int64_t shape[2] = {a->n_frames, a->channels};
	int64_t *rate;
	float *out;

	if (a->p->rate != RATE_SOURCE)
		to.wanted = a->p->rate;
	if (to.wanted != to.rate)
		shape[0] = pl_audio_resampled(a->n_frames, to.rate, to.wanted);
	out = pl_run_out(a->r, PAIR_AUDIO, PL_F32, 2, shape);
	rate = pl_run_out(a->r, PAIR_RATE, PL_I64, 0, NULL);
	if (!out || !rate)
		return pl_run_failed(a->r);
	*rate = to.wanted;
	if (to.wanted != to.rate)
		return pl_audio_resample(out, a->frames, a->n_frames, &to, a->r->err);
	memcpy(out, a->frames, (size_t)(a->n_frames * a->channels) * sizeof(float));
	return 0;
}

static int run(struct pl_run *r)
{
	struct audio a = {.r = r, .p = r->params};
	struct bytes bytes = {.n = pl_tensor_bytes(&r->sample->value[r->in[PAIR_AUDIO]])};
	int rc;

	bytes.data = pl_run_contiguous(r, PAIR_AUDIO);
	if (!bytes.data && bytes.n > 0)
		return pl_run_failed(r);
	rc = open_file(&a, &bytes);
	if (rc == 0)
		rc = read_frames(&a);
	if (a.file)
		(void)sf_close(a.file);
	if (rc < 0)
		return rc;
	if (a.p->mono && a.channels > 1)
		mix(&a);
	return put(&a);
}

extern const struct pl_op pl_op_decode_audio;
const struct pl_op pl_op_decode_audio = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "decode_audio",
	.help = "the bytes of a sound file to f32 samples",
	.class_ = "decode",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_ONE_FIELD | PL_OP_CONSUMES,
	.takes = PL_KIND_BIT(PL_KIND_BYTES),
	.to = "audio",
	.params = params,
	.params_size = sizeof(struct decode_audio_params),
	.check = check,
	.also = also,
	.infer = infer,
	.run = run,
};
