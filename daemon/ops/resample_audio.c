/* daemon/ops/resample_audio.c - changes the rate of sound by libsamplerate. */
#include "daemon/ops/resample_audio.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>

#include <samplerate.h>

#define RATIO_MAX 256

int64_t pl_audio_resampled(int64_t n_frames, int64_t rate, int64_t wanted)
{
	return (n_frames * wanted + rate / 2) / rate;
}

/* The filter's last frames come or don't come with its rounding: what is missing is silence. */
int pl_audio_resample(float *out, const float *in, int64_t n_frames,
	const struct pl_audio_rates *rates, struct pl_err *err)
{
	int64_t n_out = pl_audio_resampled(n_frames, rates->rate, rates->wanted);
	SRC_DATA job = {
		.data_in = in,
		.data_out = out,
		.input_frames = (long)n_frames,
		.output_frames = (long)n_out,
		.src_ratio = (double)rates->wanted / (double)rates->rate,
	};
	int code;

	if (rates->wanted > rates->rate * RATIO_MAX || rates->rate > rates->wanted * RATIO_MAX)
		return pl_err_set(err, -EINVAL,
			"%" PRId64 " Hz can't become %" PRId64 " Hz: more than %d times",
			rates->rate, rates->wanted, RATIO_MAX);
	code = n_out > 0 ? src_simple(&job, SRC_SINC_MEDIUM_QUALITY, (int)rates->channels) : 0;
	if (code != 0)
		return pl_err_set(
			err, -EINVAL, "the sound can't be resampled: %s", src_strerror(code));
	memset(out + job.output_frames_gen * rates->channels, 0,
		(size_t)((n_out - job.output_frames_gen) * rates->channels) * sizeof(float));
	return 0;
}
