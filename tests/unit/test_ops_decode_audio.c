/* tests/unit/test_ops_decode_audio.c - formats, parts, channels, rates and damage of
 * `decode_audio`. */
#include <math.h>
#include <sndfile.h>

#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_decode_audio;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
#define PI         3.14159265358979323846

/* A file in memory. */
struct file {
	char *data;
	sf_count_t n;
	sf_count_t at;
};

static sf_count_t file_length(void *context)
{
	return ((struct file *)context)->n;
}

static sf_count_t file_seek(sf_count_t offset, int whence, void *context)
{
	struct file *f = context;

	f->at = offset + (whence == SEEK_CUR ? f->at : whence == SEEK_END ? f->n : 0);
	return f->at;
}

static sf_count_t file_read(void *to, sf_count_t n, void *context)
{
	struct file *f = context;

	n = n < f->n - f->at ? n : f->n - f->at;
	memcpy(to, f->data + f->at, (size_t)n);
	f->at += n;
	return n;
}

static sf_count_t file_write(const void *from, sf_count_t n, void *context)
{
	struct file *f = context;

	if (f->at + n > f->n) {
		f->n = f->at + n;
		f->data = realloc(f->data, (size_t)f->n);
	}
	memcpy(f->data + f->at, from, (size_t)n);
	f->at += n;
	return n;
}

static sf_count_t file_tell(void *context)
{
	return ((struct file *)context)->at;
}

/* Channel c is a sine of 440 (c + 1) Hz and height 0.5. */
static float sine(int64_t frame, int channel, int rate)
{
	return (float)(0.5 * sin(2 * PI * 440 * (channel + 1) * (double)frame / rate));
}

static struct file encode(int format, int rate, int channels, int64_t n_frames)
{
	SF_VIRTUAL_IO io = {file_length, file_seek, file_read, file_write, file_tell};
	SF_INFO info = {.samplerate = rate, .channels = channels, .format = format};
	struct file f = {0};
	SNDFILE *out = sf_open_virtual(&io, SFM_WRITE, &info, &f);
	float *frames = malloc((size_t)(n_frames * channels + 1) * sizeof(*frames));

	cr_assert(out && frames, "%s", sf_strerror(NULL));
	for (int64_t i = 0; i < n_frames; i++)
		for (int c = 0; c < channels; c++)
			frames[i * channels + c] = sine(i, c, rate);
	cr_assert(sf_writef_float(out, frames, n_frames) == n_frames);
	sf_close(out);
	free(frames);
	return f;
}

static void begin(
	struct op_harness *h, const struct file *f, const char *start, const char *duration)
{
	op_begin(h, &pl_op_decode_audio);
	op_set(h, "start", start);
	op_set(h, "duration", duration);
	op_field(h, "data", PL_KIND_BYTES, PL_U8, 1, SHAPE(f->n), f->data);
	op_also_writes(h, "rate");
}

static int decode(struct op_harness *h)
{
	int rc = op_load(h);

	return rc < 0 ? rc : op_run(h);
}

/* The largest difference from the sines, from frame `first` of them on. */
static double difference(const struct op_harness *h, int64_t first, int rate)
{
	const struct pl_tensor *t = op_value(h, 0);
	double largest = 0;

	for (int64_t i = 0; i < t->shape[0]; i++)
		for (int64_t c = 0; c < t->shape[1]; c++) {
			double d = fabs(
				op_at(h, 0, SHAPE(i, c)) - (double)sine(first + i, (int)c, rate));

			largest = d > largest ? d : largest;
		}
	return largest;
}

