/* daemon/kit/trace.h - how a value is shown on one line of a trace. */
#pragma once

#include "proto/tensor/tensor.h"

/*
 * Writes a scalar's number ("3", "0.5", "true"), a text's bytes (u8 rank 1 of text), or "u8 [224,
 * 224, 3]" for anything else. At most n bytes with NUL; returns out.
 */
char *pl_trace_format(char *out, size_t n, const struct pl_tensor *value, bool is_text);
