/* daemon/plan/bytes.c - the bytes of a pipeline file: clean text or an error. */
#include "daemon/plan/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static int read_all(int fd, char *text, size_t room, size_t *n)
{
	*n = 0;
	while (*n < room) {
		ssize_t got = read(fd, text + *n, room - *n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		*n += (size_t)got;
	}
	return -EFBIG;
}

int pl_bytes_read(const char *path, char **text, size_t *n)
{
	PL_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	PL_AUTO_FREE char *data = NULL;
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EISDIR;
	data = malloc(PL_FILE_BYTES_MAX + 1);
	if (!data)
		return -ENOMEM;
	rc = read_all(fd, data, PL_FILE_BYTES_MAX + 1, n);
	if (rc < 0)
		return rc;
	*text = PL_STEAL(data);
	return 0;
}

size_t pl_bytes_utf8(const char *text, size_t n)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t length = s[0] < 0x80             ? 1
			: (s[0] & 0xe0) == 0xc0 ? 2
			: (s[0] & 0xf0) == 0xe0 ? 3
			: (s[0] & 0xf8) == 0xf0 ? 4
						: 0;
	uint32_t c;

	if (length == 0 || length > n)
		return 0;
	if (length == 1)
		return 1;
	c = s[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return length;
}

static bool is_control(unsigned char c)
{
	return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
}

bool pl_bytes_check(struct pl_diag *diag, int file, const char *text, size_t n)
{
	struct pl_place at = {.file = file, .line = 1, .column = 1};

	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)text[i];
		size_t length = pl_bytes_utf8(text + i, n - i);

		if (length == 0)
			pl_diag_error(
				diag, at, "invalid UTF-8: byte 0x%02X (save the file as UTF-8)", c);
		else if (c == 0)
			pl_diag_error(diag, at, "a NUL byte: this is no text file");
		else if (is_control(c))
			pl_diag_error(
				diag, at, "a control character (byte 0x%02X) is not allowed", c);
		if (length == 0 || is_control(c))
			return false;
		at.column++;
		if (c == '\n') {
			at.line++;
			at.column = 1;
		}
		i += length;
	}
	return true;
}

size_t pl_bytes_of_column(const char *line, size_t n, int column)
{
	size_t at = 0;

	for (int i = 1; i < column && at < n; i++) {
		at++;
		while (at < n && ((unsigned char)line[at] & 0xc0) == 0x80)
			at++;
	}
	return at;
}

size_t pl_bytes_characters(const char *text, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}