Test(ops_decode_audio, formats)
{
	static const struct {
		const char *name;
		int format;
		double tolerance;
	} rows[] = {
		{"wav 16", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 2.0 / 32768},
		{"wav 24", SF_FORMAT_WAV | SF_FORMAT_PCM_24, 2.0 / 8388608},
		{"wav float", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 0},
		{"wav u8", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 2.0 / 128},
		{"flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 2.0 / 32768},
		{"aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 2.0 / 32768},
		{"vorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 0.1},
		{"mu-law", SF_FORMAT_AU | SF_FORMAT_ULAW, 0.02},
	};

	for (size_t k = 0; k < PL_ARRAY_LEN(rows); k++) {
		struct file f = encode(rows[k].format, 44100, 2, 5000);
		struct op_harness h;

		begin(&h, &f, "0", "all");
		cr_assert(decode(&h) == 0, "%s: %s", rows[k].name, h.err.text);
		cr_expect(op_type(&h, 0)->kind == PL_KIND_AUDIO);
		cr_expect(op_value(&h, 0)->shape[0] == 5000 && op_value(&h, 0)->shape[1] == 2);
		cr_expect(difference(&h, 0, 44100) <= rows[k].tolerance, "%s: %g", rows[k].name,
			difference(&h, 0, 44100));
		cr_expect(op_value(&h, 1)->rank == 0 && op_at(&h, 1, NULL) == 44100);
		op_end(&h);
		free(f.data);
	}
}

/* Written by hand: full scale is 1 / 32768. */
Test(ops_decode_audio, integers_are_divided_by_their_power_of_two)
{
	static const char wav[] = "RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e"
				  "\0\0\x02\0\x10\0data\x08\0\0\0\0\0\x01\0\xff\x7f\0\x80";
	struct file f = {(char *)(uintptr_t)wav, sizeof(wav) - 1, 0};
	struct op_harness h;

	begin(&h, &f, "0", "all");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 4 && op_at(&h, 1, NULL) == 8000);
	cr_expect(op_at(&h, 0, SHAPE(0, 0)) == 0 && op_at(&h, 0, SHAPE(1, 0)) == 1.0 / 32768);
	cr_expect(op_at(&h, 0, SHAPE(2, 0)) == 32767.0 / 32768 && op_at(&h, 0, SHAPE(3, 0)) == -1);
	op_end(&h);
}

Test(ops_decode_audio, parts)
{
	static const int formats[] = {SF_FORMAT_WAV | SF_FORMAT_PCM_24,
		SF_FORMAT_FLAC | SF_FORMAT_PCM_24, SF_FORMAT_OGG | SF_FORMAT_VORBIS};

	for (size_t k = 0; k < PL_ARRAY_LEN(formats); k++) {
		struct file f = encode(formats[k], 8000, 1, 16000);
		double tolerance = k == 2 ? 0.1 : 1e-6;
		struct op_harness h;

		begin(&h, &f, "0.5", "0.25");
		cr_assert(decode(&h) == 0, "%s", h.err.text);
		cr_expect(op_value(&h, 0)->shape[0] == 2000);
		cr_expect(
			difference(&h, 4000, 8000) <= tolerance, "%g", difference(&h, 4000, 8000));
		op_end(&h);
		begin(&h, &f, "1.5", "9");
		cr_assert(decode(&h) == 0, "%s", h.err.text);
		cr_expect(op_value(&h, 0)->shape[0] == 4000, "the file ends before");
		op_end(&h);
		begin(&h, &f, "2", "1");
		cr_assert(decode(&h) == 0, "%s", h.err.text);
		cr_expect(op_value(&h, 0)->shape[0] == 0);
		op_end(&h);
		begin(&h, &f, "2.5", "all");
		op_expect_error(&h, decode(&h),
			"start: 2.5 s lies behind the end of the sound, which lasts 2 s");
		op_end(&h);
		free(f.data);
	}
}

Test(ops_decode_audio, parts_that_fields_name)
{
	struct file f = encode(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 8000, 1, 16000);
	const double start = 0.75;
	const int32_t lasts = 1;
	const double negative = -1;
	struct op_harness h;

	begin(&h, &f, "from", "n_seconds");
	op_field(&h, "from", PL_KIND_SCALAR, PL_F64, 0, SHAPE(0), &start);
	op_also(&h);
	op_field(&h, "n_seconds", PL_KIND_SCALAR, PL_I32, 0, SHAPE(0), &lasts);
	op_also(&h);
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 8000 && difference(&h, 6000, 8000) == 0);
	h.given[2].data = (void *)(uintptr_t)&negative;
	op_expect_error(&h, op_run(&h), "start must be from 0 to 1000000, not -1");
	h.type[h.in[3]] = pl_type_bytes(PL_KIND_TEXT);
	op_expect_error(
		&h, op_load(&h), "duration: field 'n_seconds' is text u8 [?], not one number");
	op_end(&h);
	free(f.data);
}

Test(ops_decode_audio, what_also_says)
{
	struct pl_also also[PL_ALSO_MAX];
	struct file f = {.n = 0};
	struct op_harness h;

	begin(&h, &f, "from", "2");
	cr_assert(pl_op_decode_audio.check(h.params, &h.err) == 0, "%s", h.err.text);
	cr_assert(pl_op_decode_audio.also(h.params, also) == 2);
	cr_expect(strcmp(also[0].name, "rate") == 0 && also[0].use == PL_ALSO_WRITES);
	cr_expect(strcmp(also[1].name, "from") == 0 && also[1].use == PL_ALSO_READS);
	op_end(&h);
}

Test(ops_decode_audio, parameters_that_are_refused)
{
	struct file f = {.n = 0};
	struct op_harness h;

	begin(&h, &f, "-1", "all");
	op_expect_error(&h, op_load(&h), "start must be a decimal number or the name of a field");
	op_end(&h);
	begin(&h, &f, "1e3", "all");
	op_expect_error(&h, op_load(&h), "not '1e3'");
	op_end(&h);
	begin(&h, &f, "0", "1000001");
	op_expect_error(&h, op_load(&h), "duration must be from 0 to 1000000, not 1000001");
	op_end(&h);
}

Test(ops_decode_audio, mono_is_the_mean)
{
	struct file f = encode(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 8000, 3, 1000);
	struct op_harness h;

	begin(&h, &f, "0", "all");
	op_set(&h, "mono", "true");
	cr_assert(decode(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->shape[1] == 1 && op_value(&h, 0)->shape[1] == 1);
	for (int64_t i = 0; i < 1000; i++) {
		double mean = ((double)sine(i, 0, 8000) + (double)sine(i, 1, 8000) +
				      (double)sine(i, 2, 8000)) /
			      3;

		cr_expect(fabs(op_at(&h, 0, SHAPE(i, 0)) - mean) < 1e-6);
	}
	op_end(&h);
	free(f.data);
}

/* Away from the ends, where the filter sees silence, the sines are the same at the new rate. */
Test(ops_decode_audio, rates)
{
	static const int wanted[] = {16000, 48000, 44100, 11025};

	for (size_t k = 0; k < PL_ARRAY_LEN(wanted); k++) {
		struct file f = encode(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 44100, 2, 44100);
		struct op_harness h;
		char rate[32];

		(void)snprintf(rate, sizeof(rate), "%d", wanted[k]);
		begin(&h, &f, "0", "all");
		op_set(&h, "rate", rate);
		cr_assert(decode(&h) == 0, "%s", h.err.text);
		cr_expect(op_value(&h, 0)->shape[0] == wanted[k], "%d of %d frames",
			(int)op_value(&h, 0)->shape[0], wanted[k]);
		cr_expect(op_at(&h, 1, NULL) == wanted[k]);
		for (int64_t i = wanted[k] / 10; i < wanted[k] - wanted[k] / 10; i++)
			for (int c = 0; c < 2; c++)
				cr_assert(fabs(op_at(&h, 0, SHAPE(i, c)) -
						  (double)sine(i, c, wanted[k])) < 1e-4,
					"%s Hz, frame %d", rate, (int)i);
		op_end(&h);
		free(f.data);
	}
}

Test(ops_decode_audio, a_rate_that_is_too_far_away)
{
	struct file f = encode(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 44100, 1, 2);
	struct op_harness h;

	begin(&h, &f, "0", "all");
	op_set(&h, "rate", "100");
	op_expect_error(&h, decode(&h), "44100 Hz can't become 100 Hz");
	op_end(&h);
	free(f.data);
}

Test(ops_decode_audio, bytes_that_are_no_sound)
{
	struct file empty = {.n = 0};
	char hello[] = "hello, this is no sound at all";
	struct file text = {hello, sizeof(hello), 0};
	struct op_harness h;

	begin(&h, &empty, "0", "all");
	op_expect_error(&h, decode(&h), "the file is empty (0 bytes)");
	op_end(&h);
	begin(&h, &text, "0", "all");
	op_expect_error(&h, decode(&h), "not a sound file that libsndfile reads: ");
	op_end(&h);
	op_begin(&h, &pl_op_decode_audio);
	op_field(&h, "audio", PL_KIND_AUDIO, PL_F32, 2, SHAPE(2, 2), NULL);
	op_also_writes(&h, "rate");
	op_expect_error(&h, op_load(&h), "it is decoded already");
	op_end(&h);
}

/* libsndfile 1.2.0 leaves this behind when a Vorbis file's head is damaged. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:vorbis_info_init\n";
}

const char *__asan_default_options(void)
{
	return "print_suppressions=0";
}

/* Every length and every changed byte: a sound or an error, and nothing for the sanitizers to
 * say. */
Test(ops_decode_audio, cut_and_damaged)
{
	static const int formats[] = {SF_FORMAT_WAV | SF_FORMAT_PCM_16,
		SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_OGG | SF_FORMAT_VORBIS,
		SF_FORMAT_AIFF | SF_FORMAT_PCM_16};

	for (size_t k = 0; k < PL_ARRAY_LEN(formats); k++) {
		struct file f = encode(formats[k], 8000, 1, 400);

		for (sf_count_t i = 0; i < f.n; i += k == 2 ? 7 : 1) {
			char *copy = memcpy(malloc((size_t)f.n), f.data, (size_t)f.n);
			struct file cut = {copy, i, 0};
			struct file changed = {copy, f.n, 0};
			struct op_harness h;

			begin(&h, &cut, "0", "all");
			cr_expect(decode(&h) == 0 || h.err.text[0]);
			op_end(&h);
			copy[i] = (char)~copy[i];
			begin(&h, &changed, "0", "0.02");
			h.scratch.limit = (size_t)1 << 26;
			cr_expect(decode(&h) == 0 || h.err.text[0]);
			op_end(&h);
			free(copy);
		}
		free(f.data);
	}
}

Test(ops_decode_audio, a_flac_that_ends_early)
{
	struct file f = encode(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 8000, 1, 20000);
	struct op_harness h;

	f.n /= 2;
	begin(&h, &f, "0", "all");
	op_expect_error(&h, decode(&h), "sound file: ");
	op_end(&h);
	free(f.data);
}

/* STREAMINFO without a number of frames, as an encoder writes it to a pipe. */
Test(ops_decode_audio, a_flac_without_its_length)
{
	struct file f = encode(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 8000, 1, 2000);
	struct op_harness h;

	f.data[21] &= (char)0xf0;
	memset(f.data + 22, 0, 4);
	begin(&h, &f, "0", "all");
	op_expect_error(&h, decode(&h), "does not say how long it is");
	op_end(&h);
	free(f.data);
}

/* A head that promises 2^36 frames is refused before memory is taken. */
Test(ops_decode_audio, a_length_that_is_a_lie)
{
	struct file f = encode(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 8000, 1, 2000);
	struct op_harness h;

	f.data[21] |= 0x0f;
	memset(f.data + 22, 0xff, 4);
	begin(&h, &f, "0", "all");
	op_expect_error(&h, decode(&h), "bytes more");
	cr_expect(h.scratch.taken < 1 << 20);
	op_end(&h);
	free(f.data);
}
