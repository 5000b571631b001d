/* daemon/ops/affine_values.c - value times a plus b over many values, a and b by channel. */
#include "daemon/ops/affine_values.h"

/* The last values, and all of them when there is no faster way. */
static void rest_u8(
	const struct pl_affine *f, float *out, const unsigned char *in, int64_t from, int64_t n)
{
	int c = 0;

	for (int64_t i = from; i < n; i++) {
		out[i] = (float)in[i] * f->a[c] + f->b[c];
		c = c + 1 == f->period ? 0 : c + 1;
	}
}

static void rest_f32(
	const struct pl_affine *f, float *out, const float *in, int64_t from, int64_t n)
{
	int c = 0;

	for (int64_t i = from; i < n; i++) {
		out[i] = in[i] * f->a[c] + f->b[c];
		c = c + 1 == f->period ? 0 : c + 1;
	}
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

/* Whole periods; returns how many values are done. */
AVX2 static int64_t periods_u8(
	const struct pl_affine *f, float *out, const unsigned char *in, int64_t n)
{
	__m256 a[3];
	__m256 b[3];
	int64_t i = 0;

	for (int k = 0; k < 3; k++) {
		a[k] = _mm256_loadu_ps(f->a + 8 * k);
		b[k] = _mm256_loadu_ps(f->b + 8 * k);
	}
	for (; i + PL_AFFINE_PERIOD <= n; i += PL_AFFINE_PERIOD) {
		for (int k = 0; k < 3; k++) {
			__m128i bytes =
				_mm_loadl_epi64((const __m128i *)(const void *)(in + i + 8 * k));
			__m256 v = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));

			_mm256_storeu_ps(
				out + i + 8 * k, _mm256_add_ps(_mm256_mul_ps(v, a[k]), b[k]));
		}
	}
	return i;
}

AVX2 static int64_t periods_f32(const struct pl_affine *f, float *out, const float *in, int64_t n)
{
	__m256 a[3];
	__m256 b[3];
	int64_t i = 0;

	for (int k = 0; k < 3; k++) {
		a[k] = _mm256_loadu_ps(f->a + 8 * k);
		b[k] = _mm256_loadu_ps(f->b + 8 * k);
	}
	for (; i + PL_AFFINE_PERIOD <= n; i += PL_AFFINE_PERIOD) {
		for (int k = 0; k < 3; k++) {
			__m256 v = _mm256_loadu_ps(in + i + 8 * k);

			_mm256_storeu_ps(
				out + i + 8 * k, _mm256_add_ps(_mm256_mul_ps(v, a[k]), b[k]));
		}
	}
	return i;
}

static bool has_periods(const struct pl_affine *f)
{
	return f->period == PL_AFFINE_PERIOD && __builtin_cpu_supports("avx2");
}

#else

static int64_t periods_u8(const struct pl_affine *f, float *out, const unsigned char *in, int64_t n)
{
	return 0;
}

static int64_t periods_f32(const struct pl_affine *f, float *out, const float *in, int64_t n)
{
	return 0;
}

static bool has_periods(const struct pl_affine *f)
{
	return false;
}

#endif

void pl_affine_u8(const struct pl_affine *f, float *out, const unsigned char *in, int64_t n)
{
	rest_u8(f, out, in, has_periods(f) ? periods_u8(f, out, in, n) : 0, n);
}

void pl_affine_f32(const struct pl_affine *f, float *out, const float *in, int64_t n)
{
	rest_f32(f, out, in, has_periods(f) ? periods_f32(f, out, in, n) : 0, n);
}
