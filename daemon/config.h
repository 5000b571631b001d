/* daemon/config.h - the daemon's own file: where its pipelines are, and its limits. */
#pragma once

#include "daemon/plan/node.h"
#include "daemon/kit/param.h"

struct pl_config {
	struct pl_pool pool; /* the texts */
	struct pl_param_texts pipelines;
	struct pl_param_texts plugins;
	const char *socket; /* NULL: the default */
	int64_t memory_max;
	int64_t probe_timeout_ns;
	int64_t list_timeout_ns;
	int log; /* enum pl_log_level */
};

/* Reads and checks the file. True, or false with every fault in `diag`. Finish frees it, also half
 * read. */
bool pl_config_read(struct pl_config *config, const char *path, struct pl_diag *diag);
void pl_config_finish(struct pl_config *config);
