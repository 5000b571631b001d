/* daemon/ops/names.c - the fields that `select` and `drop` name. */
#include "daemon/ops/names.h"

#include <errno.h>
#include <fnmatch.h>

#include "daemon/kit/registry.h"

bool pl_is_standing_field(const char *name)
{
	return !strcmp(name, "_index") || !strcmp(name, "_key") || !strcmp(name, "_source");
}

static const char *live_at(const void *context, size_t i)
{
	const struct pl_infer *io = context;

	return io->is_live[i] ? io->name[i] : NULL;
}

int pl_names_match(const struct pl_infer *io, const struct pl_param_texts *names, uint64_t *found,
	struct pl_err *err)
{
	*found = 0;
	for (int k = 0; k < names->n; k++) {
		uint64_t matching = 0;
		const char *near;

		for (int f = 0; f < io->n_fields; f++)
			if (io->is_live[f] && !fnmatch(names->v[k], io->name[f], 0))
				matching |= (uint64_t)1 << f;
		*found |= matching;
		if (matching || pl_is_standing_field(names->v[k]))
			continue;
		near = pl_nearest(names->v[k], (size_t)io->n_fields, live_at, io);
		return pl_err_set(err, -EINVAL, "no field '%s' here%s%s%s", names->v[k],
			near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
	}
	return 0;
}
