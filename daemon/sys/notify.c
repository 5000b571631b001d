/* daemon/sys/notify.c - what the service manager is told. */
#include "daemon/sys/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <time.h>

/*
 * sd_notify waits for room in the manager's queue, which our loop may not do: a status, a sign of
 * life, a farewell without room is dropped. What the manager waits for goes through sd_notify.
 */
static void send_or_drop(const char *text)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t n = name ? strlen(name) : 0;
	PL_AUTO_CLOSE int fd = -1;

	if (n < 2 || n >= sizeof(address.sun_path) || (name[0] != '@' && name[0] != '/'))
		return;
	memcpy(address.sun_path, name, n);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
}

void pl_notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void pl_notify_reloading(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld",
		(long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

void pl_notify_stopping(void)
{
	send_or_drop("STOPPING=1");
}

void pl_notify_watchdog(void)
{
	send_or_drop("WATCHDOG=1");
}

void pl_notify_status(const char *format, ...)
{
	char text[512] = "STATUS=";
	va_list args;

	va_start(args, format);
	vsnprintf(text + strlen(text), sizeof(text) - strlen(text), format, args);
	va_end(args);
	send_or_drop(text);
}

uint64_t pl_notify_watchdog_us(void)
{
	uint64_t us = 0;

	return sd_watchdog_enabled(0, &us) > 0 ? us : 0;
}

void pl_notify_forget(void)
{
	static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
		"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"};

	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++)
		unsetenv(names[i]);
}
