/* tests/fuzz/fuzz_tar_pax.c - any bytes as a pax header: names lie inside of it, maps are sound. */
#include "daemon/sources/tar_pax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_text(struct pl_tar_text t, const char *bytes, size_t n)
{
	require(!t.text || (t.text > bytes && t.n > 0 && t.text + t.n < bytes + n));
	require(!t.text || !memchr(t.text, 0, t.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_tar_pax pax = {0};
	struct pl_err err = {0};
	char *bytes = malloc(size ? size : 1); /* its own memory: reads past the end are seen */
	int r;

	require(bytes != NULL);
	memcpy(bytes, data, size);
	r = pl_tar_pax_parse(&pax, bytes, size, &err);
	require(r == 0 || err.text[0]);
	if (r == 0) {
		check_text(pax.path, bytes, size);
		check_text(pax.link, bytes, size);
		check_text(pax.sparse_name, bytes, size);
		require(pax.bytes <= INT64_MAX && pax.real_bytes <= INT64_MAX);
		if (pl_tar_map_check(&pax.map, pax.real_bytes, pax.bytes, &err) == 0)
			for (size_t i = 0; i < pax.map.n; i++)
				require(pax.map.span[i].offset + pax.map.span[i].bytes <=
					pax.real_bytes);
	}
	pl_tar_pax_finish(&pax);
	free(bytes);
	return 0;
}
