/* client/pipeloader.h - libpipeloader: borrow finished batches from a pipeloaderd. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/tensor/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * THE SHORT STORY
 *
 *	struct pl_error error;
 *	struct pl_client *client = pl_client_open("train.yaml", NULL, &error);
 *	const struct pl_batch *batch;
 *
 *	while (client && pl_client_next(client, -1, &batch, &error) == 0) {
 *		const struct pl_tensor *image = pl_batch_tensor(batch, "image");
 *		train(image->data, image->shape[0]);
 *		pl_batch_release(batch);
 *	}
 *	pl_client_close(client);
 *
 * The library makes no threads, prints nothing, keeps no globals and calls nothing back. One handle
 * belongs to one thread at a time, but batches may be released from any thread, at any time, also
 * after pl_client_close. Functions return 0, a positive condition named here, or a negative errno;
 * then *error says what happened and what to do. error may be NULL everywhere.
 */

struct pl_client;
struct pl_batch;

struct pl_error {
	int code;        /* the negative errno returned, 0 = none */
	int exit_status; /* what a command-line tool should exit with: 1 stream failed, 64 usage, 69
			    no daemon, 78 pipeline file */
	char text[16384]; /* one line, or one per error of a pipeline file; NUL-terminated */
};

/* Positive conditions. */
enum {
	PL_END = 1, /* no more batches: all epochs were handed out */
};

enum pl_client_mode {
	PL_MODE_PRIVATE = 0, /* a stream of one's own */
	PL_MODE_SPLIT,       /* rank r of world_size gets batch r of every round */
	PL_MODE_SHARE,       /* each batch to whichever member asks first */
	PL_MODE_BROADCAST,   /* every member gets every batch, prepared once */
};

/* A declared parameter of the pipeline file, set for this job. */
struct pl_client_param {
	const char *name;
	const char *value;
};

/*
 * How to open. Always start with pl_client_options_init, which sets the defaults named here; all
 * pointers are borrowed for the call.
 */
struct pl_client_options {
	size_t size;        /* sizeof(struct pl_client_options), set by init */
	const char *socket; /* NULL: a job daemon for paths; $PIPELOADER_SOCKET, else
			       /run/pipeloader/socket for names */
	const struct pl_client_param *params; /* for paths only */
	size_t n_params;
	enum pl_client_mode mode;
	const char *group;   /* NULL = "" */
	uint32_t rank;       /* split */
	uint32_t world_size; /* split */
	uint32_t members;    /* broadcast: wait for so many; 0 = don't */
	const void *token;   /* resume here: what pl_client_state gave; NULL = the beginning */
	size_t token_bytes;
	int64_t epoch;       /* without a token: start at this epoch; default 0 */
	int open_timeout_ms; /* for connecting, starting a job daemon, checking, listing; default
				60000; -1 = for ever */
	int reconnect_ms; /* after a daemon's death: keep trying so long; default 30000; 0 = report
			     -ECONNRESET */
	const char *name; /* shown in status; NULL = the process's name */
	bool wants_trace; /* receive the lines of `trace` steps: pl_client_trace */
	uint32_t credits; /* batches asked for in advance; UINT32_MAX (default) = the pipeline's
			     post_main.prefetch, at most 16 */
	void *more[8];
};

void pl_client_options_init(struct pl_client_options *options);

/*
 * Opens a pipeline. `what` is a path when it contains '/' or ends in .yaml or .yml: then the job
 * daemon of (uid, real path, params, job id) is joined, or started when there is none
 * ($PIPELOADERD, else pipeloaderd beside the library's prefix or in PATH). The job id is
 * $PIPELOADER_JOB_ID, $SLURM_JOB_ID or $TORCHELASTIC_RUN_ID, the first that is set, else the
 * session. Starting forks, without running the program's atfork handlers. Otherwise it is the name
 * of a pipeline of the machine's daemon. Blocks until the pipeline runs (checked, listed, workers
 * up) or open_timeout_ms. `options` NULL = defaults. NULL with *error set on failure: exit_status
 * tells the kind, and a pipeline file's errors come whole.
 */
struct pl_client *pl_client_open(
	const char *what, const struct pl_client_options *options, struct pl_error *error);

/*
 * Says goodbye and frees the handle; NULL is fine. Does not block longer than 1 s. Batches not yet
 * released stay valid and mapped until each is released. In a forked child of the opener it only
 * frees the child's memory.
 */
void pl_client_close(struct pl_client *client);

/*
 * The next batch of this stream. Blocks at most timeout_ms (-1: for ever; 0: only what is here).
 *
 *	0            *batch is borrowed until pl_batch_release
 *	PL_END       all epochs are done; *batch is NULL; the same again on further calls
 *	-ETIMEDOUT   nothing came in time; error->text says what the stream waits for; try again
 *	-EIO         the stream failed (a bad sample under on_error: fail, a worker that could not
 *	             live, or what else the daemon reports, with its errno): text names it; final
 *	-EPROTO      the daemon broke the protocol, or came back with another pipeline; final
 *	-ECONNRESET  the daemon is gone and reconnect_ms is over (or 0); final
 *	-ECHILD      called in a forked child of the opener
 *
 * After a final error every further call gives the same.
 */
