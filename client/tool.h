/* client/tool.h - what pipeloaderctl uses beyond the public header; never installed. */
#pragma once

#include "client/pipeloader.h"

/* The path of pipeloaderd. 0, or -ENOENT with an error that says where it was looked for. */
int pl_find_daemon(char *out, size_t n, struct pl_error *error) __attribute__((warn_unused_result));

/*
 * A descriptor that keeps the daemon at `what` (as in pl_client_open) alive until it is closed, or
 * a negative errno. Never starts a daemon, opens no stream.
 */
int pl_hold(const char *what, const struct pl_client_options *options, struct pl_error *error)
	__attribute__((warn_unused_result));
