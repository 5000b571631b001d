/* daemon/born.h - the first steps of every child: alone, named, and with nothing but what it was
 * given. */
#pragma once

#include "daemon/supervisor.h"

/*
 * Called first thing after the fork, in the child. Dies with the supervisor from here on; has
 * descriptors 0, 1, 2, then the log's if there is one, then those of child->keep in their order,
 * and no other; no handler or blocked signal of its parent's; no service manager.
 * `ignores_signals`: a job's scheduler may warn every process of it (SIGTERM, SIGUSR1 ...), which
 * must not end this one. 0 or -errno: then the child has to exit.
 */
int pl_born(const struct pl_child *child, pid_t supervisor, bool ignores_signals) PL_MUST_CHECK;
