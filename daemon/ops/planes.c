/* daemon/ops/planes.c - pixels of bytes to planes of floats: the choice, and the plain loops that
 * the others must equal. */
#include "daemon/ops/planes.h"

#include "proto/einops/einops.h"

#define PLANES(name, type, expression)                                                             \
	static void name(const struct pl_planes *p)                                                \
	{                                                                                          \
		for (int c = 0; c < p->channels; c++) {                                            \
			type *out = (type *)(void *)(p->out + c * p->stride);                      \
			const unsigned char *in = p->in + c;                                       \
			float a = p->a[c];                                                         \
			float b = p->b[c];                                                         \
                                                                                                   \
			for (int64_t i = 0; i < p->n; i++) {                                       \
				float v = (float)in[i * p->channels] * a + b;                      \
                                                                                                   \
				out[i] = (expression);                                             \
			}                                                                          \
		}                                                                                  \
	}

PLANES(planes_f32, float, v)
PLANES(planes_f16, uint16_t, pl_f32_to_f16(v))
PLANES(planes_bf16, uint16_t, pl_f32_to_bf16(v))

const struct pl_planes_kernels pl_planes_portable = {
	.name = "portable",
	.to_f32 = planes_f32,
	.to_f16 = planes_f16,
	.to_bf16 = planes_bf16,
};

static const struct pl_planes_kernels *const variants[] = {
#if defined(__x86_64__)
	&pl_planes_avx512,
	&pl_planes_avx2,
#endif
	&pl_planes_portable,
};

const struct pl_planes_kernels *pl_planes_named(const char *name)
{
	for (size_t i = 0; i < PL_ARRAY_LEN(variants); i++)
		if (strcmp(variants[i]->name, name) == 0)
			return variants[i];
	return &pl_planes_portable;
}

/* The registry of proto/einops knows what this CPU can, and what PIPELOADER_KERNELS forces. */
pl_planes_fn *pl_planes_find(enum pl_dtype dtype)
{
	const struct pl_planes_kernels *k = pl_planes_named(pl_einops_kernels_name());

	switch (dtype) {
	case PL_F32:
		return k->to_f32;
	case PL_F16:
		return k->to_f16;
	case PL_BF16:
		return k->to_bf16;
	default:
		return NULL;
	}
}
