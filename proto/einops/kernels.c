/* proto/einops/kernels.c - the registry of kernel variants: chosen once, published once. */
#include "proto/einops/einops.h"
#include "proto/einops/kernels.h"

#include <stdatomic.h>

/* Best first; the last one runs everywhere. */
static const struct pl_kernels *const variants[] = {
#if defined(__x86_64__)
	&pl_kernels_avx512,
	&pl_kernels_avx2,
#elif defined(__aarch64__)
	&pl_kernels_neon,
#endif
	&pl_kernels_portable,
};

static const struct pl_kernels *choose(void)
{
	const char *forced = getenv("PIPELOADER_KERNELS");
	const struct pl_kernels *best = NULL;

	for (size_t i = 0; i < PL_ARRAY_LEN(variants); i++) {
		if (!variants[i]->is_usable())
			continue;
		if (!best)
			best = variants[i];
		if (forced && strcmp(forced, variants[i]->name) == 0)
			return variants[i];
	}
	return best;
}

/*
 * The tables are const, so racing threads can only choose among complete ones; the first to publish
 * decides for all, also when the environment changed between two of them.
 */
const struct pl_kernels *pl_kernels_get(void)
{
	static const struct pl_kernels *_Atomic chosen;
	const struct pl_kernels *k = atomic_load_explicit(&chosen, memory_order_acquire);
	const struct pl_kernels *mine;

	if (k)
		return k;
	mine = choose();
	if (atomic_compare_exchange_strong_explicit(
		    &chosen, &k, mine, memory_order_acq_rel, memory_order_acquire))
		return mine;
	return k;
}

PL_EXPORT const char *pl_einops_kernels_name(void)
{
	return pl_kernels_get()->name;
}
