/* client/error.c - what went wrong, as the caller gets it. */
#include "client/room.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int pl_error_set(struct pl_error *error, int code, int exit_status, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	error->exit_status = exit_status;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}

int pl_error_take(struct pl_error *error, int code, int exit_status, const char *text, size_t n)
{
	if (code > 0)
		code = -code;
	if (code == 0 || code < -4095)
		code = -EIO;
	while (n && text[n - 1] == '\n')
		n--;
	return pl_error_set(error, code, exit_status ? exit_status : PL_EXIT_FAILED, "%.*s",
		(int)(n > INT_MAX ? INT_MAX : n), text);
}
