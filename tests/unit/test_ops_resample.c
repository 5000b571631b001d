/* tests/unit/test_ops_resample.c - the kernels: AVX2 against portable, windows, strides, u16. */
#include "daemon/ops/resample.h"
#include "tests/unit/op_harness.h"

/* A small generator of its own, so that failures repeat. */
static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static int64_t between(uint32_t *state, int64_t low, int64_t high)
{
	return low + (int64_t)(next(state) % (uint32_t)(high - low + 1));
}

struct bench {
	struct pl_scratch scratch;
	struct pl_sample sample;
	struct pl_err err;
	struct pl_run run;
};

static void bench_begin(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	pl_scratch_init(&b->scratch, (size_t)1 << 28);
	b->sample.scratch = &b->scratch;
	b->run.sample = &b->sample;
	b->run.err = &b->err;
}

/* Sources end exactly where their last row ends, so that a read beyond is caught by
 * AddressSanitizer. */
Test(ops_resample, avx2_equals_portable)
{
	struct bench b;
	uint32_t state = 1;

	bench_begin(&b);
	for (int k = 0; k < 600; k++) {
		struct pl_resample job = {
			.src_height = between(&state, 1, 70),
			.src_width = between(&state, 1, 90),
			.dst_height = between(&state, 1, 70),
			.dst_width = between(&state, 1, 90),
			.channels = between(&state, 1, 5),
			.dtype = PL_U8,
			.filter = (enum pl_filter)between(&state, PL_FILTER_BOX, PL_FILTER_LANCZOS),
			.is_antialiased = between(&state, 0, 3) > 0,
		};
		size_t n_in = (size_t)(job.src_height * job.src_width * job.channels);
		size_t n_out = (size_t)(job.dst_height * job.dst_width * job.channels);
		unsigned char *src = malloc(n_in);
		unsigned char *fast = malloc(n_out);
		unsigned char *plain = malloc(n_out);

		for (size_t i = 0; i < n_in; i++)
			src[i] = (unsigned char)(k % 3 ? next(&state) : (next(&state) & 1) * 255);
		job.src = src;
		job.src_stride = job.src_width * job.channels;
		job.dst_stride = job.dst_width * job.channels;
		job.dst = fast;
		cr_assert(pl_resample(&b.run, &job) == 0);
		job.dst = plain;
		job.is_portable = true;
		cr_assert(pl_resample(&b.run, &job) == 0);
		cr_expect(memcmp(fast, plain, n_out) == 0, "%s %dx%d -> %dx%d, %d channels",
			pl_filter_names[job.filter], (int)job.src_width, (int)job.src_height,
			(int)job.dst_width, (int)job.dst_height, (int)job.channels);
		free(src);
		free(fast);
		free(plain);
		pl_scratch_reset(&b.scratch);
	}
	pl_scratch_finish(&b.scratch);
}

/* The largest weights there are: a shrink by thousands, where the low halves of the sums wrap
 * around. */
Test(ops_resample, a_long_row_of_white_stays_white)
{
	struct bench b;
	unsigned char *src = malloc(65500 * 3);
	unsigned char dst[2 * 3];

	bench_begin(&b);
	memset(src, 255, 65500 * 3);
	for (int filter = PL_FILTER_BOX; filter <= PL_FILTER_LANCZOS; filter++) {
		struct pl_resample job = {src, 1, 65500, 65500 * 3, dst, 1, 2, 6, 3, PL_U8,
			(enum pl_filter)filter, true, false};

		cr_assert(pl_resample(&b.run, &job) == 0);
		for (int i = 0; i < 6; i++)
			cr_expect(dst[i] >= 254, "%s: %d", pl_filter_names[filter], dst[i]);
	}
	free(src);
	pl_scratch_finish(&b.scratch);
}

/* A window gives what a copy of the window gives: nothing outside is seen. */
Test(ops_resample, a_window_is_cropped_first)
{
	struct bench b;
	unsigned char picture[40 * 50 * 3];
	unsigned char copy[20 * 17 * 3];
	unsigned char of_window[9 * 8 * 3];
	unsigned char of_copy[9 * 8 * 3];
	uint32_t state = 7;

	bench_begin(&b);
	for (size_t i = 0; i < sizeof(picture); i++)
		picture[i] = (unsigned char)next(&state);
	for (int y = 0; y < 20; y++)
		memcpy(copy + y * 17 * 3, picture + ((y + 11) * 50 + 13) * 3, 17 * 3);
	for (int filter = PL_FILTER_NEAREST; filter <= PL_FILTER_LANCZOS; filter++) {
		struct pl_resample job = {picture + (11 * 50 + 13) * 3, 20, 17, 50 * 3, of_window,
			9, 8, 8 * 3, 3, PL_U8, (enum pl_filter)filter, true, false};

		cr_assert(pl_resample(&b.run, &job) == 0);
		job.src = copy;
		job.src_stride = 17 * 3;
		job.dst = of_copy;
		cr_assert(pl_resample(&b.run, &job) == 0);
		cr_expect(memcmp(of_window, of_copy, sizeof(of_copy)) == 0);
	}
	pl_scratch_finish(&b.scratch);
}

Test(ops_resample, u16_is_rounded_and_limited)
{
	struct bench b;
	const uint16_t src[4] = {0, 0, 65535, 65535};
	uint16_t dst[8];
	struct pl_resample job = {
		src, 1, 4, 8, dst, 1, 8, 16, 1, PL_U16, PL_FILTER_BICUBIC, true, false};
	const uint16_t half[2] = {3, 4};

	bench_begin(&b);
	cr_assert(pl_resample(&b.run, &job) == 0);
	cr_expect(dst[0] == 0 && dst[7] == 65535);
	job = (struct pl_resample){
		half, 1, 2, 4, dst, 1, 1, 2, 1, PL_U16, PL_FILTER_BOX, true, false};
	cr_assert(pl_resample(&b.run, &job) == 0);
	cr_expect(dst[0] == 4, "%d", dst[0]);
	pl_scratch_finish(&b.scratch);
}

Test(ops_resample, other_dtypes_only_by_the_nearest)
{
	struct bench b;
	const int64_t src[4] = {1, 2, 3, 4};
	int64_t dst[2];
	struct pl_resample job = {
		src, 1, 4, 32, dst, 1, 2, 16, 1, PL_I64, PL_FILTER_NEAREST, true, false};

	bench_begin(&b);
	cr_assert(pl_resample(&b.run, &job) == 0);
	cr_expect(dst[0] == 2 && dst[1] == 4);
	job.filter = PL_FILTER_BOX;
	op_expect_error(&b, pl_resample(&b.run, &job), "i64 can't be resized by a filter");
	pl_scratch_finish(&b.scratch);
}

Test(ops_resample, out_of_scratch)
{
	struct bench b;
	unsigned char picture[64 * 64] = {0};
	unsigned char dst[32 * 32];
	struct pl_resample job = {
		picture, 64, 64, 64, dst, 32, 32, 32, 1, PL_U8, PL_FILTER_BILINEAR, true, false};

	bench_begin(&b);
	b.scratch.limit = 300;
	op_expect_error(&b, pl_resample(&b.run, &job), "sample");
	pl_scratch_finish(&b.scratch);
}
