/* daemon/exit.h - how a process ended, or why it doesn't, in words. */
#pragma once

#include "proto/base.h"

#include <signal.h>
#include <sys/types.h>

/* "exited with status 3", "was killed by SIGSEGV (Segmentation fault)". Returns out. */
char *pl_exit_describe(char *out, size_t n, const siginfo_t *how);

/* "state D in nfs_wait_bit_killable" from /proc; "unknown" when it says nothing. Returns out. */
char *pl_exit_where(char *out, size_t n, pid_t pid);
