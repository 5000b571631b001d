/* daemon/sys/notify.h - what the service manager is told; only the supervisor speaks to it. */
#pragma once

#include "proto/base.h"

/*
 * All of them do nothing without $NOTIFY_SOCKET, and never fail: a manager that doesn't listen is
 * no reason to stop. Messages of other processes than the main one would be ignored
 * (PITFALLS 5.12), so children unset the variable.
 */
void pl_notify_ready(void);
void pl_notify_reloading(void); /* with MONOTONIC_USEC, as Type=notify-reload wants it */
void pl_notify_stopping(void);
void pl_notify_watchdog(void);
void pl_notify_status(const char *format, ...) PL_PRINTF(1, 2);

/* Microseconds between two watchdog messages that the manager expects of this process; 0 = none. */
uint64_t pl_notify_watchdog_us(void);

/* Takes every variable of the service manager's out of the environment. For children. */
void pl_notify_forget(void);