int pl_client_next(struct pl_client *client, int timeout_ms, const struct pl_batch **batch,
	struct pl_error *error);

/*
 * A descriptor that polls readable when pl_client_next(client, 0, ...) may have something. Owned by
 * the client; it can change after a reconnect, and stays readable while the daemon is being looked
 * for. Call pl_client_next(client, 0, ...) until -ETIMEDOUT before the first poll, which asks for
 * batches, and after pl_client_describe, which keeps the batches that come before its answer.
 */
int pl_client_fd(const struct pl_client *client);

/*
 * The stream's position: just behind the batch that pl_client_next returned last. Copies at most n
 * bytes to out and returns the token's length (call with n = 0 to learn it). Opaque; valid for the
 * same plan and data whatever the number of workers.
 */
size_t pl_client_state(const struct pl_client *client, void *out, size_t n);

/*
 * Next line of a `trace` step ("label value pid"), or NULL when none is waiting. Valid until the
 * next call on this handle. Lines that were written before a batch was sent are here when
 * pl_client_next returns it. At most 65536 wait: then the oldest are dropped.
 */
const char *pl_client_trace(struct pl_client *client);

/* What a field of the pipeline's batches is. */
struct pl_field {
	const char *name;
	const char *kind; /* "image", "text", "scalar" ... */
	enum pl_dtype dtype;
	int rank;
	int64_t shape[PL_RANK_MAX]; /* of ONE sample; -1 = varies */
	bool is_batched;            /* the batch's tensor has the batch axis in front */
	bool is_ragged; /* values of all samples in one tensor, cut by offsets: pl_batch_offsets */
};

size_t pl_client_n_fields(const struct pl_client *client);
const struct pl_field *pl_client_field(
	const struct pl_client *client, size_t i); /* NULL beyond the end */

/* Facts of the open stream. classes: label i is called pl_client_class(client, i); NULL beyond the
 * end. */
const char *pl_client_pipeline(const struct pl_client *client);
const char *pl_client_class(const struct pl_client *client, uint32_t label);
uint32_t pl_client_n_classes(const struct pl_client *client);
uint64_t pl_client_batch_size(const struct pl_client *client);       /* 0 = no batch step */
int64_t pl_client_epochs(const struct pl_client *client);            /* 0 = forever */
int64_t pl_client_records(const struct pl_client *client);           /* in the listing */
int64_t pl_client_batches_per_epoch(const struct pl_client *client); /* -1 = not known in advance */
int pl_client_daemon_pid(
	const struct pl_client *client); /* for people; may be foreign across containers */
int pl_client_dispatcher_pid(const struct pl_client *client);
uint64_t pl_client_birth(const struct pl_client *client);

/*
 * A batch: read-only tensors in shared memory, valid until released. Tensors are C-contiguous
 * unless a step after `batch` rearranged them by strides. A ragged field's tensor holds the values
 * of all samples after each other; sample i is rows offsets[i] to offsets[i + 1] of it.
 */
uint64_t pl_batch_epoch(const struct pl_batch *batch);
uint64_t pl_batch_number(const struct pl_batch *batch); /* in the epoch, from 0 */
uint64_t pl_batch_size(
	const struct pl_batch *batch); /* samples; the last of an epoch may be short */
bool pl_batch_is_last(
	const struct pl_batch *batch); /* the epoch's last, where that is known in advance */
uint64_t pl_batch_bad(const struct pl_batch *batch); /* bad samples so far in this epoch */
const struct pl_tensor *pl_batch_tensor(
	const struct pl_batch *batch, const char *field); /* NULL: no such field */
const struct pl_tensor *pl_batch_tensor_at(const struct pl_batch *batch, size_t i);
const int64_t *pl_batch_offsets(
	const struct pl_batch *batch, size_t i); /* size + 1 of them; NULL: field i isn't ragged */
const uint64_t *pl_batch_indices(const struct pl_batch *batch); /* size record indices */

/*
 * Gives the batch back: its memory may be overwritten from here on. Never blocks; any thread; NULL
 * is fine; exactly once. 0, or -ESTALE when the daemon had already taken the slot back (on_slow):
 * what was read last may be torn.
 */
int pl_batch_release(const struct pl_batch *batch);

/*
 * Names of records ("n01440764/x.JPEG"), asked of the daemon: blocks up to timeout_ms. names[i]
 * receives a malloc'ed text for each of n <= 256 indices; the caller frees them.
 */
int pl_client_describe(struct pl_client *client, const uint64_t *indices, size_t n, char **names,
	int timeout_ms, struct pl_error *error);

/*
 * Asks the daemon at `what` (as in pl_client_open, but never starts one) a question: "status",
 * "graph", "reload", "errors". *answer is malloc'ed text. -ECONNREFUSED with exit_status 69 when no
 * daemon is there.
 */
int pl_ask(const char *what, const struct pl_client_options *options, const char *question,
	const char *format, char **answer, struct pl_error *error);

/* "0.1.0" */
const char *pl_version(void);

#ifdef __cplusplus
}
#endif
