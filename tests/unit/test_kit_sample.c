/* tests/unit/test_kit_sample.c - the memory of a sample: alignment, limit, and no growth from
 * sample to sample. */
#include <criterion/criterion.h>

#include "daemon/kit/sample.h"

Test(kit_sample, aligned_and_apart)
{
	static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 65536, 70000, 1 << 20, 3};
	unsigned char *data[PL_ARRAY_LEN(sizes)];
	struct pl_scratch s;

	pl_scratch_init(&s, (size_t)1 << 30);
	for (size_t k = 0; k < PL_ARRAY_LEN(sizes); k++) {
		data[k] = pl_scratch_alloc(&s, sizes[k]);
		cr_assert(data[k]);
		cr_expect((uintptr_t)data[k] % 64 == 0);
		memset(data[k], (int)k + 1, sizes[k]);
	}
	for (size_t k = 0; k < PL_ARRAY_LEN(sizes); k++)
		for (size_t i = 0; i < sizes[k]; i++)
			cr_assert(data[k][i] == k + 1);
	pl_scratch_finish(&s);
	pl_scratch_finish(&s);
	pl_scratch_finish(NULL);
}

Test(kit_sample, the_limit_counts_what_one_sample_takes)
{
	struct pl_scratch s;

	pl_scratch_init(&s, 1000);
	cr_expect(pl_scratch_alloc(&s, 1001) == NULL);
	cr_expect(pl_scratch_alloc(&s, SIZE_MAX) == NULL);
	cr_expect(pl_scratch_alloc(&s, 600) != NULL);
	cr_expect(pl_scratch_alloc(&s, 401) == NULL);
	cr_expect(pl_scratch_alloc(&s, 400) != NULL);
	cr_expect(pl_scratch_alloc(&s, 0) != NULL);
	pl_scratch_reset(&s);
	cr_expect(pl_scratch_alloc(&s, 1000) != NULL);
	pl_scratch_finish(&s);
}

/* After a few samples of one size a single chunk holds all, and it is the same one every time. */
Test(kit_sample, settles_on_one_chunk)
{
	struct pl_scratch s;
	void *first = NULL;

	pl_scratch_init(&s, (size_t)1 << 30);
	for (int sample = 0; sample < 50; sample++) {
		void *data = pl_scratch_alloc(&s, 100000);

		cr_assert(data);
		for (int k = 0; k < 20; k++)
			cr_assert(pl_scratch_alloc(&s, 100000));
		if (sample == 10)
			first = data;
		cr_expect(sample < 10 || data == first);
		pl_scratch_reset(&s);
	}
	pl_scratch_finish(&s);
}
