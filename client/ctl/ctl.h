/* client/ctl/ctl.h - what the commands of pipeloaderctl share. */
#pragma once

#include "client/pipeloader.h"

#include <stdbool.h>
#include <stdio.h>

#define CTL_LEN(a)      (sizeof(a) / sizeof((a)[0]))
#define CTL_WORDS_MAX   64
#define CTL_OPTIONS_MAX 16
#define CTL_SET_MAX     64

/* Exit statuses. */
enum { CTL_OK = 0, CTL_FAILED = 1, CTL_USAGE = 64, CTL_NO_DAEMON = 69, CTL_CONFIG = 78 };

struct ctl_line;

struct ctl_option {
	const char *name;     /* "--batches" */
	const char *argument; /* "N"; NULL: takes none */
	const char *help;
};

struct ctl_command {
	const char *name;
	const char *words; /* "FILE|NAME" */
	const char *help;
	int words_min;
	int words_max;
	bool has_rest; /* takes a command behind "--" */
	const struct ctl_option *options;
	size_t n_options;
	int (*run)(const struct ctl_line *line);
};

extern const struct ctl_command ctl_check, ctl_graph, ctl_ops, ctl_sources, ctl_cat, ctl_bench,
	ctl_try, ctl_status, ctl_run;

/* Options that several commands have. --set may be repeated and is collected in the line. */
#define CTL_SET                                                                                    \
	{                                                                                          \
		"--set", "NAME=VALUE",                                                             \
			"a declared parameter of the pipeline file; may be repeated"               \
	}
#define CTL_SOCKET                                                                                 \
	{                                                                                          \
		"--socket", "S", "the daemon's socket: a path, or @name for an abstract one"       \
	}

struct ctl_line {
	const struct ctl_command *command;
	const char *word[CTL_WORDS_MAX];
	int n_words;
	const char *value[CTL_OPTIONS_MAX]; /* by the option's place in the table; "" for one
					       without argument */
	struct pl_client_param set[CTL_SET_MAX];
	size_t n_set;
	char **rest; /* behind "--"; NULL: none */
};

/* line.c: reads argv. 0, or CTL_USAGE after having said why. */
int ctl_line_read(struct ctl_line *line, const struct ctl_command *command, char **argv);
/* The option's argument, or NULL when it was not given. */
const char *ctl_option(const struct ctl_line *line, const char *name);
/* Its number; `standard` when it was not given. False after having said what is wrong. */
bool ctl_number(const struct ctl_line *line, const char *name, int64_t standard, int64_t *out);
/* Of n texts, `stride` bytes apart and each beginning with a pointer to its name, the one that
 * `word` was probably meant to be; or NULL. */
const char *ctl_nearest(const char *word, const void *names, size_t n, size_t stride);
int ctl_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* open.c: opens the pipeline of the line's first word with its --set, --socket. NULL after having
 * said why; *status to exit with. */
struct pl_client *ctl_open(
	const struct ctl_line *line, struct pl_client_options *options, int *status);
void ctl_options(const struct ctl_line *line, struct pl_client_options *options);
/* Says an error of the library on stderr; returns the status to exit with. */
int ctl_say(const struct pl_error *error);

/* exec.c: becomes `pipeloaderd argument...` (NULL-terminated list of at most 8, then --set of the
 * line). Only returns when that fails. */
int ctl_exec(const struct ctl_line *line, const char *const *arguments);

/* number.c: one element of a tensor as text. */
#define CTL_NUMBER_MAX 48
/* As JSON: nan and inf as strings, integers exact, floats with the fewest digits that read back the
 * same. */
int ctl_number_json(char out[CTL_NUMBER_MAX], enum pl_dtype dtype, const void *element);
double ctl_number_value(enum pl_dtype dtype, const void *element);

/* walk.c: calls visit for the first n elements in C order. */
typedef void ctl_visit(void *data, const void *element);
void ctl_walk(const struct pl_tensor *tensor, int64_t n, ctl_visit *visit, void *data);
struct ctl_span {
	double min;
	double max;
	double mean;
	bool is_empty;
};
struct ctl_span ctl_span(const struct pl_tensor *tensor);

/* json.c: one line a batch. names: of its samples, or NULL. */
void ctl_json_batch(FILE *out, const struct pl_client *client, const struct pl_batch *batch,
	int64_t n_values, char **names);
void ctl_json_text(FILE *out, const char *text, size_t n);

/* summary.c: "image f32 [64, 3, 224, 224] min 0 max 1 mean 0.5" */
void ctl_summary_field(
	FILE *out, const struct pl_client *client, const struct pl_batch *batch, size_t i);
void ctl_summary_batch(FILE *out, const struct pl_client *client, const struct pl_batch *batch);

/* npy.c: writes each field to DIR/batch-<epoch>-<number>-<field>.npy. 0, or CTL_FAILED after having
 * said why. */
int ctl_npy_batch(const char *folder, const struct pl_client *client, const struct pl_batch *batch);

/* file.c: a resume token to and from a file. False after having said why. */
bool ctl_file_read(const char *path, void *out, size_t room, size_t *n);
bool ctl_file_write(const char *path, const void *bytes, size_t n);

/* cpu.c: CPU seconds of a process and all its descendants so far. */
double ctl_cpu_seconds(int pid);

/* meter.c: how fast it goes, on stderr: a bar on a terminal, else a line every two seconds. */
/* Bad samples of a stream: batches tell how many their epoch has had so far. */
struct ctl_bad {
	uint64_t epoch;
	uint64_t in_epoch;
	uint64_t before; /* in earlier epochs */
};
void ctl_bad_count(struct ctl_bad *bad, const struct pl_batch *batch);
/* Says on stderr that there were some, and where their names are; silent when there were none. */
void ctl_bad_say(const struct ctl_bad *bad);

struct ctl_meter {
	const struct ctl_line *line;
	const struct pl_client *client;
	bool is_terminal;
	int64_t started_ms;
	int64_t shown_ms;
	int64_t asked_ms;
	uint64_t samples;
	uint64_t batches;
	uint64_t bytes;
	uint64_t shown_samples;
	uint64_t shown_bytes;
	struct ctl_bad bad;
	char bottleneck[64];
};
int64_t ctl_now_ms(void);
uint64_t ctl_batch_bytes(const struct pl_client *client, const struct pl_batch *batch);
void ctl_meter_start(
	struct ctl_meter *meter, const struct ctl_line *line, const struct pl_client *client);
void ctl_meter_count(struct ctl_meter *meter, const struct pl_batch *batch);
void ctl_meter_end(struct ctl_meter *meter);
