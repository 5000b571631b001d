/* tests/fuzz/fuzz_example.c - any bytes as an Example: what is counted is what is found. */
#include "daemon/sources/example.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_feature(const struct pl_feature *f, const uint8_t *begin, const uint8_t *end)
{
	struct pl_feature_walk w = {.lists = f->lists};
	struct pl_bytes_view bytes;
	uint64_t n = 0, n_bytes = 0;
	int64_t whole;
	float real;

	if (f->kind == PL_FEATURE_BYTES)
		for (; pl_feature_next_bytes(&w, &bytes); n++) {
			require(bytes.at >= begin && bytes.at <= bytes.end && bytes.end <= end);
			n_bytes += (uint64_t)(bytes.end - bytes.at);
		}
	else if (f->kind == PL_FEATURE_FLOATS)
		for (; pl_feature_next_float(&w, &real); n++)
			;
	else
		for (; pl_feature_next_int(&w, &whole); n++)
			;
	require(n == f->n && (f->kind != PL_FEATURE_BYTES || n_bytes == f->n_bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const name[] = {"a", "b", "f", "x", ""};
	struct pl_feature found[PL_ARRAY_LEN(name)];
	bool has_it[PL_ARRAY_LEN(name)];
	struct pl_err err = {0};
	uint8_t *bytes = malloc(size ? size : 1); /* its own memory: reads past the end are seen */

	require(bytes != NULL);
	memcpy(bytes, data, size);
	if (pl_example_parse((struct pl_bytes_view){bytes, bytes + size}, PL_ARRAY_LEN(name), name,
		    found, has_it, &err))
		require(err.text[0]);
	else
		for (size_t i = 0; i < PL_ARRAY_LEN(name); i++)
			if (has_it[i])
				check_feature(&found[i], bytes, bytes + size);
	free(bytes);
	return 0;
}
