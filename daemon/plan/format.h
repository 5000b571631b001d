/* daemon/plan/format.h - numbers as people write them. */
#pragma once

#include "proto/base.h"

/* "588.0 KiB", "12 B". At most n bytes with NUL; returns out. */
char *pl_format_bytes(char *out, size_t n, uint64_t bytes);
