/* daemon/kit/batch.h - the parameters of `batch`, which the planner and the gatherer both read. */
#pragma once

#include "daemon/kit/param.h"

struct pl_batch_params {
	int64_t size;   /* samples a batch, >= 1 */
	bool drop_last; /* leave out the short batch at the end of an epoch */
};
