/* client/find.c - where the binary pipeloaderd is. */
#include "client/room.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

/* A file that may be run: the folder of a clone has the same name. */
static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Cuts the file's name off a path. */
static void to_folder(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		slash[slash == path] = '\0';
	else
		strcpy(path, ".");
}

/* Folder of the library this code is in, or of the executable when it is linked in. */
static bool library_folder(char *out)
{
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)&pl_find_daemon, &info) || !info.dli_fname ||
		!realpath(info.dli_fname, out))
		return false;
	to_folder(out);
	return true;
}

static bool program_folder(char *out)
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);

	if (n <= 0)
		return false;
	out[n] = '\0';
	to_folder(out);
	return true;
}

/* The build tree, a prefix with lib/, one with lib/<triplet>/. */
static bool find_beside(char *out, size_t n, bool (*folder)(char *))
{
	static const char *const places[] = {"", "/../bin", "/../../bin"};
	char from[PATH_MAX];

	if (!folder(from))
		return false;
	for (size_t i = 0; i < PL_ARRAY_LEN(places); i++) {
		int r = snprintf(out, n, "%s%s/pipeloaderd", from, places[i]);

		if (r > 0 && (size_t)r < n && is_program(out))
			return true;
	}
	return false;
}

static bool find_in_path(char *out, size_t n)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t length = strcspn(at, ":");
		int r = snprintf(out, n, "%.*s/pipeloaderd", (int)length, length ? at : ".");

		if (r > 0 && (size_t)r < n && is_program(out))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

int pl_find_daemon(char *out, size_t n, struct pl_error *error)
{
	const char *given = getenv("PIPELOADERD");

	if (given && given[0]) {
		if ((size_t)snprintf(out, n, "%s", given) < n && is_program(out))
			return 0;
		return pl_error_set(error, -ENOENT, PL_EXIT_NO_DAEMON,
			"$PIPELOADERD says '%s', which can't be run", given);
	}
	if (find_beside(out, n, library_folder) || find_beside(out, n, program_folder) ||
		find_in_path(out, n))
		return 0;
	return pl_error_set(error, -ENOENT, PL_EXIT_NO_DAEMON,
		"pipeloaderd is not found: not beside this program or its library, not in ../bin "
		"from there, not in $PATH; install it or set $PIPELOADERD");
}
