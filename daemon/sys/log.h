/* daemon/sys/log.h - one line an event, lower case, key=value. */
#pragma once

#include "proto/base.h"

enum pl_log_level { PL_LOG_ERROR, PL_LOG_WARNING, PL_LOG_INFO, PL_LOG_DEBUG };

enum pl_log_target {
	PL_LOG_STDERR,  /* with <N> priority prefixes when journald reads it, else a time stamp */
	PL_LOG_JOURNAL, /* sd_journal_send: a job daemon has no stderr */
	PL_LOG_FILE,    /* $PIPELOADER_LOG: appended, one write a line */
};

/* Chooses target and level from the environment once ($PIPELOADER_LOG=FILE,
 * $PIPELOADER_LOG_LEVEL=error|warning|info|debug). */
void pl_log_open(enum pl_log_target target, enum pl_log_level level);

/* "supervisor", "dispatcher photos", "worker photos/3": put before every line of this process. */
void pl_log_role(const char *format, ...) PL_PRINTF(1, 2);

/* Non-blocking and lossy: a line that can't be written at once is dropped. Control bytes in the
 * text are quoted. */
void pl_log(enum pl_log_level level, const char *format, ...) PL_PRINTF(2, 3);

/* The descriptor the log writes to (to keep it over close_range), or -1. */
int pl_log_fd(void);

/* The log's descriptor has this number now: a child renumbers what it keeps. */
void pl_log_moved(int fd);
