/* daemon/plan/settings_table.c - the declaration of every setting. */
#include "daemon/plan/settings.h"

static const char *const word_forever[] = {"forever", NULL};
static const char *const word_auto[] = {"auto", NULL};
static const char *const words_shard[] = {"auto", "batch", NULL};
static const char *const words_count[] = {"auto", "none", NULL};
static const char *const choices_dispatch[] = {"round_robin", "strict", NULL};
static const char *const choices_fuse[] = {"off", "on", NULL};
static const char *const choices_start[] = {"on_demand", "eager", NULL};
static const char *const choices_missing[] = {"error", NULL};

#define MEMBER(type, member) .offset = offsetof(struct type, member)

const struct pl_param pl_settings_top[] = {
	{
		.key = "version",
		.kind = PL_PARAM_INT,
		MEMBER(pl_top_values, version),
		.def = "1",
		.min = 1,
		.max = 1,
		.help = "version of the language",
	},
	{
		.key = "name",
		.kind = PL_PARAM_TEXT,
		MEMBER(pl_top_values, name),
		.def = "",
		.help = "what clients open it by; default: the file's name without its ending",
	},
	{
		.key = "seed",
		.kind = PL_PARAM_INT,
		MEMBER(pl_top_values, seed),
		.def = "0",
		.min = 0,
		.max = 0x1p63,
		.help = "of every random draw",
	},
	{
		.key = "epochs",
		.kind = PL_PARAM_INT,
		MEMBER(pl_top_values, epochs),
		.def = "1",
		.min = 1,
		.max = 0x1p31,
		.choices = word_forever,
		.help = "times that a stream goes through the source",
	},
	{
		.key = "memory",
		.kind = PL_PARAM_BYTES,
		MEMBER(pl_top_values, memory),
		.def = "auto",
		.min = 65536,
		.max = 0x1p46,
		.choices = word_auto,
		.help = "the whole budget of the shared memory: batches, samples under way, "
			"caches; auto: 16 "
			"batches and 64 samples, at least 64MiB, at most a quarter of what is "
			"available",
	},
	{
		.key = "sample_max",
		.kind = PL_PARAM_BYTES,
		MEMBER(pl_top_values, sample_max),
		.def = "4MiB",
		.min = 4096,
		.max = 0x1p40,
		.help = "most bytes of one sample where its size isn't known at load; a larger one "
			"is a bad sample",
	},
	{
		.key = "populate",
		.kind = PL_PARAM_BOOL,
		MEMBER(pl_top_values, populate),
		.def = "false",
		.help = "touch all of the memory at the start instead of page by page on use",
	},
	{
		.key = "shard",
		.kind = PL_PARAM_INT,
		MEMBER(pl_top_values, shard),
		.def = "auto",
		.min = 1,
		.max = 0x1p20,
		.unit = "samples",
		.choices = words_shard,
		.help = "samples that a worker gets as one message; batch: as many as a batch has",
	},
	{
		.key = "dispatch",
		.kind = PL_PARAM_CHOICE,
		MEMBER(pl_top_values, dispatch),
		.def = "round_robin",
		.choices = choices_dispatch,
		.help = "round_robin passes over a busy worker, strict waits for it; the output is "
			"the same",
	},
	{
		.key = "fuse",
		.kind = PL_PARAM_CHOICE,
		MEMBER(pl_top_values, fuse),
		.def = "on",
		.choices = choices_fuse,
		.help = "on: adjacent cast, normalize and rearrange of one field run as one pass "
			"over its data; the output is the same",
	},
	{
		.key = "roots",
		.kind = PL_PARAM_TEXTS,
		MEMBER(pl_top_values, roots),
		.def = "",
		.help = "folders that workers may read beside what the source names",
	},
	{0},
};

