/* daemon/plan/values.h - a list of scalars to one column: all integer, all float, or text. */
#pragma once

#include "daemon/kit/param.h"
#include "daemon/plan/node.h"

/* `list` holds texts only. False: memory is out. */
bool pl_values_convert(
	struct pl_pool *pool, const struct pl_node *list, struct pl_param_values *out);
