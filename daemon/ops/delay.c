/* daemon/ops/delay.c - sleeps, so that tests can make some workers and some samples slow. */
#include <errno.h>
#include <time.h>

#include "daemon/ops/table.h"

#define NS_PER_S 1000000000

struct delay_params {
	int64_t time;
	int64_t spread;
};

static const struct pl_param params[] = {
	{
		.key = "time",
		.kind = PL_PARAM_DURATION,
		.offset = offsetof(struct delay_params, time),
		.min = 0,
		.max = 3600e9,
		.help = "how long every sample waits at least",
		.is_obvious = true,
		.is_tuning = true,
	},
	{
		.key = "spread",
		.kind = PL_PARAM_DURATION,
		.offset = offsetof(struct delay_params, spread),
		.def = "0s",
		.min = 0,
		.max = 3600e9,
		.help = "random time on top, drawn for each sample from 0 to this",
		.is_tuning = true,
	},
	{0},
};

static int delay_run(struct pl_run *r)
{
	const struct delay_params *p = r->params;
	uint64_t ns = (uint64_t)p->time;
	struct timespec until;
	int rc;

	if (p->spread)
		ns += pl_rng_below(&r->rng, (uint64_t)p->spread + 1);
	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / NS_PER_S);
	until.tv_nsec = (long)(ns % NS_PER_S);
	do
		rc = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	while (rc == EINTR);
	return rc ? pl_err_set(r->err, -rc, "can't sleep: %s", strerror(rc)) : 0;
}

const struct pl_op pl_op_delay = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "delay",
	.help = "sleeps in the worker without changing the sample; for tests only",
	.class_ = "debug",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM | PL_OP_NO_FIELD,
	.params = params,
	.params_size = sizeof(struct delay_params),
	.run = delay_run,
};
