/* client/ctl/file.c - a resume token to and from a file. */
#include "client/ctl/ctl.h"

#include <errno.h>
#include <string.h>

static bool complain(const char *path)
{
	fprintf(stderr, "pipeloaderctl: %s: %s\n", path, strerror(errno));
	return false;
}

bool ctl_file_read(const char *path, void *out, size_t room, size_t *n)
{
	FILE *in = fopen(path, "rbe");
	bool is_whole;

	if (!in)
		return complain(path);
	*n = fread(out, 1, room, in);
	is_whole = !ferror(in) && getc(in) == EOF;
	fclose(in);
	if (is_whole)
		return true;
	fprintf(stderr, "pipeloaderctl: %s: is no resume token\n", path);
	return false;
}

bool ctl_file_write(const char *path, const void *bytes, size_t n)
{
	FILE *out = fopen(path, "wbe");

	if (!out)
		return complain(path);
	if (fwrite(bytes, 1, n, out) != n) {
		fclose(out);
		return complain(path);
	}
	return fclose(out) == 0 || complain(path);
}
