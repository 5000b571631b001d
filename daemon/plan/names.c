/* daemon/plan/names.c - names of the language that this release doesn't have. */
#include "daemon/plan/names.h"

#include <stdio.h>

#define LATER "not in this release"
#define SOON  "not in this build yet"

struct later {
	const char *name;
	const char *when;
};

static const struct later steps[] = {
	{"affine", LATER},
	{"bucket", SOON},
	{"by_source", SOON},
	{"cache", SOON},
	{"compute", LATER},
	{"constant", LATER},
	{"decode_json", LATER},
	{"decode_npy", LATER},
	{"decode_text", LATER},
	{"decode_video", LATER},
	{"draw_masks", LATER},
	{"mel", LATER},
	{"one_hot", LATER},
	{"pack", SOON},
	{"pair", LATER},
	{"python", SOON},
	{"rename", LATER},
	{"sample", SOON},
	{"shuffle_buffer", SOON},
	{"slice", LATER},
	{"tokenize", LATER},
	{"trivial_augment", LATER},
};

static const struct later sources[] = {
	{"parquet", LATER},
	{"python", SOON},
	{"zip", SOON},
};

/* Parameters, as "step.key" or "source.key"; stages of a step likewise. */
static const struct later params[] = {
	{"batch.max_tokens", SOON},
	{"batch.pad", SOON},
	{"batch.pad_to_multiple", SOON},
	{"batch.when_dropped", SOON},
	{"files.paths", SOON},
	{"lookup.pre_main", SOON},
};

static const struct later settings[] = {
	{"numa", SOON},
	{"sandbox", SOON},
};

static const char *find(const struct later *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].when;
	return NULL;
}

const char *pl_names_later_step(const char *name)
{
	return find(steps, PL_ARRAY_LEN(steps), name);
}

const char *pl_names_later_param(const char *owner, const char *key)
{
	char name[128];

	snprintf(name, sizeof(name), "%s.%s", owner, key);
	return find(params, PL_ARRAY_LEN(params), name);
}

const char *pl_names_later_source(const char *name)
{
	return find(sources, PL_ARRAY_LEN(sources), name);
}

const char *pl_names_later_setting(const char *name)
{
	return find(settings, PL_ARRAY_LEN(settings), name);
}
