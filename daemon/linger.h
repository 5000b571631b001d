/* daemon/linger.h - when a job's daemon ends: some time after its last client, and never under one
 * that comes. */
#pragma once

#include "daemon/supervisor.h"

/* The time to linger: 10 s, or $PIPELOADER_LINGER_MS. */
void pl_linger_init(struct pl_supervisor *s);

/*
 * At a turn's end. While nobody is there the time runs; when it is over every running pipeline is
 * asked for a proof that no client is on the way to it; then the socket is closed such that nobody
 * who has connected is lost; then the daemon stops.
 */
void pl_linger_settle(struct pl_supervisor *s);
