/* daemon/check.h - what pipeloaderd does and then ends: check and draw a file, tell its steps,
 * sources and schema. */
#pragma once

#include "daemon/plan/dump.h"

struct pl_check_order {
	const char *file;
	const struct pl_setting *settings;
	int n_settings;
	enum pl_dump_format format;
};

/*
 * Both read the file in this process, print every error and warning to stderr and return the exit
 * status: 0 or 78. check also looks whether the source has a first record, where that is cheap, and
 * prints each step's fields; graph prints the plan in the format.
 */
int pl_check_run(const struct pl_check_order *order);
int pl_check_graph(const struct pl_check_order *order);
