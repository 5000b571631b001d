/* daemon/sources/regular.c - reads whole regular files, and nothing that could block. */
#include "daemon/sources/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* No system call moves more at once (Linux: MAX_RW_COUNT). */
#define READ_MAX 0x7ffff000u

int pl_regular_open(int dir_fd, const char *path, int *fd, uint64_t *bytes, struct pl_err *err)
{
	PL_AUTO_CLOSE int opened = -1;
	struct stat st;

	do
		opened = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	while (opened < 0 && errno == EINTR);
	if (opened < 0 || fstat(opened, &st))
		return pl_err_set(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return pl_err_set(err, -EINVAL, "it is %s, not a regular file",
			S_ISDIR(st.st_mode)    ? "a folder"
			: S_ISFIFO(st.st_mode) ? "a FIFO"
					       : "a socket or device");
	*bytes = (uint64_t)st.st_size;
	*fd = pl_steal_fd(&opened);
	return 0;
}

int pl_regular_read_at(int fd, uint64_t offset, void *to, size_t n, struct pl_err *err)
{
	size_t at = 0;

	if (n > INT64_MAX - offset)
		return pl_err_set(err, -EOVERFLOW, "no file reaches that far");
	while (at < n) {
		size_t want = n - at < READ_MAX ? n - at : READ_MAX;
		ssize_t r = pread(fd, (char *)to + at, want, (off_t)(offset + at));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return pl_err_set(err, -errno, "%s at byte %llu", strerror(errno),
				(unsigned long long)(offset + at));
		if (r == 0)
			return pl_err_set(err, -EIO,
				"it was cut to %llu of %llu bytes while it was read",
				(unsigned long long)(offset + at),
				(unsigned long long)(offset + n));
		at += (size_t)r;
	}
	return 0;
}

int pl_regular_read(int fd, void *to, size_t n, struct pl_err *err)
{
	struct stat st;
	int r = pl_regular_read_at(fd, 0, to, n, err);

	if (r)
		return r;
	if (fstat(fd, &st))
		return pl_err_set(err, -errno, "%s", strerror(errno));
	if ((uint64_t)st.st_size != n)
		return pl_err_set(err, -EIO, "it changed from %zu to %lld bytes while it was read",
			n, (long long)st.st_size);
	return 0;
}