const struct pl_param pl_settings_workers[] = {
	{
		.key = "count",
		.kind = PL_PARAM_INT,
		MEMBER(pl_workers_values, count),
		.def = "auto",
		.min = 1,
		.max = 256,
		.unit = "processes",
		.choices = words_count,
		.help = "auto: one for each processor; none: the steps run one sample at a time, "
			"the pipeline is "
			"sequential",
	},
	{
		.key = "prefetch",
		.kind = PL_PARAM_INT,
		MEMBER(pl_workers_values, prefetch),
		.def = "2",
		.min = 0,
		.max = 1024,
		.unit = "shards",
		.help = "queued at a worker beyond the one in hand",
	},
	{
		.key = "nice",
		.kind = PL_PARAM_INT,
		MEMBER(pl_workers_values, nice),
		.def = "0",
		.min = -20,
		.max = 19,
		.help = "niceness added to the workers' own",
	},
	{
		.key = "cpus",
		.kind = PL_PARAM_INTS,
		MEMBER(pl_workers_values, cpus),
		.def = "",
		.min = 0,
		.max = 8191,
		.help = "processors that workers may run on; default: all",
	},
	{
		.key = "sample_timeout",
		.kind = PL_PARAM_DURATION,
		MEMBER(pl_workers_values, sample_timeout),
		.def = "60s",
		.min = 0,
		.max = 604800e9,
		.help = "a worker that takes longer for one sample is killed and replaced; 0: "
			"never",
	},
	{0},
};

const struct pl_param pl_settings_post[] = {
	{
		.key = "prefetch",
		.kind = PL_PARAM_INT,
		MEMBER(pl_post_values, prefetch),
		.def = "4",
		.min = 0,
		.max = 1024,
		.unit = "batches",
		.help = "finished and kept ready before a client asks",
	},
	{0},
};

const struct pl_param pl_settings_serve[] = {
	{
		.key = "allow",
		.kind = PL_PARAM_TEXTS,
		MEMBER(pl_serve_values, allow),
		.def = "",
		.help = "users and @groups that may open it, \"*\" for everybody; default: the "
			"daemon's own user and "
			"root",
	},
	{
		.key = "start",
		.kind = PL_PARAM_CHOICE,
		MEMBER(pl_serve_values, start),
		.def = "on_demand",
		.choices = choices_start,
		.help = "on_demand: with the first client; eager: with the daemon",
	},
	{
		.key = "idle_timeout",
		.kind = PL_PARAM_DURATION,
		MEMBER(pl_serve_values, idle_timeout),
		.def = "60s",
		.min = 0,
		.max = 604800e9,
		.help = "it stops when it had no client for so long; 0: never",
	},
	{
		.key = "clients",
		.kind = PL_PARAM_INT,
		MEMBER(pl_serve_values, clients),
		.def = "0",
		.min = 0,
		.max = 65536,
		.help = "most clients at a time; 0: no limit of its own",
	},
	{0},
};

const struct pl_param pl_settings_source[] = {
	{
		.key = "name",
		.kind = PL_PARAM_TEXT,
		MEMBER(pl_source_values, name),
		.def = "",
		.help = "what _source and messages call it; default: its kind",
	},
	{
		.key = "missing",
		.kind = PL_PARAM_CHOICE,
		MEMBER(pl_source_values, missing),
		.def = "error",
		.choices = choices_missing,
		.help = "what happens when there is nothing to list",
	},
	{
		.key = "weight",
		.kind = PL_PARAM_FLOAT,
		MEMBER(pl_source_values, weight),
		.def = "1",
		.min = 0,
		.max = 1e9,
		.help = "its share in a mix",
	},
	{0},
};

const struct pl_settings_shape pl_settings_shapes[] = {
	{"include", "files whose define is added"},
	{"define", "lists of steps by name, for use"},
	{"params", "names and defaults for $(name)"},
	{"source", "what is read: a source and its parameters"},
	{"pre_main", "steps in the dispatcher before the workers: what is read, in which order"},
	{"workers", "steps in parallel: read, decode, augment"},
	{"post_main",
		"steps in the dispatcher after the workers: batch, and what sees the whole stream"},
	{"on_error", "fail, {skip: count or share}, or substitute"},
	{"serve", "who may open it, when it starts and stops"},
	{NULL, NULL},
};
