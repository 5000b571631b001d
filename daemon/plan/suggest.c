/* daemon/plan/suggest.c - the nearest valid name to one that isn't. */
#include "daemon/plan/suggest.h"

#include <stdio.h>

#include "daemon/kit/registry.h"

void pl_names_add(struct pl_names *names, const char *name)
{
	if (names->n < (int)PL_ARRAY_LEN(names->name) && !pl_names_has(names, name))
		names->name[names->n++] = name;
}

bool pl_names_has(const struct pl_names *names, const char *name)
{
	for (int i = 0; i < names->n; i++)
		if (strcmp(names->name[i], name) == 0)
			return true;
	return false;
}

const char *pl_names_nearest(const struct pl_names *names, const char *wrong)
{
	return pl_nearest_of(wrong, (size_t)names->n, names->name);
}

char *pl_names_join(const struct pl_names *names, char *out, size_t n)
{
	size_t at = 0;

	snprintf(out, n, "none");
	for (int i = 0; i < names->n && at < n; i++)
		at += (size_t)snprintf(out + at, n - at, "%s%s", i ? ", " : "", names->name[i]);
	if (at >= n && n > 4)
		memcpy(out + n - 4, "...", 4);
	return out;
}

char *pl_names_hint(const struct pl_names *names, const char *wrong, char *out, size_t n)
{
	const char *near = pl_names_nearest(names, wrong);
	char list[700];

	out[0] = '\0';
	if (near)
		snprintf(out, n, " (did you mean '%s'?)", near);
	else if (names->n > 0)
		snprintf(out, n, " (valid: %s)", pl_names_join(names, list, sizeof(list)));
	return out;
}
