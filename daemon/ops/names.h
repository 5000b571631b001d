/* daemon/ops/names.h - the fields that `select` and `drop` name. */
#pragma once

#include "daemon/kit/op.h"

/* True for _index, _key and _source, which exist in every sample whatever is selected or dropped.
 */
bool pl_is_standing_field(const char *name);

/*
 * Bits of the live fields that a name or glob of `names` means. 0, or -EINVAL with err for one that
 * means none. Standing fields may be named whether the pipeline keeps them as fields or not.
 */
int pl_names_match(const struct pl_infer *io, const struct pl_param_texts *names, uint64_t *found,
	struct pl_err *err);
