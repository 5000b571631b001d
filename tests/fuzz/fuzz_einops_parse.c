/* tests/fuzz/fuzz_einops_parse.c - any bytes as a pattern of any operation. */
#include "proto/einops/einops.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_error(const struct pl_einops_error *e, size_t n)
{
	require(e->code > PL_EINOPS_OK && e->code < PL_EINOPS_CODE_END);
	require(e->column <= n && e->reason[0] && memchr(e->text, '\0', sizeof(e->text)));
	require(strchr(e->text, '^') != NULL);
}

/* Unknown lengths, then a length for each: if the whole fits, the part must have fitted. */
static void infer(const struct pl_einops_pattern *p, size_t n, const uint8_t *lengths)
{
	struct pl_tensor in = {.dtype = PL_F32, .rank = lengths[0] % 9};
	struct pl_einops_axis axis = {"a", (int8_t)lengths[1]};
	struct pl_einops_args args = {
		.inputs = &in, .n_inputs = 1, .axes = &axis, .n_axes = lengths[2] % 2};
	struct pl_tensor partly;
	struct pl_tensor wholly;
	struct pl_einops_error e;
	int r;

	for (int d = 0; d < in.rank; d++)
		in.shape[d] = lengths[3 + d] % 3 ? -1 : lengths[3 + d] % 13;
	r = pl_einops_infer(p, &args, &partly, &e);
	if (r)
		check_error(&e, n);
	for (int d = 0; d < in.rank; d++)
		in.shape[d] = in.shape[d] < 0 ? lengths[3 + d] % 13 : in.shape[d];
	if (pl_einops_infer(p, &args, &wholly, &e)) {
		check_error(&e, n);
		return;
	}
	require(r == 0 && partly.rank == wholly.rank && partly.dtype == wholly.dtype);
	for (int d = 0; d < wholly.rank; d++)
		require(wholly.shape[d] >= 0 &&
			(partly.shape[d] < 0 || partly.shape[d] == wholly.shape[d]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const reductions[] = {"sum", "max", "mean", "any"};
	struct pl_einops_pattern *p = NULL;
	struct pl_einops_error e;
	struct pl_einops_spec spec;

	if (size < 12)
		return 0;
	spec = (struct pl_einops_spec){(enum pl_einops_op)(1 + data[11] % 7),
		(const char *)data + 12, size - 12, reductions[data[11] / 7 % 4]};
	if (pl_einops_parse(&spec, &p, &e)) {
		check_error(&e, size - 12);
		return 0;
	}
	if (spec.op != PL_EINOPS_PARSE_SHAPE && spec.op != PL_EINOPS_UNPACK)
		infer(p, size - 12, data);
	pl_einops_pattern_destroy(p);
	return 0;
}
