/* daemon/ops/resample_audio.h - changes the rate of sound. */
#pragma once

#include "daemon/kit/op.h"

/* Rates that sound may have and be given, in Hz; the larger of two is at most 256 times the other.
 */
#define PL_RATE_MAX 768000

/* Frames of the result: rounded to the nearest. */
int64_t pl_audio_resampled(int64_t n_frames, int64_t rate, int64_t wanted);

/*
 * n_frames frames of `channels` interleaved values from `rate` to `wanted` into out, which has room
 * for pl_audio_resampled frames. A windowed sinc (libsamplerate's medium quality: 121 dB, 90 % of
 * the band): the same bits every time. 0 or a negative errno with err set.
 */
struct pl_audio_rates {
	int64_t channels;
	int64_t rate;
	int64_t wanted;
};
int pl_audio_resample(float *out, const float *in, int64_t n_frames,
	const struct pl_audio_rates *rates, struct pl_err *err) PL_MUST_CHECK;
