/* daemon/sys/zsource.h - a 0MQ socket in an sd-event loop. */
#pragma once

#include "daemon/sys/zsock.h"

#include <systemd/sd-event.h>

struct pl_zsource;

/*
 * Calls `ready` while messages are waiting; it should take a bounded number (it is called again
 * when some are left). ZMQ_FD is edge-triggered and any 0MQ call may swallow the edge, so the truth
 * is re-read before each sleep of the loop and a defer source is armed when anything is left. *out
 * is freed by pl_zsource_destroy, before the socket is closed.
 */
int pl_zsource_create(struct pl_zsource **out, sd_event *loop, struct pl_zsock *z,
	void (*ready)(void *context), void *context) PL_MUST_CHECK;
void pl_zsource_destroy(struct pl_zsource *s);
