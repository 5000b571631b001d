/* daemon/plan/settings.h - every key of a pipeline file that is neither source nor step. */
#pragma once

#include "daemon/kit/param.h"

/* Declared like the parameters of a step, so that messages, help and schema come from the same
 * tables. */
extern const struct pl_param pl_settings_top[];
extern const struct pl_param pl_settings_workers[];
extern const struct pl_param pl_settings_post[];
extern const struct pl_param pl_settings_serve[];
extern const struct pl_param pl_settings_source[]; /* beside a source's kind */

/* Keys of the top level with a shape of their own, and what they hold; ends with key NULL. */
struct pl_settings_shape {
	const char *key;
	const char *help;
};
extern const struct pl_settings_shape pl_settings_shapes[];

struct pl_top_values {
	int64_t version;
	const char *name;
	int64_t seed;
	int64_t epochs;
	int64_t memory;
	int64_t sample_max;
	bool populate;
	int64_t shard;
	int dispatch;
	int fuse;
	struct pl_param_texts roots;
};

struct pl_workers_values {
	int64_t count;
	int64_t prefetch;
	int64_t nice;
	struct pl_param_ints cpus;
	int64_t sample_timeout;
};

struct pl_post_values {
	int64_t prefetch;
};

struct pl_serve_values {
	struct pl_param_texts allow;
	int start;
	int64_t idle_timeout;
	int64_t clients;
};

struct pl_source_values {
	const char *name;
	int missing;
	double weight;
};

/* Places of the words that these settings take beside numbers (PL_PARAM_WORD). */
enum { PL_EPOCHS_FOREVER = 0 };
enum { PL_SHARD_AUTO = 0, PL_SHARD_BATCH = 1 };
enum { PL_FUSE_OFF = 0, PL_FUSE_ON = 1 };
enum { PL_COUNT_AUTO = 0, PL_COUNT_NONE = 1 };
