/* daemon/plan/format.c - numbers as people write them. */
#include "daemon/plan/format.h"

#include <stdio.h>

char *pl_format_bytes(char *out, size_t n, uint64_t bytes)
{
	static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes / 1024;
	size_t i = 0;

	if (bytes >= (uint64_t)1 << 48) {
		snprintf(out, n, "over 256 TiB");
		return out;
	}
	if (bytes < 1024) {
		snprintf(out, n, "%u B", (unsigned)bytes);
		return out;
	}
	while (value >= 1024 && i + 1 < PL_ARRAY_LEN(unit)) {
		value /= 1024;
		i++;
	}
	snprintf(out, n, "%.1f %s", value, unit[i]);
	return out;
}
