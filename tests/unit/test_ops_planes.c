/* tests/unit/test_ops_planes.c - planes of floats: every variant gives the bits of the plain loops.
 */
#include <criterion/criterion.h>

#include "daemon/ops/planes.h"
#include "proto/einops/kernels.h"

/* Constants that meet every case of rounding: infinities, NaN, subnormals of all types. */
static const float constants[][2] = {
	{0.01712475f, -2.117904f},
	{1.0f / 255, 0},
	{1e-7f, -1e-6f},
	{3e-41f, 1e-42f},
	{300, -20000},
	{1e37f, -1e38f},
	{__builtin_inff(), 0},
	{-__builtin_inff(), __builtin_inff()},
	{65504.0f / 255, 8},
	{1.0f / 3, 2049.0f / 4096},
};

static bool is_usable(const char *name)
{
#if defined(__x86_64__)
	if (strcmp(name, "avx2") == 0)
		return pl_kernels_avx2.is_usable();
	if (strcmp(name, "avx512") == 0)
		return pl_kernels_avx512.is_usable();
#endif
	return strcmp(name, "portable") == 0;
}

static void compare(pl_planes_fn *fn, pl_planes_fn *plain, size_t size, int channels, int64_t n)
{
	int64_t stride = n * (int64_t)size;
	size_t bytes = (size_t)(stride * channels);
	unsigned char *in = malloc((size_t)(n * channels));
	char *wanted = malloc(bytes);
	char *got = malloc(bytes);
	float a[PL_PLANES_MAX];
	float b[PL_PLANES_MAX];
	struct pl_planes p = {wanted, stride, in, n, channels, a, b};

	for (int64_t i = 0; i < n * channels; i++)
		in[i] = (unsigned char)(i * 37 + n);
	for (size_t k = 0; k < PL_ARRAY_LEN(constants); k++) {
		for (int c = 0; c < channels; c++) {
			a[c] = constants[(k + (size_t)c) % PL_ARRAY_LEN(constants)][0];
			b[c] = constants[(k + (size_t)c) % PL_ARRAY_LEN(constants)][1];
		}
		memset(got, 0x5a, bytes);
		p.out = wanted;
		plain(&p);
		p.out = got;
		fn(&p);
		cr_assert(memcmp(wanted, got, bytes) == 0, "%d channels, %d pixels, constants %zu",
			channels, (int)n, k);
	}
	free(in);
	free(wanted);
	free(got);
}

Test(ops_planes, every_variant_gives_the_same_bits)
{
	static const char *const names[] = {"portable", "avx2", "avx512"};
	const struct pl_planes_kernels *plain = pl_planes_named("portable");

	for (size_t v = 0; v < PL_ARRAY_LEN(names); v++) {
		const struct pl_planes_kernels *k = pl_planes_named(names[v]);

		if (!is_usable(names[v]))
			continue;
		for (int channels = 1; channels <= PL_PLANES_MAX; channels++)
			for (int64_t n = 0; n < 70; n++) {
				compare(k->to_f32, plain->to_f32, 4, channels, n);
				compare(k->to_f16, plain->to_f16, 2, channels, n);
				compare(k->to_bf16, plain->to_bf16, 2, channels, n);
			}
	}
}

/* The plain loops themselves: the definition, value by value. */
Test(ops_planes, plain_loops_are_the_definition)
{
	static const unsigned char in[] = {0, 10, 255, 20, 7, 30};
	const float a[] = {0.5f, 2};
	const float b[] = {1, -3};
	float out[2][3];
	uint16_t half[2][3];
	struct pl_planes p = {(char *)out, sizeof(out[0]), in, 3, 2, a, b};

	pl_planes_portable.to_f32(&p);
	p.out = (char *)half;
	p.stride = sizeof(half[0]);
	pl_planes_portable.to_f16(&p);
	for (int c = 0; c < 2; c++)
		for (int i = 0; i < 3; i++) {
			float v = (float)in[i * 2 + c] * a[c] + b[c];

			cr_expect_eq(out[c][i], v);
			cr_expect_eq(half[c][i], pl_f32_to_f16(v));
		}
}

Test(ops_planes, other_types_have_none)
{
	cr_expect_null(pl_planes_find(PL_F64));
	cr_expect_null(pl_planes_find(PL_U8));
	cr_expect_not_null(pl_planes_find(PL_F32));
	cr_expect_eq(pl_planes_named("neon"), &pl_planes_portable);
}
