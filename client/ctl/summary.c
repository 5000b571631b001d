/* client/ctl/summary.c - a batch for people: dtype, shape and span of each field. */
#include "client/ctl/ctl.h"

#include <inttypes.h>

void ctl_summary_field(
	FILE *out, const struct pl_client *client, const struct pl_batch *batch, size_t i)
{
	const struct pl_tensor *t = pl_batch_tensor_at(batch, i);
	struct ctl_span span = ctl_span(t);
	char shape[256];

	pl_shape_format(shape, sizeof(shape), t->rank, t->shape);
	fprintf(out, "%s %s %s", pl_client_field(client, i)->name, pl_dtype_name(t->dtype), shape);
	if (pl_batch_offsets(batch, i))
		fprintf(out, " ragged");
	if (span.is_empty)
		fprintf(out, " empty");
	else
		fprintf(out, " min %.6g max %.6g mean %.6g", span.min, span.max, span.mean);
}

void ctl_summary_batch(FILE *out, const struct pl_client *client, const struct pl_batch *batch)
{
	fprintf(out, "epoch %" PRIu64 " batch %" PRIu64 ": %" PRIu64 " %s", pl_batch_epoch(batch),
		pl_batch_number(batch), pl_batch_size(batch),
		pl_batch_size(batch) == 1 ? "sample" : "samples");
	for (size_t i = 0; i < pl_client_n_fields(client); i++) {
		fputs("; ", out);
		ctl_summary_field(out, client, batch, i);
	}
	putc('\n', out);
}
